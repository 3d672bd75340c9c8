"""Tests of windows: numbers by hand, and validity against brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.probing.windows import windows
from formulations.dag.windows import horizon
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from tests.brute_force import optimum
from tests.strategies import changed, dag_instances

OBJECTIVES = st.sampled_from(FINISH_OBJECTIVES)


def test_makespan_windows_of_example_e(example_e: DagInstance) -> None:
    """Tests latest finishes 15 - tail at U = 15, the pairs that are left, and that the bound is the optimum."""
    within = windows(example_e, Objective.MAKESPAN, lower_bound=0, objective_at_most=15)
    assert (within.at_least, within.at_most) == (15, 15)
    assert within.around.allowed.tolist() == [[True, False], [True, True], [True, False], [False, True], [True, False]]
    left = within.around.allowed
    assert within.latest_finish[left].tolist() == [4, 7, 12, 7, 15, 15]
    assert within.around.heads[left].tolist() == [0, 4, 8, 4, 12, 7]
    assert not within.is_empty


def test_no_schedule_below_the_optimum(example_e: DagInstance) -> None:
    """Tests that windows for 14 are empty, as are those whose bound is above the upper bound."""
    assert windows(example_e, Objective.MAKESPAN, lower_bound=0, objective_at_most=14).is_empty
    assert windows(example_e, Objective.MAKESPAN, lower_bound=17, objective_at_most=16).is_empty


def test_proven_bound_is_taken_over(join_example: DagInstance) -> None:
    """Tests that a bound from elsewhere counts where it is larger than the path bound 9."""
    assert windows(join_example, Objective.MAKESPAN, lower_bound=0, objective_at_most=13).at_least == 9
    assert windows(join_example, Objective.MAKESPAN, lower_bound=10, objective_at_most=13).at_least == 10


def test_horizon_by_hand() -> None:
    """Tests last release + longest durations + longest transfers: 6 + (4 + 9) + (2 + 8)."""
    instance = DagInstance.from_lists(
        [[3, 4], [9, None]],
        [(0, 1, 4)],
        latency=[[0, 1], [2, 0]],
        bytes_per_tick=[[1, 2], [0.5, 1]],
        job_of_task=[0, 0],
        release=[1, 6],
    )
    assert horizon(instance) == 6 + 13 + 10
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    assert within.at_most == 29
    assert windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=99).at_most == 29


def test_weighted_completion_windows() -> None:
    """Tests CJ <= floor((U - sum of the others' w LBJ) / w) by hand, and tails within the job only."""
    instance = DagInstance.from_lists(
        [[4, 6], [3, 3], [5, 5]], [(0, 1, 2), (1, 2, 2)], job_of_task=[0, 0, 1], release=[0, 0, 7], weight=[2, 3, 0]
    )
    within = windows(instance, Objective.WEIGHTED_COMPLETION, lower_bound=0, objective_at_most=53)
    assert within.completion_at_least.tolist() == [7, 12, 7]
    assert within.at_least == 2 * 7 + 3 * 12
    latest = 7 + 6 + 3 + 5 + 2 * 2
    assert within.completion_at_most.tolist() == [(53 - 36) // 2, (53 - 14) // 3, latest]
    assert within.latest_finish[:, 0].tolist() == [8 - 3, 8, 13]
    assert within.around.allowed.tolist() == [[True, False]] * 3  # task 2 on GPU 1 would end at 9 + 5


def test_job_without_weight_is_unbounded_by_the_objective() -> None:
    """Tests that a job of weight 0 may take until the horizon, whatever the objective."""
    instance = DagInstance.from_lists([[4], [5]], job_of_task=[0, 1], release=[0, 0], weight=[1, 0])
    within = windows(instance, Objective.WEIGHTED_COMPLETION, lower_bound=0, objective_at_most=4)
    assert within.completion_at_most.tolist() == [4, 9]


@given(instance=dag_instances(max_tasks=6), objective=OBJECTIVES, slack=st.integers(0, 5))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_windows_keep_an_optimal_schedule(instance: DagInstance, objective: Objective, slack: int) -> None:
    """Tests that with an upper bound of at least the optimum the pairs that are left contain it."""
    best = optimum(instance, objective)
    if best is None:
        return
    within = windows(instance, objective, lower_bound=0, objective_at_most=best + slack)
    assert not within.is_empty
    assert within.at_least <= best <= within.at_most
    narrowed = changed(instance, durations=np.where(within.around.allowed, instance.durations, -1))
    assert optimum(narrowed, objective) == best


@given(instance=dag_instances(max_tasks=6), objective=OBJECTIVES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_horizon_holds_an_optimal_schedule(instance: DagInstance, objective: Objective) -> None:
    """Tests that without any upper bound the optimum is within the horizon's windows."""
    best = optimum(instance, objective)
    if best is not None:
        within = windows(instance, objective, lower_bound=0, objective_at_most=None)
        assert not within.is_empty
        assert within.at_least <= best <= within.at_most
