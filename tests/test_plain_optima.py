"""Tests exact methods and all bounds against optima that share no code with the packages, not even the reader."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from instances.dag.json import dag_instance_to_json
from instances.dag.objective import Objective
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.json import jobs_instance_to_json
from solvers.lower_bound import lower_bound
from solvers.problem import DAG, JOBS
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force_interference import tiny_interfering
from tests.plain_optima import optimum_of
from tests.tiny_instances import tiny_instance

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance
    from solvers.problem import Problem


def check(problem: Problem, instance: DagInstance | JobsInstance, text: str, methods: list[str]) -> None:
    """Compare two objectives of an instance; exact methods are given no bounds that would do their work."""
    for objective in problem.objectives:
        if objective == Objective.STAGE_SPAN:  # left-shifted schedules need not be optimal: see test_cp_sat_buffers
            continue
        best = optimum_of(json.loads(text), str(objective))
        for method in methods:
            result = solve(instance, method, objective=objective, bounds=[], seed=1, threads=1)
            status = Status.INFEASIBLE if best is None else Status.OPTIMAL
            assert (result.status, result.objective, result.lower_bound) == (status, best, best), method
        for bound in lower_bound(instance, objective=objective, methods=list(problem.bounds)):
            assert bound.contention != "none" or best is None or bound.value <= best, bound.method


def check_dag(number: int) -> None:
    """Check one of the tiny instances of all families."""
    instance = tiny_instance(number)
    check(DAG, instance, dag_instance_to_json(instance), ["cp-sat", "down-sets"])


def check_jobs(number: int) -> None:
    """Check jobs that run as long as alone for even numbers, and jobs that slow each other down for odd ones."""
    if number % 2:
        instance, methods = tiny_interfering(number // 2), ["co-location-search"]
    else:
        load = (0.5, 0.9, 1.5, 0.0)[number // 2 % 4]
        instance = generate_jobs("jobs-small", jobs=2 + number // 2 % 3, seed=number, load=load)
        methods = ["cp-sat", "milp-time-indexed"]
    check(JOBS, instance, jobs_instance_to_json(instance), methods)


@pytest.mark.parametrize("number", range(0, 300, 43))
def test_dag_instances(number: int) -> None:
    """Tests a sample of the DAG instances."""
    check_dag(number)


@pytest.mark.parametrize("number", [0, 1, 3, 6, 9])
def test_jobs_instances(number: int) -> None:
    """Tests a sample of the jobs instances."""
    check_jobs(number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(300))
def test_all_dag_instances(number: int) -> None:
    """Tests three hundred DAG instances."""
    check_dag(number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(100))
def test_all_jobs_instances(number: int) -> None:
    """Tests a hundred jobs instances, half of them with interference."""
    check_jobs(number)
