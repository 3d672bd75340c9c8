"""Tests that numbers far beyond everyday ticks stay exact; each once went wrong."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from solvers.run.outcome import Status, Termination
from solvers.solve import solve


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_weighted_completion_beyond_32_bits(threads: int) -> None:
    """Tests that CP-SAT's bound is read as an integer: as a float it was one above this optimum."""
    instance = DagInstance.from_lists(
        [[87625], [21546], [72043]],
        [(0, 2, 17)],
        job_of_task=[1, 0, 2],
        release=[18474, 19692, 29751],
        weight=[7, 100000, 100000],
    )
    result = solve(instance, "cp-sat", objective="weighted_completion", threads=threads, bounds=[])
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 28669106342, 28669106342)
    assert (result.trace[-1].objective, result.trace[-1].lower_bound) == (28669106342, 28669106342)


def test_memory_beyond_exact_sums_is_refused() -> None:
    """Tests that the memory of all tasks together stays below 2**53 bytes, so that no sum can pass a sentinel."""
    with pytest.raises(ValueError, match=r"^tasks: expected at most 2\*\*53 bytes of memory together, got "):
        DagInstance.from_lists([[1]] * 3, task_memory=[2**52] * 3)


def test_milp_leaves_long_horizons_alone() -> None:
    """Tests that the MILP does not try where HiGHS's tolerance could switch rows off, and claims nothing."""
    instance = DagInstance.from_lists([[10**6, 10**6]] * 3)
    result = solve(instance, "milp-disjunctive", bounds=[], threads=1)
    assert result.termination is Termination.FAILED
    assert (result.objective, result.lower_bound) == (2 * 10**6, 0)


def test_transfers_without_time_for_them_get_no_coefficient() -> None:
    """Tests an instance whose slow link once made HiGHS prove a bound a million times above the optimum."""
    instance = DagInstance.from_lists(
        [[5, 0], [0, 0], [5, 0]],
        [(2, 0, 979), (1, 0, 875)],
        latency=[[0, 1], [2, 0]],
        bytes_per_tick=[[1.0, 1.0], [1e-6, 1.0]],
        release=[5, 5, 0],
        job_of_task=[0, 1, 2],
    )
    exact = solve(instance, "cp-sat", threads=1)
    result = solve(instance, "milp-disjunctive", bounds=[], threads=1)
    assert exact.status is Status.OPTIMAL
    assert result.objective is not None
    assert result.lower_bound is not None
    assert exact.objective is not None
    assert result.lower_bound <= exact.objective <= result.objective


def test_copies_stay_read_only() -> None:
    """Tests that deep copies and pickles of instances and schedules cannot be written to, and keep their hash."""
    instance = DagInstance.from_lists([[1, 2], [3, 4]], [(0, 1, 5)])
    schedule = DagSchedule(gpu=[0, 0], start=[0, 1], instance=instance)
    for again in (copy.deepcopy(instance), pickle.loads(pickle.dumps(instance))):
        assert again.sha256 == instance.sha256
        with pytest.raises(ValueError, match="read-only"):
            again.durations[0, 0] = 9
    for other in (copy.deepcopy(schedule), pickle.loads(pickle.dumps(schedule))):
        assert np.array_equal(other.start, schedule.start)
        with pytest.raises(ValueError, match="read-only"):
            other.start[0] = 9


@pytest.mark.parametrize("name", ["\ud83d\ude00", "\udc80"])
def test_text_that_no_file_can_hold_is_refused(name: str) -> None:
    """Tests that lone surrogates, which JSON would join to another text, are no names."""
    with pytest.raises(ValueError, match=r"^tasks\[0\].name: expected text without lone surrogates"):
        DagInstance.from_lists([[1]], task_names=[name])
