"""Tests of the time-indexed MILP."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.milp import time_indexed
from formulations.dag.milp.time_indexed import TimeIndexedModel
from formulations.dag.probing.windows import windows
from formulations.model_too_large import ModelTooLargeError
from heuristics.dag.list_scheduling import heft, random_placement
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.backends.highs import compile_milp
from solvers.lower_bound import lower_bound
from solvers.run.outcome import Status, Termination
from solvers.solve import solve
from tests.brute_force import optimum
from tests.formulations.dag.milp.linear_models import solved, violation
from tests.strategies import dag_instances

OBJECTIVES = st.sampled_from(FINISH_OBJECTIVES)
some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def model_of(instance: DagInstance, objective: Objective, at_most: int | None) -> TimeIndexedModel | None:
    """Return the model, None where the windows are empty."""
    within = windows(instance, objective, lower_bound=0, objective_at_most=at_most)
    return None if within.is_empty else TimeIndexedModel(instance, objective, within)


def assert_optimum(instance: DagInstance, objective: Objective, at_most: int | None = None) -> None:
    """Check that the model's own optimum is that of brute force, and its schedule a schedule of that objective."""
    best, model = optimum(instance, objective), model_of(instance, objective, at_most)
    if model is None:
        assert best is None
        return
    answer = solved(model)
    if best is None:
        assert answer.is_infeasible
        return
    assert answer.dual_bound is not None
    assert best - 1.0 - 1e-3 < answer.dual_bound <= best + 1e-3
    schedule = model.schedule()
    assert verify_dag_schedule(instance, schedule) == []
    assert objective_value(instance, schedule, objective) == best


def test_size_of_the_heft_example(heft_example: DagInstance) -> None:
    """Tests columns and rows for makespans up to 80: a column per task, GPU and tick of the windows, and C."""
    model = model_of(heft_example, Objective.MAKESPAN, 80)
    assert model is not None
    milp, columns = compile_milp(model.pyomo_model, has_start=False)
    assert len(columns) == model.grid.num_starts + 1 == 528
    assert int(milp.is_integer.sum()) == 527
    assert len(milp.entries) < 6_000  # cumulative columns keep rows short


def test_relaxation_of_the_heft_example(heft_example: DagInstance) -> None:
    """Tests that the linear relaxation for makespans up to 80 proves 70, beyond the 63 of paths and loads."""
    model = model_of(heft_example, Objective.MAKESPAN, 80)
    assert model is not None
    for variable in model.pyomo_model.started.values():
        variable.domain = pyo.UnitInterval
    assert solved(model).solution is not None
    assert 69 < model.pyomo_model.completion[0].value <= 70


def test_transfer_rows_by_hand() -> None:
    """Tests S[B,1,t] <= S[A,0,t-3-4] + S[A,1,t-2]: durations 3 and 2, a transfer of 4 ticks; none where A has started.

    Within 15 ticks A starts on GPU 0 by 5, as 6 ticks to C follow and C's own, and on GPU 1 by 11; B by 14.
    """
    instance = DagInstance.from_lists([[3, 2], [None, 1], [None, 1]], [(0, 1, 4), (0, 2, 6)])
    model = model_of(instance, Objective.MAKESPAN, 15)
    assert model is not None
    assert model.grid.last.tolist() == [[5, 11], [-1, 14], [-1, 14]]
    rows = {str(row.expr) for row in model.pyomo_model.transfer.values()}
    assert "started[1,1,2]  <=  started[0,1,0]" in rows
    assert "started[1,1,9]  <=  started[0,0,2] + started[0,1,7]" in rows
    assert "started[1,1,12]  <=  started[0,0,5] + started[0,1,10]" in rows
    assert not any(row.startswith("started[1,1,13]") for row in rows)


@given(instance=dag_instances(max_tasks=5), objective=OBJECTIVES)
@some
def test_optimum_is_that_of_brute_force(instance: DagInstance, objective: Objective) -> None:
    """Tests the optimum of small instances within HEFT's objective, or within the horizon where HEFT has none."""
    schedule = heft(instance)
    assert_optimum(instance, objective, None if schedule is None else objective_value(instance, schedule, objective))


