"""Tests of the time-indexed MILP of the jobs problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from pyomo.core.expr.visitor import identify_variables

from formulations.jobs.left_shift import latest_completions, list_schedule
from formulations.jobs.milp import time_indexed
from formulations.jobs.milp.time_indexed import TimeIndexedJobsModel
from formulations.jobs.pattern_table import PatternSchedule, server_patterns
from formulations.model_too_large import ModelTooLargeError
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


def _model(instance: JobsInstance) -> tuple[TimeIndexedJobsModel, PatternSchedule, int]:
    """Return the model within the windows of a list schedule, the schedule and its objective."""
    table, weights, release = server_patterns(instance), instance.weight.tolist(), instance.release.tolist()
    made = list_schedule(table, release, weights)
    value = made.objective(table, weights)
    latest = latest_completions(table, release, weights, at_most=value)
    return TimeIndexedJobsModel(instance, table, weights, latest), made, value


def _broken_rows(model: pyo.ConcreteModel) -> int:
    """Return how many rows the values of the variables violate."""
    rows = model.component_data_objects(pyo.Constraint, active=True)
    return sum(1 for row in rows if row.slack() < -1e-9)


@settings(deadline=None, max_examples=20)
@given(instance=jobs_instances(max_jobs=3, max_servers=2))
def test_schedule_is_a_point_with_its_objective(instance: JobsInstance) -> None:
    """Tests that a list schedule satisfies all rows, costs its objective, and is read back as it was."""
    model, made, value = _model(instance)
    assert model.set_start(made)
    assert _broken_rows(model.pyomo_model) == 0
    assert round(pyo.value(model.pyomo_model.cost)) == value
    assert model.schedule() == made


def test_overlap_breaks_a_row() -> None:
    """Tests that two jobs on the same GPUs at once are no point of the worked example."""
    model, made, _ = _model(worked_example())
    clash = PatternSchedule(start=(4, 2, 4), pattern=(0, 0, 0))  # jobs 0 and 2 on both fast GPUs, job 1 on one
    if not model.set_start(clash):
        pytest.fail("expected these starts among the columns")
    assert _broken_rows(model.pyomo_model) > 0
    late = PatternSchedule(start=(1, *made.start[1:]), pattern=made.pattern)
    assert not model.set_start(late)  # nothing starts at tick 1 once it is shifted to the left


def test_every_variable_is_binary_and_in_some_row() -> None:
    """Tests that the model holds binaries only, each in a row."""
    model, _, _ = _model(worked_example())
    in_rows = {
        id(variable)
        for row in model.pyomo_model.component_data_objects(pyo.Constraint, active=True)
        for variable in identify_variables(row.body)
    }
    assert all(variable.is_binary() for variable in model.pyomo_model.starts.values())
    assert {id(variable) for variable in model.pyomo_model.starts.values()} <= in_rows


def test_models_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that too many columns, or too long a horizon, are refused before a model is built."""
    monkeypatch.setattr(time_indexed, "MAX_STARTS", 5)
    with pytest.raises(ModelTooLargeError, match="triples of start"):
        _model(worked_example())
    monkeypatch.setattr(time_indexed, "MAX_TICKS", 5)
    with pytest.raises(ModelTooLargeError, match="horizon: expected at most 5"):
        _model(worked_example())
