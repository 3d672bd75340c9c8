"""Tests of the reader of Graphviz DOT files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.readers.dag.dot import MAX_DEPTH, parse_dot, read_dot

if TYPE_CHECKING:
    from pathlib import Path


DURATIONS = """digraph small {
  // two GPUs
  load [durations="4,6", memory_bytes=100];
  "conv 1" [durations="3, -", label="Conv"];
  add [durations="-,2"];
  load -> "conv 1" [bytes=7];
  load:port -> add [size="3"];
  "conv 1" -> add;
}
"""

SECONDS = """digraph {
  node [seconds=0.002]
  a; b [seconds=0.004, memory_bytes=64]
  a -> {b c} [bytes=1000]
}
"""


def write(tmp_path: Path, text: str) -> Path:
    """Write a file."""
    path = tmp_path / "small.dot"
    path.write_text(text)
    return path


def test_durations(tmp_path: Path) -> None:
    """Tests that durations, memory, edges and bytes are those of the attributes."""
    instance = read_dot(write(tmp_path, DURATIONS), latency=2, bytes_per_tick=4.0, gpu_memory_bytes=500)
    assert instance.task_names == ("load", "conv 1", "add")
    assert instance.durations.tolist() == [[4, 6], [3, -1], [-1, 2]]
    assert instance.task_memory.tolist() == [100, 0, 0]
    assert instance.gpu_memory.tolist() == [500, 500]
    assert instance.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert instance.edge_bytes.tolist() == [7, 3, 0]
    assert [instance.transfer_delays(edge)[0, 1] for edge in range(3)] == [4, 3, 0]


def test_seconds_on_a_cluster(tmp_path: Path) -> None:
    """Tests that seconds stand on the reference kind, and defaults and node sets mean what they do in Graphviz."""
    cost = CostModel(heterogeneity=0.0, tick_seconds=1e-6)
    instance = read_dot(write(tmp_path, SECONDS), cluster=parse_cluster("V100-16GB+T4"), cost=cost)
    assert instance.task_names == ("a", "b", "c")
    assert instance.durations[:, 0].tolist() == [2000, 4000, 2000]
    assert instance.edges.tolist() == [[0, 1], [0, 2]]
    assert instance.edge_bytes.tolist() == [1000, 1000]
    assert instance.task_memory.tolist() == [0, 64, 0]


def test_weight_is_another_word_for_seconds(tmp_path: Path) -> None:
    """Tests that both words give the same instance."""
    path = write(tmp_path, SECONDS)
    instance = read_dot(path)
    path.write_text(SECONDS.replace("seconds", "weight"))
    assert read_dot(path).sha256 == instance.sha256


def test_subgraphs_and_defaults() -> None:
    """Tests that defaults hold from where they stand, and those of a subgraph stay inside."""
    graph = parse_dot(
        "digraph { early; node [k=1]; subgraph cluster_x { node [k=2]; inner } outer [j=3]; edge [b=5]; "
        "inner -> outer; outer -> late [b=6] }"
    )
    assert graph.nodes == {"early": {}, "inner": {"k": "2"}, "outer": {"k": "1", "j": "3"}, "late": {"k": "1"}}
    assert graph.edges == [("inner", "outer", {"b": "5"}), ("outer", "late", {"b": "6"})]


def test_strict_graph_merges_edges() -> None:
    """Tests that a strict graph has one edge where the file has two."""
    graph = parse_dot("strict digraph { a -> b [bytes=1]; a -> b [bytes=2, k=x] }")
    assert graph.edges == [("a", "b", {"bytes": "2", "k": "x"})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected 'digraph {', got the end of the file."),
        ("\x00\x01", "line 1, column 1: expected 'digraph {', got '\\x00'."),
        (DURATIONS[:90], "line 4, column 12: expected a statement or '}', got '['."),
        (
            DURATIONS.rstrip().removesuffix("}"),
            "line 9, column 1: expected a statement or '}', got the end of the file.",
        ),
        (DURATIONS + "more", "line 10, column 1: expected the end of the file, got 'm'."),
        (DURATIONS.replace("[bytes=7]", "[[bytes=7]"), "line 6, column 20: expected a statement or '}', got '['."),
        (DURATIONS + DURATIONS, "graph: expected one graph, got 2."),
        ("digraph {}", "graph: expected at least one node, got none."),
        ("graph { a -- b }", "graph: expected a digraph, got a graph."),
        (
            "digraph {\n a [seconds=1]\n b [name=x]\n}",
            "line 3: expected no attribute called name, src or dst, got name.",
        ),
        ("digraph {\n" + "{" * 40, f"line 2: expected at most {MAX_DEPTH} subgraphs inside each other, got more."),
        (DURATIONS.replace('"4,6"', '"4"'), "node 'conv 1': expected 1 durations, one per GPU, got 2."),
        (DURATIONS.replace('"4,6"', '"4,x"'), "node 'load': expected a duration, an integer in 0..2**53, got 'x'."),
        (DURATIONS.replace('"4,6"', '"-,-"'), "node 'load': expected a duration on at least one GPU, got none."),
        (DURATIONS.replace('"4,6"', '"4,-6"'), "node 'load': expected a duration, an integer in 0..2**53, got '-6'."),
        (DURATIONS.replace("=100", "=x"), "node 'load': expected memory_bytes, an integer in 0..2**53, got 'x'."),
        (DURATIONS.replace("bytes=7", "bytes=-7"), "edge 'load' -> 'conv 1': expected bytes, a number of at least 0"),
        (
            DURATIONS.replace("bytes=7", "bytes=7,size=7"),
            "edge 'load' -> 'conv 1': expected one of bytes and size, got bytes and size.",
        ),
        (
            DURATIONS.replace("load:port", "lode"),
            "node 'lode': expected one of durations, seconds, weight, or time_attribute to name another, got no",
        ),
        (
            DURATIONS.replace('add [durations="-,2"]', "add [seconds=2]"),
            "node 'add': expected durations as on node 'load'",
        ),
        (SECONDS.replace("0.004", '"4 ms"'), "node 'b': expected seconds, a number of at least 0, got '4 ms'."),
        (
            SECONDS.replace("node [seconds", "node [wcet").replace("b [seconds", "b [wcet"),
            "node 'a': expected one of durations, seconds, weight, or time_attribute to name another, got wcet.",
        ),
        (
            SECONDS.replace("seconds", "weight").replace("bytes", "weight"),
            "edge 'a' -> 'b': expected bytes or size, or processors, with which a weight is a transfer time, got",
        ),
        (
            SECONDS.replace("b [", "b [weight=3, "),
            "node 'b': expected one of durations, seconds, weight, got seconds and",
        ),
        (SECONDS.replace("1000]\n", "1000]\n a -> b\n"), "edge 'a' -> 'b': expected each edge once, got a -> b again"),
        (SECONDS.replace("1000]\n", "1000]\n b -> a\n"), "edge 'b' -> 'a': expected no cycle, got b -> a -> b."),
        (SECONDS.replace("1000]\n", "1000]\n c -> c\n"), "edge 'c' -> 'c': expected two different tasks, got c -> c."),
    ],
)
def test_broken_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    """Tests that a broken file gives one error that names the place, and that nothing is printed."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_dot(write(tmp_path, text))
    assert capsys.readouterr() == ("", "")


