"""Tests that brute force, CP-SAT and the MILP prove the same optima of tiny jobs instances, above every bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from formulations.jobs.bounds.single_machine import (
    jobs_mean_busy_time,
    rank_wise,
    release_plus_duration,
    sets_of_kinds,
    virtual_srpt,
)
from formulations.jobs.bounds.time_indexed import interval_indexed, jobs_time_indexed, portfolio
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.verify import verify_jobs_schedule
from solvers.backends.cp_sat_jobs import cp_sat_jobs
from solvers.backends.milp_jobs import milp_jobs
from tests.brute_force_jobs import optimum_jobs
from tests.jobs_strategies import jobs_instances, worked_example
from tests.jobs_twins import twin_instances
from tests.runs import run_with

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance

BOUNDS = (
    virtual_srpt,
    release_plus_duration,
    jobs_mean_busy_time,
    rank_wise,
    sets_of_kinds,
    interval_indexed,
    jobs_time_indexed,
    portfolio,
)


def check_agreement(instance: JobsInstance, objective: JobsObjective, *, milp: bool = True) -> int:
    """Hold both exact methods and every bound against enumeration, and return the optimum."""
    best = optimum_jobs(instance, objective)
    for bound in BOUNDS:
        assert bound(instance, objective) <= best, bound.__name__
    for method in (cp_sat_jobs, milp_jobs) if milp else (cp_sat_jobs,):
        outcome = method(instance, objective, run_with())
        assert outcome.schedule is not None
        assert verify_jobs_schedule(instance, outcome.schedule) == []
        found = (jobs_objective_value(instance, outcome.schedule, objective), outcome.lower_bound)
        assert found == (best, best), method.__name__
    return best


def generated(number: int) -> tuple[JobsInstance, JobsObjective]:
    """Return one of many tiny instances: up to 5 jobs on 2 servers at loads from light to heavy."""
    load = (0.5, 0.9, 1.5, 0.0)[number % 4]
    instance = generate_jobs("jobs-small", jobs=2 + number % 4, seed=number, load=load)
    return instance, list(JobsObjective)[(number // 4) % 2]


def test_worked_example() -> None:
    """Tests that the optimum of the worked example is 98 by all three ways."""
    assert check_agreement(worked_example(), JobsObjective.TOTAL_COMPLETION) == 98


@pytest.mark.parametrize("number", [*range(8), 37])
def test_generated_instances(number: int) -> None:
    """Tests agreement on a sample of the generated instances; OR-Tools 9.15 looks for symmetry in 37 and fails."""
    check_agreement(*generated(number))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8, 208))
def test_many_generated_instances(number: int) -> None:
    """Tests agreement on 200 generated instances."""
    check_agreement(*generated(number))


@settings(deadline=None, max_examples=15)
@given(instance=jobs_instances(max_jobs=4, max_servers=2))
def test_odd_instances(instance: JobsInstance) -> None:
    """Tests agreement on instances with odd bandwidths, forbidden kinds and weights."""
    check_agreement(instance, JobsObjective.WEIGHTED_COMPLETION, milp=instance.num_jobs <= 2)


@settings(deadline=None, max_examples=25)
@given(instance=twin_instances())
def test_like_servers_and_jobs(instance: JobsInstance) -> None:
    """Tests that no optimum is lost with the symmetry of like servers and like jobs."""
    check_agreement(instance, JobsObjective.WEIGHTED_COMPLETION, milp=False)