@pytest.mark.slow
@given(instance=dag_instances(max_tasks=7, max_jobs=3), objective=OBJECTIVES)
@settings(some, max_examples=200)
def test_optimum_is_that_of_brute_force_often(instance: DagInstance, objective: Objective) -> None:
    """Tests the same on more and larger instances."""
    schedule = heft(instance)
    assert_optimum(instance, objective, None if schedule is None else objective_value(instance, schedule, objective))


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_awkward_instances(objective: Objective) -> None:
    """Tests no tasks, one task, a task of duration 0 inside another one, full memory, weights of 0, no schedule."""
    awkward = [
        DagInstance.from_lists([], num_gpus=2, release=[3], weight=[2]),
        DagInstance.from_lists([[None, 7]], job_of_task=[1], release=[4, 2], weight=[1, 0]),
        DagInstance.from_lists([[10], [2], [0], [3]], [(1, 2, 0), (2, 3, 0)], job_of_task=[0, 1, 1, 1], release=[0, 0]),
        DagInstance.from_lists([[2, 3]] * 4, task_memory=[2, 2, 2, 2], gpu_memory=[4, 4]),
        DagInstance.from_lists([[5, 0], [0, 0]], [(0, 1, 9)], bytes_per_tick=[[1.0, 1.0], [0.3, 1.0]]),
        DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3]),
        DagInstance.from_lists([[2, 2], [3, None]], [(0, 1, 0)], job_of_task=[0, 1], release=[1, 9], weight=[3, 1]),
    ]
    for instance in awkward:
        assert_optimum(instance, objective)


@given(instance=dag_instances(max_tasks=7), objective=OBJECTIVES, seed=st.integers(0, 99))
@some
def test_any_schedule_is_a_start(instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that the values set from schedules of HEFT and at random satisfy every row and cost what they should."""
    for schedule in (heft(instance), random_placement(instance, np.random.default_rng(seed))):
        if schedule is not None:
            value = objective_value(instance, schedule, objective)
            model = model_of(instance, objective, value)
            assert model is not None
            assert model.set_start(schedule)
            milp, _ = compile_milp(model.pyomo_model, has_start=True)
            assert violation(milp) <= 1e-9
            assert milp.cost @ milp.start + milp.offset == value
            again = model.schedule()
            assert again.gpu.tolist() == schedule.gpu.tolist()
            assert (again.start <= schedule.start).all()


def test_schedule_outside_the_windows_is_no_start(example_e: DagInstance) -> None:
    """Tests that a schedule that ends too late, or uses a pair that is out, sets no variable at all."""
    model = model_of(example_e, Objective.MAKESPAN, 15)
    assert model is not None
    assert not model.set_start(DagSchedule(gpu=[0, 0, 0, 0, 0], start=[0, 4, 7, 10, 18]))
    assert not model.set_start(DagSchedule(gpu=[1, 0, 0, 1, 0], start=[0, 20, 30, 50, 60]))
    assert all(variable.value is None for variable in model.pyomo_model.started.values())


def test_too_many_ticks_are_refused(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the limit of triples, and that of the horizon, refuse an instance before anything is built."""
    long = DagInstance.from_lists([[20_001]])
    with pytest.raises(ModelTooLargeError, match="expected at most 20000 triples of task, GPU and tick, got 20003"):
        model_of(DagInstance.from_lists([[20_000], [1]]), Objective.MAKESPAN, 2 * 20_000)
    assert model_of(long, Objective.MAKESPAN, 20_001) is not None  # one start only
    late = DagInstance.from_lists([[1]], release=[600_000])
    with pytest.raises(ModelTooLargeError, match="horizon"):
        model_of(late, Objective.MAKESPAN, 600_001)
    monkeypatch.setattr(time_indexed, "MAX_STARTS", 0)
    result = solve(example_e, "milp-time-indexed", bounds=[], threads=1)
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.FAILED)
    reason = "tasks: expected at most 0 triples of task, GPU and tick, got "
    assert str(result.failure).startswith(reason)
    assert f"failed ({reason}" in result.summary()["termination"]
    assert str(result.to_dict()["failure"]).startswith(reason)
    table = lower_bound(generate("layered", tasks=12, seed=0), methods=["area", "milp-time-indexed"], threads=1)
    assert f"milp-time-indexed failed: {reason}" in " ".join(table.to_text().split())
    assert list(table.to_dict()["failures"]) == ["milp-time-indexed"]


@pytest.mark.parametrize("worker", [False, True])
def test_method_proves_the_optimum(example_e: DagInstance, worker: bool) -> None:
    """Tests the method by name, in this process and in a worker, for both objectives."""
    for objective in FINISH_OBJECTIVES:
        result = solve(example_e, "milp-time-indexed", objective=objective, bounds=[], threads=1, worker=worker)
        assert (result.status, result.objective) == (Status.OPTIMAL, optimum(example_e, objective))
        assert result.bound is not None
        assert result.bound.confirmed_by is not None
