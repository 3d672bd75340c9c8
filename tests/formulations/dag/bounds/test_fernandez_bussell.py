"""Tests of the Fernandez-Bussell bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds import fernandez_bussell as module
from formulations.dag.bounds.fernandez_bussell import fernandez_bussell
from formulations.dag.bounds.join_aware_path import join_aware_path
from formulations.dag.heads_and_tails import heads_and_tails
from instances import DagInstance, Objective
from tests.brute_force import optimum
from tests.strategies import changed, dag_instances

if TYPE_CHECKING:
    import pytest


def test_published_examples(heft_example: DagInstance, window_example: DagInstance) -> None:
    """Tests 63 and 10, no more than the join-aware path: the three middle tasks can use all three GPUs."""
    assert fernandez_bussell(heft_example, Objective.MAKESPAN) == 63
    assert fernandez_bussell(window_example, Objective.MAKESPAN) == 10


def test_three_tasks_between_two_others() -> None:
    """Tests by hand: 12 ticks of work between 2 and 6 on two GPUs end 2 ticks late; the optimum cannot cut a task."""
    edges = [(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 4, 0), (2, 4, 0), (3, 4, 0)]
    instance = DagInstance.from_lists([[2, 2], [4, 4], [4, 4], [4, 4], [2, 2]], edges)
    assert join_aware_path(instance, Objective.MAKESPAN) == 8
    assert fernandez_bussell(instance, Objective.MAKESPAN) == 8 + (12 // 2 - 4)
    assert optimum(instance) == 12


def test_releases_zero_durations_and_forbidden_gpus() -> None:
    """Tests that work begins at the release, that tasks of duration 0 add none, and that each task counts its least."""
    instance = DagInstance.from_lists(
        [[4, 7], [None, 4], [4, None], [0, 9], [9, 0]], job_of_task=[0] * 5, release=[5], name="released"
    )
    assert fernandez_bussell(instance, Objective.MAKESPAN) == 5 + 4 + (12 // 2 - 4)


def test_part_of_a_task_lies_in_the_window() -> None:
    """Tests by hand: within 10 ticks of a chain 4, 2, 4, three tasks of 6 run at least 2 ticks in [4,6] each."""
    instance = DagInstance.from_lists([[4, 4], [2, 2], [4, 4], [6, 6], [6, 6], [6, 6]], [(0, 1, 0), (1, 2, 0)])
    opens, ends = np.array([4]), np.array([6])
    around = heads_and_tails(instance)
    assert join_aware_path(instance, Objective.MAKESPAN) == 10
    delay = module._delay(around.heads, 10 - around.tails, instance.durations, around.allowed, opens, ends)
    assert delay == (2 + 3 * 2) // 2 - 2
    assert fernandez_bussell(instance, Objective.MAKESPAN) == (10 + 18) // 2  # all of [0,10] is the fullest window


def test_other_objective_has_no_bound(window_example: DagInstance) -> None:
    """Tests that for weighted completion, and without tasks, nothing is claimed."""
    assert fernandez_bussell(window_example, Objective.WEIGHTED_COMPLETION) == 0
    assert fernandez_bussell(DagInstance.from_lists([], num_gpus=1), Objective.MAKESPAN) == 0


def test_fewer_windows_prove_less_but_nothing_false(monkeypatch: pytest.MonkeyPatch, heft_example: DagInstance) -> None:
    """Tests that trying only some windows keeps the bound between the path and all windows."""
    wide = changed(heft_example, durations=np.repeat(heft_example.durations.min(axis=1), 3).reshape(-1, 3))
    everything = fernandez_bussell(wide, Objective.MAKESPAN)
    monkeypatch.setattr(module, "MAX_ENDS", 3)
    assert join_aware_path(wide, Objective.MAKESPAN) <= fernandez_bussell(wide, Objective.MAKESPAN) <= everything


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_path_and_optimum(instance: DagInstance) -> None:
    """Tests that it is never below the join-aware path and never above the optimum."""
    best = optimum(instance)
    if best is not None:
        assert join_aware_path(instance, Objective.MAKESPAN) <= fernandez_bussell(instance, Objective.MAKESPAN) <= best
