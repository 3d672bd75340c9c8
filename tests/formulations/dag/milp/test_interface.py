"""Tests of what models are not built for."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.milp.generalised_disjunctive import GeneralisedDisjunctiveModel
from formulations.dag.milp.interface import MAX_HORIZON, check_model_size
from formulations.dag.milp.linearised_nip import LinearisedNip
from formulations.dag.milp.nip import Nip
from formulations.dag.probing.windows import windows
from formulations.model_too_large import ModelTooLargeError
from heuristics.dag.list_scheduling import heft, random_placement
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from solvers.backends.highs import compile_milp
from tests.brute_force import optimum
from tests.formulations.dag.milp.linear_models import LINEAR_MODELS, solved, violation
from tests.strategies import dag_instances


def test_horizon() -> None:
    """Tests that a horizon of exactly the limit passes and one tick more does not."""
    for ticks, passes in ((MAX_HORIZON, True), (MAX_HORIZON + 1, False)):
        instance = DagInstance.from_lists([[ticks]])
        within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
        if passes:
            check_model_size(instance, within)
        else:
            with pytest.raises(ModelTooLargeError, match=f"horizon: expected at most {MAX_HORIZON} ticks, got {ticks}"):
                check_model_size(instance, within)


def test_pairs() -> None:
    """Tests that pairs of tasks times GPUs are counted."""
    instance = DagInstance.from_lists([[1, 1]] * 4)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    check_model_size(instance, within, max_pair_rows=12)
    with pytest.raises(ModelTooLargeError, match="expected at most 11 pairs of tasks times GPUs, got 12"):
        check_model_size(instance, within, max_pair_rows=11)


def test_limit_of_buffers() -> None:
    """Tests that buffers times the tasks that begin one, times GPUs, are limited."""
    instance = DagInstance.from_lists([[1, 1]] * 2, [(0, 1, 0)], buffers=[(0, 1, [1])] * 15001)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    with pytest.raises(ModelTooLargeError, match=r"^buffers: expected at most 30000 pairs of buffers and tasks that "):
        check_model_size(instance, within)


@pytest.mark.parametrize(
    "build", [Nip, partial(Nip, form="product"), LinearisedNip, GeneralisedDisjunctiveModel], ids=str
)
def test_models_for_small_instances_refuse_large_ones(build: type[Nip]) -> None:
    """Tests that 200 tasks on 3 GPUs are refused before anything is built."""
    instance = DagInstance.from_lists([[1, 1, 1]] * 200)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    with pytest.raises(ModelTooLargeError):
        build(instance, Objective.MAKESPAN, within)


OBJECTIVES = st.sampled_from(FINISH_OBJECTIVES)
every_model = pytest.mark.parametrize("name", LINEAR_MODELS)
some = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def assert_optimum(name: str, instance: DagInstance, objective: Objective) -> None:
    """Check the model's own optimum, without any start or bound, and that its schedule is a start of objective so."""
    best = optimum(instance, objective)
    within = windows(instance, objective, lower_bound=0, objective_at_most=None)
    if within.is_empty:
        assert best is None
        return
    model = LINEAR_MODELS[name](instance, objective, within)
    answer = solved(model)
    if best is None:
        assert answer.is_infeasible
        return
    assert answer.solution is not None
    assert answer.dual_bound is not None
    assert best - 1.0 - 1e-3 < answer.dual_bound <= best + 1e-3 or answer.is_failed
    schedule = model.schedule()
    assert verify_dag_schedule(instance, schedule) == []
    assert objective_value(instance, schedule, objective) == best
    assert_start_fits(name, instance, schedule, objective)


def assert_start_fits(name: str, instance: DagInstance, schedule: DagSchedule, objective: Objective) -> None:
    """Check that a schedule is a complete solution of the model within its own windows, of the same objective."""
    value = objective_value(instance, schedule, objective)
    within = windows(instance, objective, lower_bound=0, objective_at_most=value)
    model = LINEAR_MODELS[name](instance, objective, within)
    assert model.set_start(schedule)
    milp, _ = compile_milp(model.pyomo_model, has_start=True)
    assert violation(milp) <= 1e-9
    assert milp.cost @ milp.start + milp.offset == value
    assert model.schedule().gpu.tolist() == schedule.gpu.tolist()


