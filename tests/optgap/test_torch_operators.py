"""Tests of the script that writes the operators of a torch model; skipped where torch is absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optgap
from instances.readers.dag.operators_json import read_operators
from tests.torch_python import run_with_torch

SCRIPT = Path(optgap.__file__).parent / "torch_operators.py"

MODELS = """
import sys
import torch
from torch import nn
sys.path.insert(0, sys.argv[1])
from torch_operators import write_operators

class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2))
        self.left, self.right = nn.Conv2d(16, 32, 1), nn.Conv2d(16, 32, 5, padding=2)
        self.last = nn.Linear(64 * 16 * 16, 10)

    def forward(self, x):
        x = self.first(x)
        a, b = torch.cat([self.left(x), self.right(x)], dim=1).chunk(2, dim=1)
        return self.last(torch.cat([torch.relu(a), torch.sigmoid(b)], 1).flatten(1))

mlp = nn.Sequential(nn.Linear(1000, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.GELU(), nn.Linear(4096, 10))
write_operators(mlp, (torch.randn(32, 1000),), "mlp.json")
encoder = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
write_operators(encoder, (torch.randn(4, 128, 512),), "encoder.json")
write_operators(encoder.eval(), (torch.randn(4, 128, 512),), "evaluated.json")
write_operators(Cnn(), (torch.randn(8, 3, 32, 32),), "cnn.json")
"""

IN_PLACE = """
import torch
from torch import nn

class Writes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(4, 8))

    def forward(self, x):
        x = x.clone()
        x[:, 0] = 0
        x.add_(1)
        self.cache[:, 0] = x[:, 1]
        return x * torch.tensor([1.0] * 8) + self.cache

def build():
    return Writes(), torch.randn(4, 8)

def alone():
    return Writes()

def idle():
    return nn.Identity(), (torch.randn(3),)
"""

LAYERS = {
    "mlp": (["Gemm", "Relu", "Gemm", "Gelu", "Gemm"], 2 * 32 * (1000 * 4096 + 4096 * 4096 + 4096 * 10)),
    "encoder": (
        ["Gemm", "Attention", "Gemm", "Add", "LayerNormalization", "Gemm", "Relu", "Gemm", "Add", "LayerNormalization"],
        2 * 512 * (512 * 1536 + 2 * 128 * 512 + 512 * 512 + 2 * 512 * 2048),
    ),
    "cnn": (
        [
            "Conv",
            "BatchNormalization",
            "Relu",
            "MaxPool2D",
            "Conv",
            "Conv",
            "Concat",
            "Relu",
            "Sigmoid",
            "Concat",
            "Gemm",
        ],
        2 * 8 * (32 * 32 * 16 * 27 + 256 * 32 * 16 * (1 + 25) + 64 * 256 * 10),
    ),
}
"""Operators of each model, and the FLOPs of its products, attention and convolutions by hand."""


@pytest.mark.slow
def test_models_of_torch_become_instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests kinds and FLOPs of three models by hand, and that they become instances with proven optima."""
    monkeypatch.chdir(tmp_path)
    Path("models.py").write_text(MODELS)
    run_with_torch("models.py", SCRIPT.parent)
    for name, (kinds, flops) in LAYERS.items():
        operators = json.loads(Path(f"{name}.json").read_text())["operators"]
        assert [each["kind"] for each in operators] == kinds
        counted = [each["flops"] for each in operators if each["kind"] in ("Gemm", "Attention", "Conv")]
        assert sum(counted) == flops
        instance = read_operators(f"{name}.json", cluster=optgap.parse_cluster("2xT4+1xV100-16GB"))
        result = optgap.solve(instance, "cp-sat", threads=1)
        assert (instance.num_tasks, result.gap) == (len(kinds), 0)
    assert Path("evaluated.json").read_text() == Path("encoder.json").read_text()  # the fast path counts the same


@pytest.mark.slow
def test_writes_in_place_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests who waits for whom where tensors and a buffer are written through views, and that constants are weights."""
    monkeypatch.chdir(tmp_path)
    Path("in_place.py").write_text(IN_PLACE)
    run_with_torch(SCRIPT, "in_place:build", "made.json")
    operators = json.loads(Path("made.json").read_text())["operators"]
    assert [(each["kind"], list(each["inputs"].items())) for each in operators] == [
        ("Clone", [("x", 128)]),
        ("Fill", [("clone", 16)]),
        ("Add", [("fill_", 128)]),
        ("Copy", [("add_", 16)]),
        ("Mul", [("add_", 128)]),
        ("Add", [("mul", 128), ("copy_", 128)]),
    ]
    assert [each["parameter_bytes"] for each in operators] == [0, 4, 0, 16, 32, 0]
    assert operators[1]["moved_bytes"] == 16 + 4 + 16
    assert read_operators("made.json").num_tasks == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("in_place:alone", "o.json"),
            "in_place:alone: expected a model and a tuple of example inputs, got Writes and",
        ),
        (("in_place:idle", "o.json"), "in_place:idle: expected a model that computes something, got no operators"),
        (("in_place:other", "o.json"), "in_place:other: expected a module and a function in it: "),
        (("nowhere:build", "o.json"), "nowhere:build: expected a module and a function in it: "),
        (("in_place:build", "no/o.json"), "no/o.json: No such file or directory"),
    ],
)
def test_mistakes_end_in_one_line(
    arguments: tuple[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a mistake of the user is said in the last line and not by a traceback."""
    monkeypatch.chdir(tmp_path)
    Path("in_place.py").write_text(IN_PLACE)
    with pytest.raises(AssertionError) as caught:
        run_with_torch(SCRIPT, *arguments)
    said = str(caught.value)
    assert message in said and "Traceback" not in said