LITERATURE = """digraph "Nodes_4_CCR_1" {
  0 [Weight=8];
  1 [Weight="6.0"];
  2 [WEIGHT=22.5];
  0 -> 1 [Weight=3];
  0 -> 2 [Weight=4.];
}
"""
"""What collections of the scheduling literature look like: weights with a capital, times without a unit."""


def test_identical_processors(tmp_path: Path) -> None:
    """Tests that weights are durations everywhere and transfer times between processors, in ticks of the scale."""
    instance = read_dot(write(tmp_path, LITERATURE), processors=3, scale=2)
    assert instance.durations.tolist() == [[16] * 3, [12] * 3, [45] * 3]
    assert [instance.transfer_delays(edge).tolist()[0] for edge in range(2)] == [[0, 6, 6], [0, 8, 8]]
    assert (instance.tick_seconds, set(instance.gpu_kinds)) == (0.5, {"processor"})
    whole = read_dot(write(tmp_path, LITERATURE.replace("22.5", "22")), processors=1)
    assert (whole.durations.tolist(), whole.tick_seconds) == ([[8], [6], [22]], 1.0)


def test_attributes_of_other_names(tmp_path: Path) -> None:
    """Tests that any attribute can be named, with and without processors, whatever its capitals."""
    path = write(tmp_path, "digraph { a [WCET=3]; b [wcet=4]; a -> b [Data=5, weight=1] }")
    named = {"time_attribute": "Wcet", "data_attribute": "data"}
    processors = read_dot(path, processors=2, **named)
    assert (processors.durations.tolist(), processors.edge_bytes.tolist()) == ([[3, 3], [4, 4]], [5])
    cost = CostModel(heterogeneity=0.0, tick_seconds=1e-3)
    on_cluster = read_dot(path, cluster=parse_cluster("V100-16GB"), cost=cost, **named)
    assert (on_cluster.durations.tolist(), on_cluster.edge_bytes.tolist()) == ([[3000], [4000]], [5])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processors": 2}, "node '2': expected weight, an integer in 0..2**53 (scale=10 makes it one), got '22.5'."),
        ({"processors": 0, "scale": 2}, "processors: expected at least 1, got 0."),
        ({"processors": 2, "scale": 0}, "scale: expected at least 1, got 0."),
        ({"scale": 2, "data_attribute": "weight"}, "scale: expected none without processors, got 2."),
        ({"processors": 2, "time_attribute": "wcet"}, "node '0': expected wcet, or time_attribute to name another"),
        ({"processors": 2, "cluster": parse_cluster("T4")}, "cluster: expected none, as the nodes give"),
    ],
)
def test_refused_options(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    """Tests that options that do not fit the file or each other are one error that names what would work."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_dot(write(tmp_path, LITERATURE), **options)


def test_durations_refuse_a_cluster(tmp_path: Path) -> None:
    """Tests that nobody can believe that a cluster mattered where the file names durations."""
    with pytest.raises(
        ValueError, match="cluster: expected none, as the nodes give their durations on each GPU, got 1"
    ):
        read_dot(write(tmp_path, DURATIONS), cluster=parse_cluster("T4"))
