"""Tests of our own files of operators."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.readers.dag.operators_json import read_operators

if TYPE_CHECKING:
    from pathlib import Path

BARE = CostModel(tick_seconds=1e-9, heterogeneity=0.0, precision="fp32", efficiency=1.0)

DOCUMENT: dict[str, Any] = {
    "format": "optgap/operators",
    "version": 1,
    "made_by": {"torch": "2.13.0"},
    "operators": [
        {
            "kind": "Gemm",
            "name": "fc",
            "flops": 162_000_000,
            "parameter_bytes": 3_000_000,
            "inputs": {"x": 1_000_000},
            "outputs": {"fc": 2_000_000},
        },
        {
            "kind": "Relu",
            "name": "act",
            "flops": 500_000,
            "parameter_bytes": 0,
            "inputs": {"fc": 2_000_000},
            "outputs": {"act": 2_000_000},
        },
        {
            "kind": "Attention",
            "name": "sdpa",
            "flops": 81_000_000,
            "parameter_bytes": 0,
            "inputs": {"fc": 2_000_000, "act": 2_000_000},
            "outputs": {"sdpa": 2_000_000},
            "moved_bytes": 3_000_000,
        },
    ],
}


def written(folder: Path, document: object) -> Path:
    """Write a document."""
    path = folder / "net.json"
    path.write_text(json.dumps(document))
    return path


def test_durations_by_hand(tmp_path: Path) -> None:
    """Tests rooflines on a T4 (8.1 TFLOPS, 300 GB/s), edges and memory."""
    instance = read_operators(written(tmp_path, DOCUMENT), cluster=parse_cluster("2xT4"), cost=BARE)
    assert instance.name == "net"
    assert instance.task_names == ("Gemm fc", "Relu act", "Attention sdpa")
    assert instance.durations[:, 0].tolist() == [20_000, 13_333, 10_000]  # 6 MB take as long as 162 MFLOP; 4 MB; 3 MB
    assert instance.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert instance.edge_bytes.tolist() == [2_000_000] * 3
    assert instance.task_memory.tolist() == [5_000_000, 2_000_000, 2_000_000]


def test_the_backward_pass(tmp_path: Path) -> None:
    """Tests that attention has two operands to differentiate, and a first layer its weights alone."""
    big = copy.deepcopy(DOCUMENT)
    for operator in big["operators"]:
        operator["flops"] *= 1000
    instance = read_operators(written(tmp_path, big), training=True, cluster=parse_cluster("1xT4"), cost=BARE)
    assert instance.task_names[3:] == ("Attention sdpa backward", "Relu act backward", "Gemm fc backward")
    assert instance.durations[:, 0].tolist()[::5] == [20_000_000, 20_000_000]
    assert instance.durations[3, 0] == 2 * instance.durations[2, 0]


def test_options(tmp_path: Path) -> None:
    """Tests that fusing joins the activation, and that a calibrated layer takes its measured share of the roofline."""
    path, cluster = written(tmp_path, DOCUMENT), parse_cluster("1xT4")
    assert read_operators(path, fuse=True, cluster=cluster).num_tasks == 3  # its input has another reader
    plain = read_operators(path, cluster=cluster, cost=BARE).durations[:, 0]
    calibrated = read_operators(path, calibrated=True, cluster=cluster, cost=BARE).durations[:, 0]
    assert calibrated.tolist() == [round(20_000 / 0.52), round(40_000 / 3 / 0.79), plain[2]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"flops": -1}, "operators[1].flops: expected a finite number of at least 0, got -1."),
        ({"inputs": {"sdpa": 4}}, "operators[1].inputs: expected results that stand before it, got 'sdpa'."),
        ({"inputs": {}, "outputs": {"fc": 4}}, "operators[1].outputs: expected each result once, got 'fc' again."),
        (
            {"inputs": {"fc": 2_000_001}},
            "operators[1].inputs: expected at most the 2000000 bytes of 'fc', got 2000001.",
        ),
        ({"kind": " "}, "operators[1].kind: expected what the operator computes, got an empty text."),
        ({"outputs": {}}, "operators[1].outputs: expected at least one, got none."),
        ({"flop": 3}, "operators[1].flop: expected no such key (did you mean flops?)."),
    ],
)
def test_broken_files(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """Tests that a broken file is refused in one line with its place."""
    broken = copy.deepcopy(DOCUMENT)
    broken["operators"][1] |= change
    with pytest.raises(ValueError) as caught:
        read_operators(written(tmp_path, broken))
    assert str(caught.value) == message
