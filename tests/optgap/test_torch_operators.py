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