@every_model
@given(instance=dag_instances(max_tasks=5), objective=OBJECTIVES)
@some
def test_optimum_is_that_of_brute_force(name: str, instance: DagInstance, objective: Objective) -> None:
    """Tests the optimum of small instances, and that its schedule is a start that satisfies every row."""
    assert_optimum(name, instance, objective)


@pytest.mark.slow
@every_model
@given(instance=dag_instances(max_tasks=7), objective=OBJECTIVES)
@many
def test_optimum_is_that_of_brute_force_often(name: str, instance: DagInstance, objective: Objective) -> None:
    """Tests the same on more and larger instances."""
    assert_optimum(name, instance, objective)


@every_model
@given(instance=dag_instances(max_tasks=7), objective=OBJECTIVES, seed=st.integers(0, 99))
@settings(some, max_examples=12)
def test_any_schedule_is_a_start(name: str, instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that the values set from schedules of HEFT and at random satisfy every row and cost what they should."""
    for schedule in (heft(instance), random_placement(instance, np.random.default_rng(seed))):
        if schedule is not None:
            assert_start_fits(name, instance, schedule, objective)


@every_model
@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_schedule_outside_the_windows_is_no_start(name: str, objective: Objective, example_e: DagInstance) -> None:
    """Tests that a schedule with an excluded pair, or that ends too late, sets no variable at all."""
    within = windows(example_e, objective, lower_bound=0, objective_at_most=15)
    model = LINEAR_MODELS[name](example_e, objective, within)
    late = DagSchedule(gpu=[0, 0, 0, 0, 0], start=[0, 4, 7, 10, 18])
    _, columns = compile_milp(model.pyomo_model, has_start=False)
    assert not model.set_start(late)
    assert not model.set_start(DagSchedule(gpu=[1, 0, 0, 1, 0], start=[0, 20, 30, 50, 60]))
    assert all(column.value is None for column in columns)


@every_model
def test_nothing_below_the_upper_bound(name: str, join_example: DagInstance) -> None:
    """Tests that windows for one tick less than the optimum of 10 hold no solution."""
    within = windows(join_example, Objective.MAKESPAN, lower_bound=0, objective_at_most=9)
    assert within.is_empty or solved(LINEAR_MODELS[name](join_example, Objective.MAKESPAN, within)).is_infeasible


@every_model
@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_awkward_instances(name: str, objective: Objective) -> None:
    """Tests no tasks, one task, a task of duration 0 inside another one, full memory, weights of 0, huge delays."""
    awkward = [
        DagInstance.from_lists([], num_gpus=2, release=[3], weight=[2]),
        DagInstance.from_lists([[None, 7]], job_of_task=[1], release=[4, 2], weight=[1, 0]),
        DagInstance.from_lists([[10], [2], [0], [3]], [(1, 2, 0), (2, 3, 0)], job_of_task=[0, 1, 1, 1], release=[0, 0]),
        DagInstance.from_lists([[2, 3]] * 4, task_memory=[2, 2, 2, 2], gpu_memory=[4, 4]),
        DagInstance.from_lists([[5, 0], [0, 0]], [(0, 1, 979)], bytes_per_tick=[[1.0, 1.0], [0.01, 1.0]]),
        DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3]),
    ]
    for instance in awkward:
        assert_optimum(name, instance, objective)


@every_model
def test_numbers_stay_small(name: str) -> None:
    """Tests that a link of which no schedule within the windows can make use leaves no coefficient of its delay."""
    instance = DagInstance.from_lists(
        [[5, 5], [5, 5], [5, 5]], [(0, 1, 4), (1, 2, 4)], bytes_per_tick=[[1.0, 1e-6], [1e-6, 1.0]]
    )
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=15)
    milp, _ = compile_milp(LINEAR_MODELS[name](instance, Objective.MAKESPAN, within).pyomo_model, has_start=False)
    assert np.abs(milp.entries).max() <= 20
    assert math.isclose(solved(LINEAR_MODELS[name](instance, Objective.MAKESPAN, within)).dual_bound or 0.0, 15.0)
