"""Tests that bounds obey the time that is left, take names, and are never wrong because they were cut short."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import pytest

from instances.dag.contention import Contention
from instances.generators.jobs.generate import generate_jobs
from solvers.bound_methods import BOUND_METHODS, JOBS_BOUND_METHODS
from tests.brute_force import optimum
from tests.brute_force_jobs import optimum_jobs
from tests.tiny_instances import tiny_instance

if TYPE_CHECKING:
    from collections.abc import Callable

DAG = tiny_instance(15)
"""Several jobs with releases and weights, and memory limits."""

JOBS = generate_jobs("jobs-small", jobs=4, seed=3, load=1.5)
NEVER = 10**9
CASES = [
    (name, problem, objective)
    for problem, methods, objectives in (
        ("dag", BOUND_METHODS, ("makespan", "weighted_completion")),
        ("jobs", JOBS_BOUND_METHODS, ("total_completion", "weighted_completion")),
    )
    for name in methods
    for objective in objectives
]


def left_for(looks: int) -> Callable[[], float]:
    """Return a clock on which the time is over after so many looks."""
    counter = itertools.count()
    return lambda: math.inf if next(counter) < looks else 0.0


@pytest.mark.parametrize(("name", "problem", "objective"), CASES)
def test_cut_short_bounds_are_never_wrong(name: str, problem: str, objective: str) -> None:
    """Tests every bound with the time over at once, after a few looks at the clock, and never."""
    instance = {"dag": DAG, "jobs": JOBS}[problem]
    method = {"dag": BOUND_METHODS, "jobs": JOBS_BOUND_METHODS}[problem][name]
    best = optimum(DAG, objective) if problem == "dag" else optimum_jobs(JOBS, objective)
    values = []
    for looks in (0, 1, 2, 5, 20, 80, NEVER):
        bound = method.bound(name, instance, objective, Contention.NONE, left_for(looks))
        values.append(bound.value)
        if looks in (0, NEVER):
            assert bound.proof.endswith(", cut short") == (method.is_limited and looks == 0)
    assert values[-1] == method.bound(name, instance, objective, Contention.NONE).value
    assert all(0 <= value <= best for value in values)


@pytest.mark.parametrize(("name", "problem", "objective"), CASES)
def test_objective_may_be_a_name(name: str, problem: str, objective: str) -> None:
    """Tests that no bound takes a misspelt objective for another one."""
    method = {"dag": BOUND_METHODS, "jobs": JOBS_BOUND_METHODS}[problem][name]
    with pytest.raises(ValueError, match="objective: expected one of "):
        method.bound(name, {"dag": DAG, "jobs": JOBS}[problem], objective.upper(), Contention.NONE)
