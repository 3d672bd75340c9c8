from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.jobs.virtual_machine import VirtualMachine


def completions(
    release: list[int], work: list[int], weight: list[int] | None = None, *, stops: tuple[int, ...] = ()
) -> dict[int, int]:
    """Return when each job completes on the machine, simulated in steps that end at arrivals and at `stops`."""
    machine = VirtualMachine(is_weighted=weight is not None)
    done: list[tuple[int, int]] = []
    for time in sorted({*release, *stops}):
        done += machine.advance(time)
        for job, arrival in enumerate(release):
            if arrival == time:
                machine.insert(job, work[job], arrival, 1 if weight is None else weight[job])
    done += machine.drain()
    assert done == sorted(done)
    assert machine.next_completion() is None
    return {job: time for time, job in done}


def test_preemption_by_hand() -> None:
    """Tests four jobs by hand: 7 from 0, 4 from 2, 1 from 4, 4 from 5 are done at 16, 7, 5 and 11."""
    assert completions([0, 2, 4, 5], [7, 4, 1, 4]) == {0: 16, 1: 7, 2: 5, 3: 11}


def test_worked_example() -> None:
    """Tests the worked example in 1/4 ticks: 48, 84 and 8 GPU-ticks from 0, 8 and 16 are done at 56, 140 and 24."""
    assert completions([0, 8, 16], [48, 84, 8]) == {0: 56, 1: 140, 2: 24}


def test_ties_go_to_the_earlier_arrival_then_the_lower_number() -> None:
    """Tests that an equal job preempts nobody: what remains of job 1 equals job 0, which arrives later."""
    assert completions([3, 0], [2, 5]) == {1: 5, 0: 7}
    assert completions([0, 0, 0], [2, 2, 2]) == {0: 2, 1: 4, 2: 6}


def test_weighted_rule_uses_the_original_work() -> None:
    """Tests that 1 of 10 left does not protect a job of ratio 1/10 from one of ratio 1/9."""
    assert completions([0, 9], [10, 9], [1, 1]) == {1: 18, 0: 19}
    assert completions([0, 9], [10, 9]) == {0: 10, 1: 19}


def test_fractions_of_equal_whole_parts() -> None:
    """Tests that 10/4 goes before 8/3, which has the same whole part, though it is more work."""
    assert completions([0, 0], [8, 10], [3, 4]) == {1: 10, 0: 18}


def test_numbers_of_any_size() -> None:
    """Tests that work beyond 64 bits is exact."""
    assert completions([0, 1], [10**30, 10**30 - 2]) == {1: 10**30 - 1, 0: 2 * 10**30 - 2}


def test_idle_time_and_next_completion() -> None:
    """Tests that the machine idles when it is empty, and says what completes next."""
    machine = VirtualMachine()
    assert machine.next_completion() is None
    assert machine.advance(5) == []
    assert machine.insert(7, 3, 5) == (3, 5, 7)
    assert machine.next_completion() == 8
    assert machine.advance(7) == []
    assert machine.first() == (1, 5, 7)
    assert machine.remaining(7) == 1
    assert machine.advance(8) == [(8, 7)]
    assert machine.remaining(7) == 0


def test_misuse_is_refused() -> None:
    """Tests that time runs forwards, and that a job comes once and with work."""
    machine = VirtualMachine()
    machine.advance(3)
    with pytest.raises(ValueError, match="expected at least 3, got 2"):
        machine.advance(2)
    machine.insert(0, 1, 3)
    with pytest.raises(ValueError, match="not here yet"):
        machine.insert(0, 1, 3)
    with pytest.raises(ValueError, match="at least 1 unit of work"):
        machine.insert(1, 0, 3)


def least_sum(release: list[int], work: list[int]) -> int:
    """Return the least sum of completions over all preemptive schedules: any released job may be served in any unit."""

    @functools.cache
    def best(time: int, left: tuple[int, ...]) -> int:
        if not any(left):
            return 0
        options = [job for job, rest in enumerate(left) if rest and release[job] <= time]
        values = []
        for job in options or [-1]:
            rest = tuple(units - (index == job) for index, units in enumerate(left))
            values.append((time + 1 if job >= 0 and rest[job] == 0 else 0) + best(time + 1, rest))
        return min(values)

    return best(0, tuple(work))


@given(jobs=st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=4))
def test_no_preemptive_schedule_is_better(jobs: list[tuple[int, int]]) -> None:
    """Tests that the sum of completions equals the least over all points of preemption."""
    release, work = [job[0] for job in jobs], [job[1] for job in jobs]
    assert sum(completions(release, work).values()) == least_sum(release, work)


@given(
    jobs=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=6),
    stops=st.lists(st.integers(0, 40), max_size=5),
    is_weighted=st.booleans(),
)
def test_unit_by_unit(jobs: list[tuple[int, int, int]], stops: list[int], is_weighted: bool) -> None:
    """Tests completions against service unit by unit, whatever the steps in which the clock advances."""
    release, work, weight = (list(column) for column in zip(*jobs, strict=True))
    left, done, time = list(work), {}, 0
    while any(left):
        options = [job for job in range(len(jobs)) if left[job] and release[job] <= time]
        if options:

            def rank(job: int) -> tuple[float, int, int]:
                return (-weight[job] / work[job] if is_weighted else left[job], release[job], job)

            job = min(options, key=rank)
            left[job] -= 1
            if left[job] == 0:
                done[job] = time + 1
        time += 1
    assert completions(release, work, weight if is_weighted else None, stops=tuple(stops)) == done


@given(jobs=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=5))
def test_weighted_rule_is_within_twice_the_optimum(jobs: list[tuple[int, int, int]]) -> None:
    """Tests the factor 2 of section 7: the optimum serves by some fixed order of all jobs, preemptively."""
    release, work, weight = (list(column) for column in zip(*jobs, strict=True))
    done = completions(release, work, weight)
    value = sum(weight[job] * time for job, time in done.items())
    assert value <= 2 * least_weighted(release, work, weight)


def least_weighted(release: list[int], work: list[int], weight: list[int]) -> int:
    """Return the least weighted sum of completions over preemptive service by fixed orders."""
    values = []
    for order in itertools.permutations(range(len(work))):
        left, time, value = list(work), 0, 0
        while any(left):
            options = [job for job in order if left[job] and release[job] <= time]
            if options:
                left[options[0]] -= 1
                value += weight[options[0]] * (time + 1) if left[options[0]] == 0 else 0
            time += 1
        values.append(value)
    return min(values)
