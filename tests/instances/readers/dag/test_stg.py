"""Tests of the reader of the Standard Task Graph Set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.readers.dag.measured_graph import READER_COST
from instances.readers.dag.stg import read_stg

if TYPE_CHECKING:
    from pathlib import Path


GRAPH = """4
0 0 0
1 3 1 0
2 5 1 0
3 2 2 1 2
4 7 1 2
5 0 2 3 4
# Standard Task Graph Set Project
#  Tasks : 4
"""

WITH_COSTS = """2
0 0 0
1 3 1
  0 0
2 4 2
  0 0
  1 6
3 0 1
  2 0
"""


def write(tmp_path: Path, text: str) -> Path:
    """Write a file."""
    path = tmp_path / "small.stg"
    path.write_text(text)
    return path


def test_graph_without_costs(tmp_path: Path) -> None:
    """Tests that tasks, times and edges are those of the file, on identical GPUs and without the dummies."""
    instance = read_stg(write(tmp_path, GRAPH), num_gpus=3)
    assert instance.name == "small"
    assert instance.task_names == ("1", "2", "3", "4")
    assert instance.durations.tolist() == [[3] * 3, [5] * 3, [2] * 3, [7] * 3]
    assert instance.edges.tolist() == [[0, 2], [1, 2], [1, 3]]
    assert instance.edge_bytes.tolist() == [0, 0, 0]
    assert instance.gpu_kinds == ("processor",) * 3


def test_dummies_are_kept(tmp_path: Path) -> None:
    """Tests that the dummies are tasks of time 0 where that is asked for."""
    instance = read_stg(write(tmp_path, GRAPH), keep_dummies=True)
    assert instance.task_names == ("0", "1", "2", "3", "4", "5")
    assert instance.durations[:, 0].tolist() == [0, 3, 5, 2, 7, 0]
    assert instance.edges.tolist() == [[0, 1], [0, 2], [1, 3], [2, 3], [2, 4], [3, 5], [4, 5]]


def test_communication_costs(tmp_path: Path) -> None:
    """Tests that a communication cost is the transfer delay between any two GPUs."""
    instance = read_stg(write(tmp_path, WITH_COSTS), num_gpus=2)
    assert instance.durations[:, 0].tolist() == [3, 4]
    assert instance.edges.tolist() == [[0, 1]]
    assert instance.transfer_delays(0).tolist() == [[0, 6], [6, 0]]


def test_graph_on_a_cluster(tmp_path: Path) -> None:
    """Tests that units become seconds on the reference kind, and costs become bytes over its PCIe link."""
    cluster = parse_cluster("V100-16GB+T4")
    path = write(tmp_path, WITH_COSTS)
    instance = read_stg(path, cluster=cluster, unit_seconds=1e-3, seed=3)
    assert np.allclose(instance.durations[:, 0] * instance.tick_seconds, [3e-3, 4e-3], rtol=0.01)
    assert (instance.durations[:, 1] > instance.durations[:, 0]).all()
    assert instance.edge_bytes.tolist() == [round(6e-3 * cluster.kinds[0].pcie_bandwidth)]


def test_no_tasks(tmp_path: Path) -> None:
    """Tests that a graph of two dummies only is an instance without tasks."""
    instance = read_stg(write(tmp_path, "0\n0 0 0\n1 0 1 0\n"))
    assert (instance.num_tasks, instance.num_gpus) == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected the number of tasks alone, got 0 fields."),
        ("# nothing\n", "line 1: expected the number of tasks alone, got 0 fields."),
        ("2 3\n", "line 1: expected the number of tasks alone, got 2 fields."),
        ("two\n", "line 1: expected the number of tasks, an integer in 0..2**53, got 'two'."),
        (GRAPH.replace("4 7 1 2\n", ""), "line 6: expected 6 tasks (4 and two dummies), got 5 at the end."),
        (
            GRAPH.replace("4 7 1 2", "4 7"),
            "line 6: expected task, time, number of predecessors and predecessors, got 2",
        ),
        (GRAPH.replace("4 7 1 2", "4 x 1 2"), "line 6: expected a time, an integer in 0..2**53, got 'x'."),
        (GRAPH.replace("4 7 1 2", "4 -7 1 2"), "line 6: expected a time, an integer in 0..2**53, got '-7'."),
        (GRAPH.replace("4 7 1 2", "3 7 1 2"), "line 6: expected each task once, got 3 again."),
        (GRAPH.replace("4 7 1 2", "9 7 1 2"), "line 6: expected a task in 0..5, got 9."),
        (GRAPH.replace("4 7 1 2", "4 7 1 8"), "line 6: expected a task in 0..5, got 8."),
        (GRAPH.replace("4 7 1 2", "4 7 2 2"), "line 6: expected 2 predecessors of task 4, got 1."),
        (GRAPH.replace("4 7 1 2", "4 7 2 2 2"), "line 6: expected each edge once, got 2 -> 4 again after line 6."),
        (GRAPH.replace("4 7 1 2", "4 7 1 4"), "line 6: expected two different tasks, got 4 -> 4."),
        (GRAPH.replace("1 3 1 0", "1 3 1 3"), "line 5: expected no cycle, got "),
        (GRAPH.replace("1 3 1 0", "1 3 1 5"), "line 3: expected no successors of the dummy exit 5, got 1."),
        (GRAPH.replace("0 0 0", "0 1 0"), "line 2: expected time 0 of the dummy task 0, got 1."),
        (GRAPH.replace("0 0 0", "0 0 1 1"), "line 2: expected no predecessors of the dummy entry, got 1."),
        (WITH_COSTS.replace("1 6", "1 x"), "line 7: expected a communication cost, an integer in 0..2**53, got 'x'."),
        (WITH_COSTS.replace("  1 6\n", ""), "line 7: expected a predecessor and its cost, got 3 fields."),
        (WITH_COSTS.replace("  2 0\n", ""), "line 8: expected 1 predecessors of task 3, got 0."),
        (
            WITH_COSTS.replace("  2 0\n", "  2 5\n"),
            "line 9: expected communication 0 with a dummy task, which is dropped",
        ),
    ],
)
def test_broken_file(tmp_path: Path, text: str, message: str) -> None:
    """Tests that a broken file gives one error that names the line."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_stg(write(tmp_path, text))


def test_options_out_of_range(tmp_path: Path) -> None:
    """Tests that options are checked, and a cost model is refused where there is no cluster."""
    path = write(tmp_path, GRAPH)
    with pytest.raises(ValueError, match="num_gpus: expected at least 1, got 0"):
        read_stg(path, num_gpus=0)
    with pytest.raises(ValueError, match="cost: expected none, as the tasks run on identical processors"):
        read_stg(path, cost=READER_COST)
    with pytest.raises(ValueError, match="unit_seconds: expected a positive number, got 0"):
        read_stg(path, cluster=parse_cluster("T4"), unit_seconds=0)
