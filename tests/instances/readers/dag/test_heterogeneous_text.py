"""Tests of the reader of small graphs on unrelated machines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from instances.readers.dag.heterogeneous_text import read_heterogeneous_text
from instances.rounding import RoundingWarning
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path


GRAPH = """#critical
0.0
#tasks
0: 4,  6
1:  3, 8
2: 5, 2
#edges
0:  0, 1, 7
1:  0, 2,  3
#end
"""


def write(tmp_path: Path, text: str) -> Path:
    """Write a file."""
    path = tmp_path / "small.txt"
    path.write_text(text)
    return path


def test_graph(tmp_path: Path) -> None:
    """Tests that times are those of the machines and communication is the delay between them."""
    instance = read_heterogeneous_text(write(tmp_path, GRAPH))
    assert instance.durations.tolist() == [[4, 6], [3, 8], [5, 2]]
    assert instance.edges.tolist() == [[0, 1], [0, 2]]
    assert [instance.transfer_delays(edge)[0, 1] for edge in range(2)] == [7, 3]
    assert instance.transfer_delays(0)[1, 1] == 0


def test_numbers_with_a_point(tmp_path: Path) -> None:
    """Tests that whole numbers may have a point, and that a scale makes ticks of others, which tell if they round."""
    text = GRAPH.replace("3, 8", "11.00, 8.").replace("1, 7", "1, 7.0")
    assert read_heterogeneous_text(write(tmp_path, text)).durations.tolist() == [[4, 6], [11, 8], [5, 2]]
    halves = write(tmp_path, GRAPH.replace("3, 8", "22.5, 8").replace("1, 7", "1, .5"))
    instance = read_heterogeneous_text(halves, scale=2)
    assert (instance.durations.tolist(), instance.edge_bytes.tolist()) == ([[8, 12], [45, 16], [10, 4]], [1, 6])
    assert instance.tick_seconds == 0.5
    halves = write(tmp_path, GRAPH.replace("3, 8", "22.5, 8"))
    with pytest.warns(RoundingWarning, match=r"1 of 6 durations change by more than 0.1 % .*, line 5 by 2.2"):
        assert read_heterogeneous_text(halves, scale=1).durations.tolist()[1] == [22, 8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected #critical, got the end of the file."),
        ("hello\n", "line 1: expected #critical, got 'hello'."),
        (GRAPH.replace("#edges\n", ""), "line 9: expected #edges, got '#end'."),
        (GRAPH.replace("#end\n", ""), "line 10: expected #end, got the end of the file."),
        (GRAPH.replace("#critical\n0.0\n", ""), "line 1: expected #critical, got '#tasks'."),
        (GRAPH + "0: 1\n", "line 11: expected nothing, got '0: 1'."),
        (GRAPH.replace("1:  3, 8", "1:  3"), "line 5: expected 2 times, one per machine, got 1."),
        (GRAPH.replace("1:  3, 8", "1  3, 8"), "line 5: expected task: times, got '1  3, 8'."),
        (
            GRAPH.replace("1:  3, 8", "1:  3, 8.5"),
            "line 5: expected a time, an integer in 0..2**53 (scale=10 makes it one), got '8.5'.",
        ),
        (GRAPH.replace("1:  3, 8", "1:  3, -8"), "line 5: expected a time, a number of at least 0, got '-8'."),
        (GRAPH.replace("1:  3, 8", "0:  3, 8"), "line 5: expected task 1, got 0."),
        (GRAPH.replace("0: 4,  6\n1:  3, 8\n2: 5, 2\n", ""), "expected at least one task, got none."),
        (GRAPH.replace("0, 2,  3", "0, 2"), "line 9: expected from, to and communication, got 2 fields."),
        (GRAPH.replace("0, 2,  3", "0, 3,  3"), "line 9: expected tasks in 0..2, got 0 -> 3."),
        (GRAPH.replace("0, 2,  3", "0, 1,  3"), "line 9: expected each edge once, got 0 -> 1 again after line 8."),
        (GRAPH.replace("0, 2,  3", "1, 0,  3"), "line 9: expected no cycle, got 1 -> 0 -> 1."),
    ],
)
def test_broken_file(tmp_path: Path, text: str, message: str) -> None:
    """Tests that a broken file gives one error that names the line."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_heterogeneous_text(write(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "num_tasks", "num_machines", "num_edges", "best_machine"),
    [("Ilavarasan-3-10", 10, 3, 15, 127), ("Heteropar-4-12", 12, 4, 13, 161)],
)
def test_published_graphs(name: str, num_tasks: int, num_machines: int, num_edges: int, best_machine: int) -> None:
    """Tests that the published graphs have their published sizes and time on the best single machine."""
    instance = read_heterogeneous_text(real_data(f"santiago-hetero/{name}.txt"))
    assert (instance.num_tasks, instance.num_gpus, instance.num_edges) == (num_tasks, num_machines, num_edges)
    assert instance.durations.sum(axis=0).min() == best_machine
