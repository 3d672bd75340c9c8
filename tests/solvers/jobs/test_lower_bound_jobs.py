"""Tests of tables of bounds of jobs instances."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from instances import DagInstance
from instances.generators.jobs import generate_jobs
from instances.jobs import JobsObjective
from solvers import lower_bound, solve
from solvers.jobs.jobs_methods import JOBS_METHODS
from solvers.jobs.lower_bound_jobs import JOBS_BOUND_METHODS, default_bounds, lower_bound_jobs
from studies.bound_comparison import BoundComparison
from tests.check_latex import check_latex
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    from instances.jobs import JobsInstance


def test_worked_example() -> None:
    """Tests the values of the reference by name, in the order asked for, then the exact method."""
    names = ["release-plus-duration", "virtual-srpt", "mean-busy-time", "cp-sat"]
    table = lower_bound_jobs(worked_example(), methods=names, threads=1, time_limit=60)
    assert [(bound.method, bound.value) for bound in table] == list(zip(names, [64, 54, 66, 98], strict=True))
    assert table.best is not None
    assert (table.best.method, table.best.is_optimum) == ("cp-sat", True)
    assert table.caption() == "best: 98, the optimum"


@settings(deadline=None, max_examples=15)
@given(instance=jobs_instances(max_jobs=3, max_gpus=2, max_servers=2))
def test_every_default_bound_is_below_a_schedule(instance: JobsInstance) -> None:
    """Tests that no default bound exceeds the schedule of a policy, for both objectives."""
    for objective in JobsObjective:
        table = lower_bound_jobs(instance, objective=objective)
        assert [bound.method for bound in table] == default_bounds(instance)
        schedule = solve(instance, "wcs-duration", objective=objective, bounds=[])
        assert schedule.objective is not None
        assert all(0 <= bound.value <= schedule.objective for bound in table)


@pytest.mark.parametrize("name", ["heft", "fifo", "area", "srpt2"])
def test_others_are_no_bounds(name: str) -> None:
    """Tests that a policy, a bound of DAGs and what does not exist are refused."""
    with pytest.raises(ValueError, match=rf"^methods: expected some of virtual-srpt, .*, cp-sat, .*, got '{name}'"):
        lower_bound_jobs(worked_example(), methods=[name])


def test_every_registered_bound_and_method_can_be_imported() -> None:
    """Tests that every path leads to a function."""
    for bound in JOBS_BOUND_METHODS.values():
        module, _, function = bound.path.partition(":")
        assert callable(getattr(__import__(module, fromlist=[function]), function))
        assert bound.proof
    for method in JOBS_METHODS.values():
        assert callable(method.resolve())
        assert method.summary
        assert method.source


def test_table_states_the_sizes_of_jobs() -> None:
    """Tests that CSV, frame and LaTeX have jobs, servers and GPUs where tables of DAGs have tasks and edges."""
    instance = worked_example()
    table = lower_bound_jobs(instance)
    (first, *_) = csv.DictReader(io.StringIO(table.to_csv()))
    assert (first["num_jobs"], first["num_servers"], first["num_gpus"]) == ("3", "2", "4")
    assert "num_tasks" not in first
    assert table.to_frame()["num_jobs"].tolist() == [3] * len(table)
    assert table.to_dict()["num_servers"] == 2
    head, row = check_latex(BoundComparison([table]).to_latex())
    assert head[:4] == ["instance", "jobs", "servers", "GPUs"]
    assert row[:4] == ["worked", "3", "2", "4"]


def test_problems_are_not_mixed_in_a_table() -> None:
    """Tests that a table of bounds of both problems is refused, although they share an objective."""
    tables = [
        lower_bound(DagInstance.from_lists([[3]]), objective="weighted_completion"),
        lower_bound_jobs(worked_example(), objective="weighted_completion"),
    ]
    with pytest.raises(ValueError, match=r"^tables: expected instances of one problem, got DAGs of tasks and jobs\.$"):
        BoundComparison(tables)


def test_many_jobs_are_bounded() -> None:
    """Tests that the default bounds of two thousand jobs exist and order as they must."""
    values = {bound.method: bound.value for bound in lower_bound_jobs(generate_jobs("jobs-poisson", jobs=2000, seed=1))}
    assert values["rank-wise"] >= max(values["virtual-srpt"], values["release-plus-duration"])
    assert values["sets-of-kinds"] >= max(values.values())
