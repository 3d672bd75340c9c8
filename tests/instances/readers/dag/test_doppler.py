"""Tests of the reader of DOPPLER's graphs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from instances.readers.dag.doppler import read_doppler
from solvers.solve import solve
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = "5\n0, 1, \n0, 0, 1, \n1, 2,2\n600,2400\n200, 800, squeezer\n400,1600,einsummable\n"


def write(tmp_path: Path, text: str) -> Path:
    """Write a file."""
    path = tmp_path / "small.txt"
    path.write_text(text)
    return path


def test_graph_by_hand(tmp_path: Path) -> None:
    """Tests that inputs are left out, ticks are of 200, and a transfer takes that of its source between any GPUs."""
    instance = read_doppler(write(tmp_path, GRAPH), num_gpus=3)
    assert instance.durations.tolist() == [[3] * 3, [1] * 3, [2] * 3]
    assert instance.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert [instance.transfer_delays(edge)[0, 2] for edge in range(3)] == [12, 12, 4]
    assert instance.task_names == ("0", "1-squeezer", "2-einsummable")
    assert instance.tick_seconds == pytest.approx(2e-8)
    assert (instance.gpu_memory < 0).all()
    assert solve(instance, "cp-sat", threads=1).objective == 6


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("5\n", "five\n", "line 1: expected the number of nodes, an integer in 0..2**53, got 'five'."),
        ("5\n", "6\n", "line 7: expected 4 nodes without the inputs, got 3."),
        ("1, 2,2", "1, 2", "line 4: expected 3 destinations, one per source, got 2."),
        ("1, 2,2", "1, 3,2", "line 4: expected nodes in 0..2, got 3."),
        ("1, 2,2", "1, 1,2", "lines 3 and 4, entry 2: expected each edge once, "),
        ("0, 0, 1", "0, 2, 2", "lines 3 and 4, entry 2: expected two different tasks, "),
        ("600,2400", "600", "line 5: expected compute,transfer or compute,transfer,kind, got '600'."),
        ("800", "x", "line 6: expected the time of its transfer, an integer in 0..2**53, got 'x'."),
    ],
)
def test_broken_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Tests that each fault is one error that names the line."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_doppler(write(tmp_path, GRAPH.replace(old, new, 1)))


def test_short_file_and_no_gpu(tmp_path: Path) -> None:
    """Tests that a file that ends early and a number of GPUs below 1 are refused."""
    with pytest.raises(ValueError, match=r"line 3: expected a count, inputs, sources and destinations, got the end\."):
        read_doppler(write(tmp_path, "5\n0, 1\n"))
    with pytest.raises(ValueError, match=r"num_gpus: expected at least 1, got 0\."):
        read_doppler(write(tmp_path, GRAPH), num_gpus=0)


@pytest.mark.parametrize(
    ("name", "gpus", "tasks", "edges"),
    [("chain_mm_112nodes", 4, 76, 80), ("gdp_ffnn_192nodes", 4, 180, 208), ("8gpu_transformer_block", 8, 302, 398)],
)
def test_published_graphs(name: str, gpus: int, tasks: int, edges: int) -> None:
    """Tests the sizes of the published graphs, and that every transfer takes four times its computation."""
    instance = read_doppler(real_data(f"doppler/{name}.txt"), num_gpus=gpus)
    assert (instance.num_tasks, instance.num_edges, instance.num_gpus) == (tasks, edges, gpus)
    tails = instance.edges[:, 0]
    assert (instance.edge_bytes == 4 * instance.durations[tails, 0]).all()
