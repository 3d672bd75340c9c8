"""Tests of windows that follow from releases and durations alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.probing.windows import windows
from formulations.dag.windows import horizon, plain_windows
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from tests.brute_force import optimum
from tests.strategies import dag_instances


@settings(max_examples=60, deadline=None)
@given(instance=dag_instances(max_tasks=4), objective=st.sampled_from(FINISH_OBJECTIVES))
def test_windows_of_the_optimum_hold_a_schedule(instance: DagInstance, objective: Objective) -> None:
    """Tests that windows for the optimum are not empty, and within those that know heads and tails nowhere narrower."""
    best = optimum(instance, objective)
    if best is None:
        return
    plain = plain_windows(instance, objective, objective_at_most=best)
    narrow = windows(instance, objective, lower_bound=0, objective_at_most=best)
    assert not plain.is_empty
    left = narrow.around.allowed
    assert (plain.around.allowed | ~left).all()
    assert (plain.around.heads <= narrow.around.heads)[left].all()
    assert (plain.latest_finish >= narrow.latest_finish)[left].all()
    assert (plain.completion_at_most >= narrow.completion_at_most).all()
    assert (plain.completion_at_least <= narrow.completion_at_least).all()


def test_nothing_but_releases_and_durations_is_known(example_e: DagInstance) -> None:
    """Tests that a path, which would give heads and tails, is not looked at."""
    within = plain_windows(example_e, Objective.MAKESPAN, objective_at_most=14)
    assert within.around.heads[example_e.allowed].tolist() == [0] * 9
    assert within.around.tails[example_e.allowed].tolist() == [0] * 9
    assert (within.at_least, within.at_most, set(within.latest_finish.ravel())) == (0, 14, {14})
    assert windows(example_e, Objective.MAKESPAN, lower_bound=0, objective_at_most=14).is_empty  # paths alone refute 14


def test_pairs_without_room_are_removed() -> None:
    """Tests that a task of 5 released at 3 cannot end by 7, and that the other GPU is left."""
    instance = DagInstance.from_lists([[5, 4]], release=[3])
    within = plain_windows(instance, Objective.MAKESPAN, objective_at_most=7)
    assert within.around.allowed.tolist() == [[False, True]]
    assert plain_windows(instance, Objective.MAKESPAN, objective_at_most=6).is_empty


def test_weighted_completion_leaves_what_other_jobs_must_cost() -> None:
    """Tests floor((U - 2 * 10) / 3) for the job of weight 3 beside one of weight 2 released at 10, and the horizon."""
    instance = DagInstance.from_lists([[1], [1], [1]], job_of_task=[0, 1, 2], release=[0, 10, 0], weight=[3, 2, 0])
    within = plain_windows(instance, Objective.WEIGHTED_COMPLETION, objective_at_most=30)
    assert within.completion_at_most.tolist() == [3, 13, 13]
    assert horizon(instance) == 13
    assert within.at_least == 20
    assert plain_windows(instance, Objective.WEIGHTED_COMPLETION, objective_at_most=19).is_empty


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_without_a_limit_the_horizon_counts(example_e: DagInstance, objective: Objective) -> None:
    """Tests that all schedules without needless waiting are inside."""
    within = plain_windows(example_e, objective, objective_at_most=None)
    assert set(within.latest_finish.ravel()) == {horizon(example_e)}
    assert within.around.allowed.tolist() == np.array(example_e.allowed).tolist()
