"""Tests of task graphs in physical units and of the instances that they become on a cluster."""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import NO_LIMIT, NOT_ALLOWED
from instances.dag.task_graph import TaskGraph, dag_instance_from_graph
from instances.rounding import RoundingWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


def random_chain(num_tasks: int = 200, seed: int = 1) -> TaskGraph:
    """Make a chain of random work."""
    rng = np.random.default_rng(seed)
    return TaskGraph(
        name="chain",
        task_names=[f"t{task}" for task in range(num_tasks)],
        flops=(10 ** rng.uniform(9, 11, num_tasks)).tolist(),
        moved_bytes=(10 ** rng.uniform(7, 9, num_tasks)).tolist(),
        memory_bytes=rng.integers(1, 10**8, num_tasks).tolist(),
        edges=[(task, task + 1, int(data)) for task, data in enumerate(10 ** rng.uniform(4, 6, num_tasks - 1))],
    )


def instance_of(graph: TaskGraph, cluster: str = "mixed-4", seed: int = 5, **cost: object) -> DagInstance:
    """Put a graph on a cluster with the named knobs."""
    model = CostModel(**cost)  # type: ignore[arg-type]  # the tests name the fields
    return dag_instance_from_graph(graph, parse_cluster(cluster), model, np.random.default_rng(seed))


def test_durations_by_hand() -> None:
    """Tests that without noise durations are rooflines at half the peaks, rounded to ticks."""
    graph = TaskGraph(
        name="two",
        task_names=["compute", "memory"],
        flops=[6.25e12, 1.0],
        moved_bytes=[1.0, 9e9],
        memory_bytes=[2, 3],
        edges=[(0, 1, 15_750_000)],
    )
    instance = instance_of(graph, "V100-16GB+T4", heterogeneity=0.0, tick_seconds=1e-5)
    assert instance.durations.tolist() == [[10_000, 19_231], [2_000, 6_000]]
    assert instance.latency.tolist() == [[0, 1], [1, 0]]
    assert instance.transfer_delays(0).tolist() == [[0, 101], [101, 0]]
    assert instance.gpu_memory.tolist() == [16 * 2**30] * 2
    assert instance.task_memory.tolist() == [2, 3]


def test_a_chosen_tick_gives_the_wished_mean() -> None:
    """Tests that the mean duration is the wished number of ticks, within rounding of the tick to three digits."""
    durations = instance_of(random_chain(), mean_ticks=250.0).durations
    assert durations.mean() == pytest.approx(250.0, rel=0.01)


def test_rounding_warns_only_where_the_tick_was_given() -> None:
    """Tests that a given coarse tick warns above 0.1 %, and a chosen one does not."""
    with pytest.warns(RoundingWarning, match="durations change by more than 0.1 %"):
        instance_of(random_chain(), tick_seconds=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoundingWarning)
        assert instance_of(random_chain(), mean_ticks=5.0).durations.min() == 1


