"""Tests that every exact method proves what enumeration finds, on generated instances of all families."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from instances.dag.objective import FINISH_OBJECTIVES, Objective
from solvers.methods import METHODS
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force import optimum
from tests.tiny_instances import tiny_instance

EXACT = [name for name, method in METHODS.items() if method.kind == "exact"]
COUNT = 300
SAMPLE = range(0, COUNT, 46)
SLOW = {"milp-time-indexed": (276,)}
"""Instances of the sample that take a method several seconds; the longer check has them."""

MAX_TASKS = {"nip": 6}
"""Spatial branch and bound is slow; up to here it takes about a second."""


def assert_agrees(number: int, method: str) -> None:
    """Check both objectives of one instance; the method is given no bounds that would do its work."""
    instance = tiny_instance(number)
    if instance.num_tasks > MAX_TASKS.get(method, 10):
        return
    if method == "nip":
        pytest.importorskip("pyscipopt", reason="needs the extra 'scip'")
    for objective in FINISH_OBJECTIVES:
        best = _optimum(number, objective)
        result = solve(instance, method, objective=objective, bounds=[], seed=1, threads=1)
        status = Status.INFEASIBLE if best is None else Status.OPTIMAL
        assert (result.status, result.objective, result.lower_bound) == (status, best, best), instance.name


@cache
def _optimum(number: int, objective: Objective) -> int | None:
    """Enumerate once for all methods."""
    return optimum(tiny_instance(number), objective)


@pytest.mark.slow
def test_the_instances_have_everything() -> None:
    """Tests that the instances are what they are meant to be."""
    instances = [tiny_instance(number) for number in range(COUNT)]
    assert {instance.num_tasks for instance in instances} == set(range(4, 11))
    assert {instance.num_gpus for instance in instances} == {2, 3, 4}
    families = Counter(instance.name.split("-", 1)[1].rsplit("-n", 1)[0] for instance in instances)
    assert len(families) >= 17
    assert sum(bool((instance.gpu_memory >= 0).any()) for instance in instances) >= 90
    assert sum(not instance.allowed.all() for instance in instances) >= 50
    assert sum(bool((instance.durations == 0).any()) for instance in instances) >= 50
    assert sum(bool((instance.edge_bytes == 0).any()) for instance in instances) >= 40
    assert sum(instance.num_jobs > 1 and bool(instance.release.any()) for instance in instances) >= 120


@pytest.mark.parametrize(
    ("number", "method"),
    [(number, method) for number in SAMPLE for method in EXACT if number not in SLOW.get(method, ())],
)
def test_exact_method_agrees_with_enumeration(number: int, method: str) -> None:
    """Tests a sample of the instances with every exact method."""
    assert_agrees(number, method)


@pytest.mark.slow
@pytest.mark.parametrize("method", EXACT)
def test_exact_method_agrees_with_enumeration_on_all(method: str) -> None:
    """Tests all three hundred."""
    for number in range(COUNT):
        assert_agrees(number, method)
