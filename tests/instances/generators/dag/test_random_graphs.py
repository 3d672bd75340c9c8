"""Tests of random task graphs and their random work."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from instances.clusters.cost_model import CostModel
from instances.clusters.gpu_kinds import gpu_kind
from instances.generators.dag.generate import generate
from instances.generators.dag.random_graphs import (
    CORRELATED_SPREAD,
    FLOPS_RANGE,
    INTENSITY_RANGE,
    chains,
    edge_array,
    erdos_renyi,
    fork_join,
    layered,
    random_graph,
    series_parallel,
)


def test_chains_do_not_touch() -> None:
    """Tests that every chain is a path on tasks of its own and no chain is empty."""
    graph = chains(np.random.default_rng(1), tasks=30, chains=4)
    chain = [int(name[1:].split(".")[0]) for name in graph.task_names]
    assert sorted(set(chain)) == [0, 1, 2, 3]
    assert len(graph.task_names) == 30
    assert [edge[:2] for edge in graph.edges] == [(t - 1, t) for t in range(1, 30) if chain[t] == chain[t - 1]]
    assert len(graph.edges) == 26


def test_defaults_and_range() -> None:
    """Tests that there are about sqrt(n) chains by default and never more than tasks."""
    assert len(chains(np.random.default_rng(1), tasks=100).edges) == 90
    with pytest.raises(ValueError, match=r"chains: expected an integer in 1\.\.3, got 4\."):
        chains(np.random.default_rng(1), tasks=3, chains=4)


@pytest.mark.parametrize(("probability", "num_edges"), [(0.0, 0), (1.0, 45)])
def test_extreme_probabilities(probability: float, num_edges: int) -> None:
    """Tests that probability 0 gives no edge and 1 all forward pairs."""
    graph = erdos_renyi(np.random.default_rng(1), tasks=10, edge_probability=probability)
    assert (len(graph.task_names), len(graph.edges)) == (10, num_edges)


def test_density() -> None:
    """Tests that the share of forward pairs that are edges is the probability, and the default is three per task."""
    graph = erdos_renyi(np.random.default_rng(1), tasks=300, edge_probability=0.2)
    assert len(graph.edges) / (300 * 299 / 2) == pytest.approx(0.2, rel=0.03)
    assert all(tail < head for tail, head, _ in graph.edges)
    assert len(erdos_renyi(np.random.default_rng(1), tasks=1000).edges) == pytest.approx(3000, rel=0.06)


def test_probability_out_of_range() -> None:
    """Tests that a probability above 1 is refused."""
    with pytest.raises(ValueError, match=r"edge_probability: expected a number in 0\.\.1, got 1\.5\."):
        erdos_renyi(np.random.default_rng(1), tasks=10, edge_probability=1.5)


def test_two_phases_by_hand() -> None:
    """Tests names and edges of two phases of two parallel tasks."""
    graph = fork_join(np.random.default_rng(1), tasks=1, width=2, phases=2)
    assert list(graph.task_names) == ["S0", "P0.0", "P0.1", "S1", "P1.0", "P1.1", "S2"]
    ends = {edge[:2] for edge in graph.edges}
    assert ends == {(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)}


def test_nearest_size() -> None:
    """Tests that the number of phases comes as near as it can for the given width."""
    sizes = [len(fork_join(np.random.default_rng(1), tasks=tasks, width=4).task_names) for tasks in (1, 6, 8, 9, 101)]
    assert sizes == [6, 6, 6, 11, 101]


@pytest.mark.parametrize(("tasks", "layers"), [(1, 1), (17, 17), (50, 1), (60, 6), (400, None)])
def test_sizes_and_layers(tasks: int, layers: int | None) -> None:
    """Tests that the number of tasks is exact, no layer is empty, and the longest chain has one task per layer."""
    graph = layered(np.random.default_rng(1), tasks=tasks, layers=layers)
    assert len(graph.task_names) == len(graph.flops) == len(graph.memory_bytes) == tasks
    layer = [int(name[1:].split(".")[0]) for name in graph.task_names]
    expected = layers or 20
    assert sorted(set(layer)) == list(range(expected))
    depth = [0] * tasks
    for tail, head, _ in sorted(graph.edges, key=lambda edge: edge[1]):
        assert layer[tail] == layer[head] - 1
        depth[head] = max(depth[head], depth[tail] + 1)
    assert depth == layer


def test_in_degree_and_jump() -> None:
    """Tests that the mean number of predecessors is as wished and that they come from as far back as allowed."""
    graph = layered(np.random.default_rng(2), tasks=2000, layers=20, in_degree=4.0, jump=3)
    layer = [int(name[1:].split(".")[0]) for name in graph.task_names]
    beyond_first = sum(1 for value in layer if value > 0)
    assert len(graph.edges) / beyond_first == pytest.approx(4.0, rel=0.05)
    assert {layer[head] - layer[tail] for tail, head, _ in graph.edges} == {1, 2, 3}
    assert len({edge[:2] for edge in graph.edges}) == len(graph.edges)


def test_a_chain_at_one_task_per_layer() -> None:
    """Tests that as many layers as tasks give a chain."""
    graph = layered(np.random.default_rng(3), tasks=5, layers=5)
    assert [edge[:2] for edge in graph.edges] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_more_layers_than_tasks() -> None:
    """Tests that more layers than tasks are refused."""
    with pytest.raises(ValueError, match=r"layers: expected an integer in 1\.\.5, got 6\."):
        layered(np.random.default_rng(1), tasks=5, layers=6)


def test_ranges_and_edges() -> None:
    """Tests that sizes and intensities keep to their ranges and every edge carries the output of its tail."""
    names = [f"t{task}" for task in range(500)]
    graph = random_graph("g", names, edge_array([(0, 1), (0, 2), (1, 2)]), np.random.default_rng(1))
    flops, moved = np.array(graph.flops), np.array(graph.moved_bytes)
    assert FLOPS_RANGE[0] <= flops.min() < 1.1 * FLOPS_RANGE[0]
    assert 0.9 * FLOPS_RANGE[1] < flops.max() <= FLOPS_RANGE[1]
    assert np.exp(np.log(flops / moved).mean()) == pytest.approx(np.sqrt(np.prod(INTENSITY_RANGE)), rel=0.15)
    (_, _, first), (_, _, second), (_, _, third) = graph.edges
    assert first == second != third
    assert first <= graph.memory_bytes[0] <= 2 * first
    assert 0.01 * moved[0] <= first <= 0.04 * moved[0] + 1


def test_kinds_rank_differently_from_task_to_task() -> None:
    """Tests that T4 beats P100 on a fair share of random tasks and loses on a fair share."""
    graph = random_graph("g", ["t"] * 1000, edge_array([]), np.random.default_rng(1))
    t4, p100 = (
        gpu_kind(name).roofline_seconds(np.array(graph.flops), np.array(graph.moved_bytes), precision="fp16")
        for name in ("T4", "P100")
    )
    assert 0.3 < (t4 < p100).mean() < 0.7


def reduces_to_one_edge(num_tasks: int, edges: list[tuple[int, int]]) -> bool:
    """Say whether series and parallel reductions (Valdes, Tarjan, Lawler) leave one edge from first to last task."""
    links = set(edges)  # parallel reduction is what a set does
    while True:
        into, out_of = Counter(head for _, head in links), Counter(tail for tail, _ in links)
        inner = next((t for t in range(num_tasks) if into[t] == 1 and out_of[t] == 1), None)
        if inner is None:
            return links == {(0, num_tasks - 1)}
        before = next(edge for edge in links if edge[1] == inner)
        after = next(edge for edge in links if edge[0] == inner)
        links = (links - {before, after}) | {(before[0], after[1])}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tasks", [2, 3, 4, 5, 40, 101])
def test_it_is_series_parallel(tasks: int, seed: int) -> None:
    """Tests that the graph has the exact size and that series and parallel reductions leave a single edge."""
    graph = series_parallel(np.random.default_rng(seed), tasks=tasks)
    assert len(graph.task_names) == tasks
    assert reduces_to_one_edge(tasks, [(tail, head) for tail, head, _ in graph.edges])


def test_extreme_probabilities_series_parallel() -> None:
    """Tests that probability 0 gives a chain and 1 with two branches a source with two successors."""
    chain = series_parallel(np.random.default_rng(1), tasks=30, parallel_probability=0.0)
    assert [edge[:2] for edge in chain.edges] == [(task, task + 1) for task in range(29)]
    block = series_parallel(np.random.default_rng(1), tasks=30, parallel_probability=1.0, max_branches=2)
    assert sum(tail == 0 for tail, _, _ in block.edges) == sum(head == 29 for _, head, _ in block.edges) == 2


def test_one_task() -> None:
    """Tests that one task has no edge."""
    graph = series_parallel(np.random.default_rng(1), tasks=1)
    assert (list(graph.task_names), list(graph.edges)) == (["t0"], [])


@pytest.mark.parametrize("correlated", [False, True])
def test_unrelated_machines_are_drawn_in_ticks(correlated: bool) -> None:
    """Tests ranges of durations and weights, that GPUs of one kind differ, and that the cost model forbids pairs."""
    cost = CostModel(forbidden=0.3)
    parameters = {"shortest": 10, "longest": 30, "max_weight": 5, "correlated": correlated}
    instance = generate("unrelated-machines", tasks=200, seed=1, cost=cost, **parameters)
    allowed = instance.durations >= 0
    assert (instance.num_jobs, instance.num_edges, instance.tick_seconds) == (200, 0, 1.0)
    assert set(instance.weight.tolist()) == {1, 2, 3, 4, 5}
    drawn = instance.durations[allowed]
    assert (drawn.min(), drawn.max()) == ((11, 50) if correlated else (10, 30))
    spread = np.where(allowed, instance.durations, 0).max(axis=1) - np.where(allowed, instance.durations, 99).min(1)
    assert spread.max() == (CORRELATED_SPREAD - 1 if correlated else 20)
    assert allowed.mean() == pytest.approx(0.7 + 0.3 / 4, abs=0.05)
    assert allowed.any(axis=1).all()


def test_ranges_of_unrelated_machines() -> None:
    """Tests that an empty range is refused, by name."""
    with pytest.raises(ValueError, match=r"longest: expected an integer in 5\.\.1000000, got 4\."):
        generate("unrelated-machines", tasks=3, seed=1, shortest=5, longest=4)
