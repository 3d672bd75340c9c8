"""Tests of instances from NetworkX graphs."""

from __future__ import annotations

import warnings

import networkx as nx
import pytest

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.conversion import dag_instance_from_networkx, dag_instance_from_seconds, dag_instance_from_work
from instances.dag.instance import DagInstance
from instances.rounding import RoundingWarning


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


@pytest.fixture(autouse=True)
def _no_warnings() -> object:
    """Turn warnings that a test does not expect into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_seconds_become_ticks() -> None:
    """Tests durations to the nearest tick, None, zero, and bandwidth in bytes per tick."""
    instance = dag_instance_from_seconds(
        [[0.002, 0.0030004], [0.0, None]],
        [(0, 1, 5000)],
        tick_seconds=1e-6,
        gb_per_second=16,
        memory_bytes=[3, 4],
        gpu_memory_bytes=[7, None],
        gpu_kinds=["A", "B"],
        gpu_servers=["x", "y"],
        task_names=["first", "second"],
    )
    assert instance.durations.tolist() == [[2000, 3000], [0, -1]]
    assert instance.bytes_per_tick[0, 1] == pytest.approx(16_000.0)
    assert instance.transfer_delays(0).tolist() == [[0, 1], [1, 0]]
    assert (instance.task_memory.tolist(), instance.gpu_memory.tolist()) == ([3, 4], [7, -1])
    assert (instance.gpu_kinds, instance.gpu_servers, instance.task_names) == (
        ("A", "B"),
        ("x", "y"),
        ("first", "second"),
    )
    assert instance.tick_seconds == 1e-6


@pytest.mark.parametrize(
    ("latency_seconds", "ticks"), [(0.0, 0), (1e-9, 1), (5e-6, 5), (5.1e-6, 6), (3 * 1e-6, 3), (6.999e-6, 7)]
)
def test_latency_is_rounded_up(latency_seconds: float, ticks: int) -> None:
    """Tests that latencies go to the next tick, and that a whole number of ticks in floating point stays."""
    instance = dag_instance_from_seconds([[1e-3, 1e-3]], tick_seconds=1e-6, latency_seconds=latency_seconds)
    assert instance.latency.tolist() == [[0, ticks], [ticks, 0]]


def test_links_may_be_matrices() -> None:
    """Tests that every link can have its own latency and bandwidth."""
    instance = dag_instance_from_seconds(
        [[1.0, 1.0]],
        tick_seconds=1e-3,
        latency_seconds=[[0.0, 0.0025], [0.001, 0.0]],
        gb_per_second=[[1.0, 2.0], [0.5, 1.0]],
    )
    assert instance.latency.tolist() == [[0, 3], [1, 0]]
    assert instance.bytes_per_tick.tolist() == [[1.0, 2e6], [5e5, 1.0]]


def test_small_change_is_silent() -> None:
    """Tests that rounding by less than 0.1 % does not warn."""
    assert dag_instance_from_seconds([[1.0009e-3 * 2]], tick_seconds=1e-6).durations.tolist() == [[2002]]


def test_larger_change_warns() -> None:
    """Tests that rounding by more than 0.1 % warns once and names the worst duration."""
    with pytest.warns(RoundingWarning, match=r"^2 of 3 durations .* tasks\[1\]\.durations\[0\] by 300 %") as caught:
        instance = dag_instance_from_seconds([[1.0, 0.0994], [0.00025, None]], tick_seconds=1e-3)
    assert len(caught) == 1
    assert instance.durations.tolist() == [[1000, 99], [1, -1]]


def test_no_tasks() -> None:
    """Tests that no tasks make an instance with one GPU."""
    instance = dag_instance_from_seconds([], tick_seconds=1.0)
    assert (instance.num_tasks, instance.num_gpus) == (0, 1)


@pytest.mark.parametrize(
    ("seconds", "tick_seconds", "message"),
    [
        ([[1.0], [1.0, 2.0]], 1.0, "tasks[1].durations: expected 1 entries, one per GPU, got 2."),
        ([[1.0], [-1.0]], 1.0, "tasks[1].durations[0]: expected 0 to 2**53 ticks, got -1 s."),
        ([[1.0]], 0.0, "tick_seconds: expected a positive number, got 0.0."),
        ([[None]], 1.0, "tasks[0].durations: expected at least one allowed GPU, got none."),
    ],
)
def test_wrong_input(seconds: list[list[float | None]], tick_seconds: float, message: str) -> None:
    """Tests that wrong times are refused with their place."""
    with pytest.raises(ValueError) as caught:
        dag_instance_from_seconds(seconds, tick_seconds=tick_seconds)
    assert str(caught.value) == message


def test_work_follows_the_roofline() -> None:
    """Tests that durations are the rooflines of the GPUs in ticks, and that memory and edges are taken over."""
    cluster = parse_cluster("1xT4,1xV100-16GB")
    kinds = cluster.kinds
    flops, moved = [4e12, 0.0], [0.0, 3e9]
    cost = CostModel(tick_seconds=1e-6, precision="fp32", efficiency=0.5, heterogeneity=0.0)
    instance = dag_instance_from_work(flops, moved, [(0, 1, 10)], cluster, cost, memory_bytes=[5, 6])
    for gpu, kind in enumerate(kinds):
        seconds = kind.roofline_seconds(flops, moved, precision="fp32", efficiency=0.5)
        assert instance.durations[:, gpu].tolist() == [round(float(value) * 1e6) for value in seconds]
    assert instance.task_memory.tolist() == [5, 6]
    assert (instance.edges.tolist(), instance.edge_bytes.tolist()) == ([[0, 1]], [10])
    assert instance.gpu_memory.tolist() == [kind.memory_bytes for kind in kinds]


def test_noise_follows_the_seed() -> None:
    """Tests that heterogeneity draws from the seed and that without it the seed changes nothing."""
    cluster = parse_cluster("1xT4,1xV100-16GB")

    def durations(seed: int, heterogeneity: float) -> list[list[int]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RoundingWarning)
            cost = CostModel(tick_seconds=1e-6, heterogeneity=heterogeneity)
            return dag_instance_from_work([1e12], [1e6], [], cluster, cost, seed=seed).durations.tolist()

    assert durations(1, 0.5) == durations(1, 0.5) != durations(2, 0.5)
    assert durations(1, 0.0) == durations(2, 0.0)
