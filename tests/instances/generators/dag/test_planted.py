"""Tests of planted optima: the schedule, the certificate and the bound agree."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.dag.instance import NO_LIMIT, NOT_ALLOWED, DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.planted import PlantedOptimum, planted_optimum
from solvers.solve import solve
from tests.brute_force import optimum


def check_schedule(planted: PlantedOptimum) -> None:
    """Check that the planted schedule verifies and that its makespan is what is said."""
    assert verify_dag_schedule(planted.instance, planted.schedule) == []
    assert objective_value(planted.instance, planted.schedule, Objective.MAKESPAN) == planted.optimum


def proven_by_area(instance: DagInstance, weights: list[int]) -> float:
    """Recompute sum_i min_k v[k] p[i,k] / sum v with a plain loop."""
    total = 0
    for row in instance.durations.tolist():
        total += min(weight * ticks for weight, ticks in zip(weights, row, strict=True) if ticks != NOT_ALLOWED)
    return total / sum(weights)


def proven_by_path(instance: DagInstance, path: list[int]) -> int:
    """Recompute the sum of smallest durations on a path, and check that it is one."""
    edges = {(tail, head) for tail, head in instance.edges.tolist()}
    assert all(pair in edges for pair in itertools.pairwise(path))
    return sum(min(t for t in instance.durations[task].tolist() if t != NOT_ALLOWED) for task in path)


SIZES = [(4, 4, None), (7, 1, None), (9, 3, 3), (60, 5, 1000), (300, 6, 10**12), (5000, 16, None)]


@pytest.mark.parametrize(("tasks", "num_gpus", "horizon"), SIZES)
@pytest.mark.parametrize("memory_tightness", [None, 1.0])
def test_area(tasks: int, num_gpus: int, horizon: int | None, memory_tightness: float | None) -> None:
    """Tests that the schedule verifies, the weighted area proves its makespan, and no GPU is ever idle."""
    planted = planted_optimum(
        tasks=tasks, num_gpus=num_gpus, horizon=horizon, seed=tasks, memory_tightness=memory_tightness, forbidden=0.2
    )
    check_schedule(planted)
    assert planted.gpu_weights is not None
    assert proven_by_area(planted.instance, planted.gpu_weights.tolist()) == planted.optimum
    own = planted.instance.durations[np.arange(tasks), planted.schedule.gpu]
    loads = np.bincount(planted.schedule.gpu, weights=own, minlength=num_gpus)
    assert loads.tolist() == [planted.optimum] * num_gpus


@pytest.mark.parametrize(("tasks", "num_gpus", "horizon"), SIZES)
@pytest.mark.parametrize("memory_tightness", [None, 1.0])
def test_path(tasks: int, num_gpus: int, horizon: int | None, memory_tightness: float | None) -> None:
    """Tests that the schedule verifies and that a path of smallest durations proves its makespan."""
    planted = planted_optimum(
        certificate="path",
        tasks=tasks,
        num_gpus=num_gpus,
        horizon=horizon,
        seed=tasks,
        memory_tightness=memory_tightness,
        forbidden=0.2,
    )
    check_schedule(planted)
    assert planted.path is not None
    assert proven_by_path(planted.instance, planted.path.tolist()) == planted.optimum


@pytest.mark.parametrize("certificate", ["area", "path"])
@pytest.mark.parametrize("seed", range(6))
def test_brute_force_agrees(certificate: str, seed: int) -> None:
    """Tests that complete enumeration finds no better schedule of tiny instances."""
    planted = planted_optimum(
        tasks=5,
        num_gpus=2 + seed % 2,
        seed=seed,
        certificate=certificate,  # type: ignore[arg-type]  # one of the two
        horizon=12,
        memory_tightness=None if seed < 3 else 1.0,
    )
    assert optimum(planted.instance) == planted.optimum == 12


def test_tasks_may_be_shorter_elsewhere() -> None:
    """Tests that with the area proof many tasks are shorter on another GPU, so the fastest GPU is no hint."""
    planted = planted_optimum(tasks=400, num_gpus=4, seed=2)
    durations = np.where(planted.instance.durations == NOT_ALLOWED, 2**50, planted.instance.durations)
    own = durations[np.arange(400), planted.schedule.gpu]
    assert (durations.min(axis=1) < own).mean() > 0.3
    assert len({tuple(np.argsort(row)) for row in durations.tolist()}) > 4


def test_transfers_fit_exactly() -> None:
    """Tests that links of the cluster are used, and half of the transfers fill the time that they have."""
    planted = planted_optimum(tasks=2000, seed=4, cluster=parse_cluster("mixed-8"), tight_transfers=1.0)
    instance, schedule = planted.instance, planted.schedule
    check_schedule(planted)
    assert instance.gpu_kinds[:3] == ("A100-40GB", "A100-40GB", "V100-16GB")
    slack = []
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        source, target = schedule.gpu[tail], schedule.gpu[head]
        if source != target and instance.edge_bytes[edge] > 0:
            arrival = schedule.start[tail] + instance.durations[tail, source]
            slack.append(schedule.start[head] - arrival - instance.transfer_delays(edge)[source, target])
    assert len(slack) > 1000
    assert set(slack) == {0}


def test_memory_is_tight() -> None:
    """Tests that capacities are the planted loads at tightness 1, twice those at a half, and none by default."""
    tight, loose, none = (planted_optimum(tasks=50, seed=3, memory_tightness=value) for value in (1.0, 0.5, None))
    loads = np.bincount(tight.schedule.gpu, weights=tight.instance.task_memory, minlength=4)
    assert tight.instance.gpu_memory.tolist() == loads.tolist()
    assert loose.instance.gpu_memory.tolist() == (2 * loads).tolist()
    assert none.instance.gpu_memory.tolist() == [NO_LIMIT] * 4


def test_edge_density_and_forbidden_pairs() -> None:
    """Tests that the numbers of edges and of barred pairs are near the wished ones."""
    planted = planted_optimum(tasks=4000, num_gpus=8, seed=3, edges_per_task=3.0, forbidden=0.3)
    assert planted.instance.num_edges == pytest.approx(12_000, rel=0.03)
    barred = planted.instance.durations == NOT_ALLOWED
    assert barred.mean() == pytest.approx(0.3 * 3 / 4, abs=0.02)  # the planted kind of four is safe
    assert planted_optimum(tasks=40, seed=3, edges_per_task=0.0).instance.num_edges == 0


def test_utilisation_of_the_path() -> None:
    """Tests that GPUs beside the path are idle for about the wished share of time."""
    planted = planted_optimum(tasks=4000, num_gpus=8, seed=3, certificate="path", utilisation=0.6)
    own = planted.instance.durations[np.arange(4000), planted.schedule.gpu]
    beside = (own.sum() - planted.optimum) / (7 * planted.optimum)
    assert beside == pytest.approx(0.6, abs=0.03)


def test_seeds() -> None:
    """Tests that a seed gives one instance and schedule, and another seed another."""
    first, again, other = (planted_optimum(tasks=30, seed=seed) for seed in (1, 1, 2))
    assert first.instance.sha256 == again.instance.sha256 != other.instance.sha256
    assert first.schedule.start.tolist() == again.schedule.start.tolist()
    assert first.instance.name == "planted-area-n30-m4-s1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tasks": 3}, r"tasks: expected at least 4, got 3\."),
        ({"tasks": 9, "horizon": 2}, r"horizon: expected at least 3 for 9 tasks on 4 GPUs, got 2\."),
        ({"certificate": "luck"}, r"certificate: expected area or path, got 'luck'\."),
        ({"memory_tightness": 1.5}, "memory_tightness: expected a number in .*, got 1.5"),
        ({"max_slowdown": 0.9}, r"max_slowdown: expected at least 1, got 0\.9\."),
        (
            {"num_gpus": 4, "cluster": parse_cluster("mixed-4")},
            "num_gpus: expected either num_gpus or cluster, got both",
        ),
    ],
)
def test_misuse(arguments: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused by name."""
    with pytest.raises(ValueError, match=message):
        planted_optimum(**{"tasks": 20, "seed": 1, **arguments})  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(("certificate", "seed"), [("area", 0), ("path", 1)])
def test_buffers(certificate: str, seed: int) -> None:
    """Tests that the planted schedule keeps full memory limits with buffers, and that CP-SAT cannot beat it."""
    planted = planted_optimum(
        tasks=12,
        num_gpus=2,
        seed=seed,
        certificate=certificate,  # type: ignore[arg-type]  # one of the two
        horizon=30,
        buffers=0.8,
        memory_tightness=1.0,
    )
    instance = planted.instance
    check_schedule(planted)
    assert instance.num_buffers >= 4
    tighter = replace(instance, gpu_memory=instance.gpu_memory - 1)
    assert verify_dag_schedule(
        tighter, DagSchedule(gpu=planted.schedule.gpu, start=planted.schedule.start, instance=tighter)
    )
    assert solve(instance, "cp-sat", threads=1).objective == planted.optimum
    without = planted_optimum(
        tasks=12,
        num_gpus=2,
        seed=seed,
        certificate=certificate,  # type: ignore[arg-type]  # one of the two
        horizon=30,
    )
    assert (without.instance.durations == instance.durations).all()
