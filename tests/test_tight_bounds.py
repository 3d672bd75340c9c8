"""Tests that no bound is above brute force where memory is tight, GPUs are forbidden, and some GPUs are equal."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from formulations.dag.bounds.certificates import bound_certificate
from instances.dag.instance import NO_LIMIT, DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from solvers.bound_methods import BOUND_METHODS
from solvers.lower_bound import lower_bound
from tests.brute_force import optimum

SIMPLE = [name for name, bound in BOUND_METHODS.items() if not bound.needs_search and not bound.knows_buffers]
"""Bounds that are computed for every instance; those that a search proves come on top for some."""


def tight_instance(number: int) -> DagInstance:
    """Return an instance of 3 to 6 tasks on 2 to 4 GPUs, some of them equal, that has a schedule; the number decides.

    A placement is drawn first; every GPU then has the memory that it takes and little more, or no limit.
    """
    rng = np.random.default_rng([20, number])
    n, m = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    like = rng.integers(0, max(1, m - 1), size=m)  # GPUs of one number are equal
    durations = rng.integers(0, 9, size=(n, m))[:, like]
    placement = rng.integers(0, m, size=n)
    forbidden = (rng.random((n, m)) < 0.2)[:, like]
    forbidden &= like != like[placement][:, None]  # the drawn placement stays allowed
    memory = rng.integers(0, 9, size=n)
    room = np.bincount(placement, weights=memory, minlength=m).astype(np.int64) + rng.integers(0, 3, size=m)
    limits = np.array([room[like == kind].max() for kind in like])
    limits[(rng.random(m) < 0.15)[like]] = NO_LIMIT
    latency = rng.integers(0, 7, size=(m, m))[like][:, like]
    edges = [(i, j, int(rng.integers(0, 12))) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.4]
    jobs = int(rng.integers(1, 4))
    return DagInstance.from_lists(
        [[None if no else ticks for ticks, no in pairs] for pairs in map(zip, durations.tolist(), forbidden.tolist())],
        edges=edges,
        task_memory=memory.tolist(),
        gpu_memory=[None if limit == NO_LIMIT else int(limit) for limit in limits],
        latency=np.where(np.eye(m, dtype=bool), 0, latency).tolist(),
        job_of_task=rng.integers(0, jobs, size=n).tolist(),
        release=rng.integers(0, 6, size=jobs).tolist(),
        weight=rng.integers(0, 5, size=jobs).tolist(),
    )


def above_brute_force(number: int, *, with_search: bool) -> list[str]:
    """Return the bounds of an instance that are above its optimum, also that of a certificate."""
    instance, found = tight_instance(number), []
    names = [
        *SIMPLE,
        "branched-paths",
        "branched-classes",
        "branched-windows",
        *(["memory-refutation"] if with_search else []),
    ]
    for objective in FINISH_OBJECTIVES:
        best = optimum(instance, objective)
        assert best is not None
        values = {each.method: each.value for each in lower_bound(instance, objective=objective, methods=names)}
        if with_search:
            values["certificate"] = bound_certificate(instance, Objective(objective), most_cases=30).bound
        found += [f"{number} {objective} {name}: {value} > {best}" for name, value in values.items() if value > best]
    return found


def test_no_bound_is_above_brute_force() -> None:
    """Tests 12 instances, every sixth with bounds that search."""
    assert [line for number in range(12) for line in above_brute_force(number, with_search=number % 6 == 0)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2_000, 200))
def test_no_bound_is_above_brute_force_on_2000(first: int) -> None:
    """Tests the same on 2,000 instances, all with bounds that search."""
    assert [line for number in range(first, first + 200) for line in above_brute_force(number, with_search=True)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 20_000, 1_000))
def test_no_bound_is_above_brute_force_tonight(first: int) -> None:
    """Tests 20,000 instances that no other day has; a failure names the number, which makes the instance again."""
    begin = (1 + datetime.now(UTC).date().toordinal()) * 20_000 + first
    numbers = range(begin, begin + 1_000)
    assert [line for number in numbers for line in above_brute_force(number, with_search=number % 10 == 0)] == []