@pytest.mark.parametrize("ccr", [0.02, 0.1, 0.5, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("cluster", ["mixed-4", "2xV100-16GB,2xT4"])
def test_ccr_is_reached(ccr: float, cluster: str) -> None:
    """Tests that mean transfer delay over mean duration is within 10 % of the wished ratio."""
    instance = instance_of(random_chain(), cluster, ccr=ccr)
    off_diagonal = ~np.eye(instance.num_gpus, dtype=bool)
    delays = [instance.transfer_delays(edge)[off_diagonal].mean() for edge in range(instance.num_edges)]
    assert np.mean(delays) / instance.durations.mean() == pytest.approx(ccr, rel=0.1)


def test_ccr_zero_removes_all_delays() -> None:
    """Tests that at ratio 0 nothing is sent and no link has a latency."""
    instance = instance_of(random_chain(), ccr=0.0)
    assert instance.edge_bytes.sum() == 0
    assert instance.latency.sum() == 0
    assert instance.num_edges == 199


def test_ccr_leaves_durations_alone() -> None:
    """Tests that two ratios give the same durations and edges, and other bytes."""
    low, high = instance_of(random_chain(), ccr=0.1), instance_of(random_chain(), ccr=10.0)
    assert np.array_equal(low.durations, high.durations)
    assert np.array_equal(low.edges, high.edges)
    assert (low.edge_bytes < high.edge_bytes).all()


def is_consistent(durations: NDArray[np.int64]) -> bool:
    """Say whether of any two GPUs one is at least as fast for all tasks."""
    return all(
        (durations[:, k] <= durations[:, other]).all() or (durations[:, k] >= durations[:, other]).all()
        for k, other in itertools.combinations(range(durations.shape[1]), 2)
    )


def test_consistency() -> None:
    """Tests that kinds rank alike for all tasks at consistency 1 and not at 0."""
    assert is_consistent(instance_of(random_chain(), heterogeneity=1.0, consistency=1.0).durations)
    assert not is_consistent(instance_of(random_chain(), heterogeneity=1.0, consistency=0.0).durations)


def test_gpus_of_one_kind_are_alike() -> None:
    """Tests that noise is drawn per kind: equal GPUs have equal durations, unlike ones have not."""
    durations = instance_of(random_chain(), "2xT4+2xP100", heterogeneity=1.0).durations
    assert np.array_equal(durations[:, 0], durations[:, 1])
    assert np.array_equal(durations[:, 2], durations[:, 3])
    assert not np.array_equal(durations[:, 0], durations[:, 2])


def test_heterogeneity_is_the_spread_of_the_noise() -> None:
    """Tests that the logarithm of duration over roofline has the wished standard deviation."""
    graph = random_chain(1500)
    plain = instance_of(graph, heterogeneity=0.0, tick_seconds=1e-9).durations
    noisy = instance_of(graph, heterogeneity=0.5, tick_seconds=1e-9).durations
    assert np.log(noisy / plain).std() == pytest.approx(0.5, rel=0.05)


def test_forbidden_pairs() -> None:
    """Tests that the wished share of pairs of task and kind is barred and every task keeps one kind."""
    durations = instance_of(random_chain(1500), forbidden=0.4).durations
    barred = durations == NOT_ALLOWED
    assert barred.mean() == pytest.approx(0.4 * 3 / 4, abs=0.03)  # one of four kinds is safe
    assert (instance_of(random_chain(50), forbidden=1.0).durations != NOT_ALLOWED).sum(axis=1).tolist() == [1] * 50


@pytest.mark.parametrize("tightness", [0.25, 0.9])
def test_memory_tightness_is_reached(tightness: float) -> None:
    """Tests that memory of tasks over memory of GPUs is as wished and capacities keep their proportions."""
    instance = instance_of(random_chain(), memory_tightness=tightness)
    assert instance.task_memory.sum() / instance.gpu_memory.sum() == pytest.approx(tightness, rel=0.01)
    assert (instance.gpu_memory / instance.gpu_memory.min()).tolist() == pytest.approx([2.5, 1, 1, 1], rel=1e-6)


def test_tight_memory_leaves_a_packing() -> None:
    """Tests that few large tasks and barred pairs still fit when each, largest first, goes where most room is left."""
    for seed in range(20):
        instance = instance_of(random_chain(12, seed), seed=seed, memory_tightness=1.0, forbidden=0.5)
        room = instance.gpu_memory.copy()
        for task in np.argsort(-instance.task_memory, kind="stable"):
            gpu = max(np.flatnonzero(instance.durations[task] != NOT_ALLOWED), key=lambda gpu: room[gpu])
            room[gpu] -= instance.task_memory[task]
        assert room.min() >= 0
        assert instance.task_memory.sum() <= instance.gpu_memory.sum()


def test_no_memory_limits() -> None:
    """Tests that tightness 0 drops the limits."""
    assert instance_of(random_chain(), memory_tightness=0.0).gpu_memory.tolist() == [NO_LIMIT] * 4


def test_a_graph_that_does_not_fit_is_an_error() -> None:
    """Tests that memory beyond that of all GPUs is refused."""
    graph = dataclasses.replace(random_chain(200), memory_bytes=[2**30] * 200)
    with pytest.raises(ValueError, match="tasks: expected at most 94489280512 bytes, the memory of all GPUs together"):
        instance_of(graph)


def test_releases_are_rounded_up() -> None:
    """Tests that a release within a tick counts from the next one, and that jobs keep names and weights."""
    graph = dataclasses.replace(
        random_chain(2), job_of_task=[0, 1], job_names=["a", "b"], release_seconds=[0.0, 1.2e-3], weight=[3, 4]
    )
    instance = instance_of(graph, heterogeneity=0.0, mean_ticks=100.0)
    assert instance.release.tolist() == [0, math.ceil(1.2e-3 / instance.tick_seconds)]
    assert instance.release[1] * instance.tick_seconds > 1.2e-3
    assert (instance.job_names, instance.weight.tolist()) == (("a", "b"), [3, 4])


def test_no_tasks() -> None:
    """Tests that an empty workload gives an empty instance on all GPUs."""
    empty = TaskGraph(name="empty", task_names=[], flops=[], moved_bytes=[], memory_bytes=[], edges=[])
    instance = instance_of(empty, ccr=1.0, memory_tightness=0.5)
    assert (instance.num_tasks, instance.num_gpus, instance.num_edges) == (0, 4, 0)


@pytest.mark.parametrize(
    ("field", "value"), [("ccr", -1.0), ("consistency", 1.5), ("memory_tightness", 2.0), ("efficiency", 0.0)]
)
def test_knobs_out_of_range(field: str, value: float) -> None:
    """Tests that a knob out of range is refused by name."""
    with pytest.raises(ValueError, match=f"{field}: expected a number in .*, got {value}"):
        CostModel(**{field: value})  # type: ignore[arg-type]  # one field at a time
