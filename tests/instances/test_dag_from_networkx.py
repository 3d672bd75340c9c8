"""Tests of instances from NetworkX graphs."""

from __future__ import annotations

import networkx as nx
import pytest

from instances import DagInstance
from instances.dag_from_networkx import dag_instance_from_networkx


def test_nodes_and_edges_become_tasks() -> None:
    """Tests that tasks stand in the order of the nodes, with names, attributes and defaults."""
    graph = nx.DiGraph()
    graph.add_node("late", durations=[1, None], memory_bytes=7, job=1)
    graph.add_node(5, durations=[2, 3])
    graph.add_edge(5, "late", bytes=11)
    graph.add_node("z", durations=[0, 0])
    graph.add_edge("late", "z")
    instance = dag_instance_from_networkx(graph, name="graph", latency=2, release=[0, 4], gpu_memory=[9, None])
    same = DagInstance.from_lists(
        [[1, None], [2, 3], [0, 0]],
        [(0, 2, 0), (1, 0, 11)],
        name="graph",
        latency=2,
        release=[0, 4],
        gpu_memory=[9, None],
        task_memory=[7, 0, 0],
        job_of_task=[1, 0, 0],
        task_names=["late", "5", "z"],
    )
    assert instance.sha256 == same.sha256


def test_missing_durations() -> None:
    """Tests that a node without durations is named with what it has."""
    graph = nx.DiGraph()
    graph.add_node("a", memory_bytes=1, job=0)
    with pytest.raises(ValueError) as caught:
        dag_instance_from_networkx(graph)
    assert str(caught.value) == "node 'a': expected an attribute 'durations', got ['job', 'memory_bytes']."


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiDiGraph, nx.MultiGraph])
def test_other_graphs(kind: type) -> None:
    """Tests that undirected graphs and those with parallel edges are refused by kind."""
    with pytest.raises(TypeError, match=rf"^graph: expected a networkx\.DiGraph, got {kind.__name__}\.$"):
        dag_instance_from_networkx(kind())


def test_cycle() -> None:
    """Tests that a cycle is refused with the numbers of its tasks."""
    graph = nx.DiGraph([("a", "b"), ("b", "a")])
    nx.set_node_attributes(graph, [1], "durations")
    with pytest.raises(ValueError, match=r"^edges: expected no cycle, got 0 -> 1 -> 0\.$"):
        dag_instance_from_networkx(graph)
