"""Tests of placements that cut an order into stretches: by hand, within memory, and against all cuts."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

from formulations.dag.interchangeable import interchangeable
from heuristics.dag.segments import depth_first_order, segment_placements
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.backends.lns_starts import segment_start


def chain(num_tasks: int, rng: np.random.Generator) -> DagInstance:
    """Return a chain on three unlike GPUs that must share it."""
    return DagInstance.from_lists(
        rng.integers(1, 9, size=(num_tasks, 3)).tolist(),
        [(i, i + 1, int(rng.integers(1, 20))) for i in range(num_tasks - 1)],
        latency=np.where(np.eye(3, dtype=bool), 0, rng.integers(0, 5, size=(3, 3))).tolist(),
        task_memory=rng.integers(1, 4, size=num_tasks).tolist(),
        gpu_memory=[num_tasks] * 3,
    )


def time_of(instance: DagInstance, gpu: list[int]) -> int:
    """Return the time of a chain's placement: its tasks and transfers, one after the other."""
    total = sum(int(instance.durations[task, k]) for task, k in enumerate(gpu))
    return total + sum(
        int(instance.transfer_delays(edge)[gpu[tail], gpu[head]])
        for edge, (tail, head) in enumerate(instance.edges.tolist())
    )


@pytest.mark.parametrize("seed", range(6))
def test_best_of_all_cuts_of_a_chain(seed: int) -> None:
    """Tests against every choice of cuts and GPUs."""
    instance = chain(7, np.random.default_rng(seed))
    memory = instance.task_memory
    times = []
    for count in (1, 2, 3):
        for gpus, cuts in ((g, c) for g in permutations(range(3), count) for c in combinations(range(1, 7), count - 1)):
            ends = [0, *cuts, 7]
            gpu = [k for k, a, b in zip(gpus, ends[:-1], ends[1:], strict=True) for _ in range(b - a)]
            if all(memory[a:b].sum() <= 7 for a, b in pairwise(ends)):
                times.append(time_of(instance, gpu))
    found = segment_placements(instance, [np.array([k]) for k in range(3)])
    assert bool(found) == bool(times)
    assert not times or time_of(instance, found[0].tolist()) == min(times)


def test_equal_gpus_share_a_class() -> None:
    """Tests a chain that needs three of four equal GPUs: each has one stretch, cut where transfers are cheap."""
    instance = DagInstance.from_lists(
        [[2] * 4] * 6,
        [(0, 1, 9), (1, 2, 1), (2, 3, 9), (3, 4, 1), (4, 5, 9)],
        task_memory=[1] * 6,
        gpu_memory=[2] * 4,
    )
    found = segment_placements(instance, [np.arange(4)])
    assert found[0].tolist() == [2, 2, 1, 1, 0, 0]
    schedule = segment_start(instance, Objective.MAKESPAN)
    assert schedule is not None
    assert objective_value(instance, schedule, Objective.MAKESPAN) == 6 * 2 + 2


def test_schedules_verify_on_every_family() -> None:
    """Tests that list schedules of the placements keep to memory, and that no tasks and no fit leave none."""
    for family in ("layered", "inception", "nasnet", "chains"):
        for name in ("v100-t4-p100-pair", "mixed-4"):
            cost = CostModel(memory_tightness=0.8, forbidden=0.1)
            instance = generate(family, tasks=30, seed=2, cluster=parse_cluster(name), cost=cost)
            schedule = segment_start(instance, Objective.MAKESPAN)
            assert schedule is None or verify_dag_schedule(instance, schedule) == []
    assert segment_placements(DagInstance.from_lists([], num_gpus=2), [np.arange(2)]) == []
    apart = DagInstance.from_lists([[1, None], [None, 1], [1, None]], [(0, 1, 1), (1, 2, 1)])
    assert segment_placements(apart, [np.array([k]) for k in range(2)]) == []
    assert interchangeable(apart).gpus == ()


def test_depth_first_order_is_topological() -> None:
    """Tests that the task that has become ready last comes first, after all its predecessors."""
    instance = DagInstance.from_lists([[1]] * 5, [(0, 1, 0), (0, 2, 0), (2, 3, 0), (1, 4, 0), (3, 4, 0)])
    assert depth_first_order(instance).tolist() == [0, 2, 3, 1, 4]
