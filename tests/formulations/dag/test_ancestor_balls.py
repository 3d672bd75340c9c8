"""Tests of heads and tails from all ancestors and descendants: by hand, against brute force, and against schedules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag import ancestor_balls
from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.paths import ancestor_aware_path, join_aware_path
from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.join import INFINITE
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from tests.brute_force import assert_below_optimum, optimum
from tests.drawn_schedules import drawn_schedule
from tests.strategies import dag_instances

some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def chain(num_tasks: int, num_gpus: int, holds: int) -> DagInstance:
    """Return a chain of tasks of 5 ticks with transfers of 10, on equal GPUs whose memory holds so many of them."""
    return DagInstance.from_lists(
        [[5] * num_gpus] * num_tasks,
        [(i, i + 1, 10) for i in range(num_tasks - 1)],
        task_memory=[1] * num_tasks,
        gpu_memory=[holds] * num_gpus,
    )


def test_memory_forces_a_chain_across_gpus() -> None:
    """Tests that every two tasks of a chain cost a transfer where memory holds two, on three GPUs."""
    instance = chain(6, 3, 2)
    around = far_heads_and_tails(instance)
    assert around.heads[:, 0].tolist() == [0, 5, 20, 25, 40, 45]
    assert around.tails[:, 1].tolist() == [45, 40, 25, 20, 5, 0]
    assert ancestor_aware_path(instance, Objective.MAKESPAN) == 50 == optimum(instance)
    assert join_aware_path(instance, Objective.MAKESPAN) == 30


def test_tasks_between_a_fork_and_a_join_share_a_gpu() -> None:
    """Tests that the tail of a fork and the head of a join know that everything between them runs on one GPU."""
    instance = DagInstance.from_lists(
        [[1, None], *[[1, 1]] * 3, *[[8, 8]] * 3, [1, None]],
        [(0, 1, 30), (0, 2, 30), (0, 3, 30), (1, 4, 30), (2, 5, 30), (3, 6, 30), (4, 7, 30), (5, 7, 30), (6, 7, 30)],
    )
    assert heads_and_tails(instance).tails[0, 0] == 3 + 8 + 1
    assert far_heads_and_tails(instance).tails[0, 0] == 3 + 24 + 1
    assert heads_and_tails(instance).heads[7, 0] == 1 + 1 + 24
    assert far_heads_and_tails(instance).heads[7, 0] == 1 + 3 + 24
    assert optimum(instance) == 29


def test_a_third_gpu_of_a_class_counts() -> None:
    """Tests a chain over three of five equal GPUs: the middle is on neither the first task's GPU nor the last one's."""
    instance = chain(5, 5, 2)
    assert ancestor_aware_path(instance, Objective.MAKESPAN) == 45 == optimum(instance)


def test_what_memory_cannot_hold_at_all() -> None:
    """Tests four tasks that three GPUs cannot hold, and an instance without tasks."""
    tasks = DagInstance.from_lists(
        [[5] * 3] * 4, [(0, 1, 9), (1, 2, 9), (2, 3, 9)], task_memory=[2] * 4, gpu_memory=[3] * 3
    )
    assert optimum(tasks) is None
    assert ancestor_aware_path(tasks, Objective.MAKESPAN) == 4 * 5 + 3 * 9
    empty = DagInstance.from_lists([], num_gpus=2)
    assert ancestor_aware_path(empty, Objective.MAKESPAN) == 0


@some
@given(instance=dag_instances(max_tasks=6))
def test_path_is_between_the_join_aware_one_and_the_optimum(instance: DagInstance) -> None:
    """Tests both objectives against brute force."""
    assert_below_optimum(instance, join_aware_path, ancestor_aware_path)


def random_schedule_holds(number: int) -> bool:
    """Say whether a drawn instance of up to 40 tasks got a schedule; assert that it obeys all windows and distances."""
    instance, schedule = drawn_schedule(number)
    if schedule is None:
        return False
    n, m = instance.num_tasks, instance.num_gpus
    gpu = schedule.gpu
    finish = schedule.start + instance.durations[np.arange(n), gpu]
    makespan = int(finish.max())
    around = far_heads_and_tails(instance, makespan_at_most=makespan)
    mine = np.arange(n), gpu
    assert around.allowed[mine].all()
    assert (around.heads[mine] <= schedule.start).all()
    assert (around.tails[mine] <= makespan - finish).all()
    assert (around.heads >= heads_and_tails(instance, makespan_at_most=makespan).heads).all()
    assert (around.heads < INFINITE).sum() <= n * m
    return True


@pytest.mark.parametrize("first", [0, 20])
def test_windows_hold_for_random_schedules(first: int) -> None:
    """Tests that placements which keep to memory, in topological order, obey heads, tails and pairs."""
    assert sum(random_schedule_holds(number) for number in range(first, first + 20)) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 3_100, 300))
def test_windows_hold_for_random_schedules_at_length(first: int) -> None:
    """Tests the same on 3,000 instances."""
    assert sum(random_schedule_holds(number) for number in range(first, first + 300)) >= 150


def test_equal_gpus_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that three GPUs of a class stand for all of it: without classes all heads and tails are the same."""
    for family, tightness in (("layered", 0.9), ("chains", 0.8), ("fork-join", None)):
        instance = generate(
            family,
            tasks=24,
            seed=3,
            cluster=parse_cluster("dgx-a100"),
            cost=CostModel(ccr=3.0, memory_tightness=tightness),
        )
        short = far_heads_and_tails(instance)
        with monkeypatch.context() as patch:
            patch.setattr(ancestor_balls, "_kept_gpus", lambda instance, allowed: (np.arange(instance.num_gpus),) * 2)
            full = far_heads_and_tails(instance)
        assert (short.heads == full.heads).all()
        assert (short.tails == full.tails).all()


def test_without_time_heads_and_tails_are_the_join_aware_ones() -> None:
    """Tests that nothing is raised where no seconds are left."""
    instance = chain(6, 3, 2)
    around = far_heads_and_tails(instance, seconds_left=lambda: 0.0)
    assert (around.heads == heads_and_tails(instance).heads).all()
