"""Tests of the preemptive machine."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from formulations.preemptive_machine import served


def test_shortest_remaining_first_by_hand() -> None:
    """Tests that SRPT interrupts where a shorter job arrives, and only there: computed by hand."""
    # 0: 7 from 0; 1: 3 at 2 (5 left of 0: interrupt); 2: 3 at 3 (2 left of 1: wait); 3: 1 at 20 after idling.
    found = list(served([0, 2, 3, 20], [7, 3, 3, 1], lambda _, left: left))
    assert found == [(0, 0, 2), (1, 2, 3), (1, 3, 5), (2, 5, 8), (0, 8, 13), (3, 20, 21)]


@given(
    jobs=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3)), min_size=1, max_size=3),
)
def test_srpt_is_the_least_over_all_preemption_points(jobs: list[tuple[int, int]]) -> None:
    """Tests that the sum of completions under SRPT is the least of all ways to serve one job per tick."""
    release, length = [r for r, _ in jobs], [p for _, p in jobs]
    times = dict.fromkeys(range(len(jobs)), 0)
    for job, _, until in served(release, length, lambda _, left: left):
        times[job] = until
    assert sum(times.values()) == _least_sum(tuple(release), tuple(length), 0)


def _least_sum(release: tuple[int, ...], left: tuple[int, ...], tick: int) -> int:
    """Return the least sum of completions from a tick on, over all choices in every tick; idle where none is there."""
    open_jobs = [job for job, rest in enumerate(left) if rest]
    if not open_jobs:
        return 0
    there = [job for job in open_jobs if release[job] <= tick]
    if not there:
        return _least_sum(release, left, min(release[job] for job in open_jobs))
    best = []
    for job in there:
        rest = tuple(own - (other == job) for other, own in enumerate(left))
        best.append((tick + 1 if rest[job] == 0 else 0) + _least_sum(release, rest, tick + 1))
    return min(best)


@given(
    jobs=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=3),
)
def test_fixed_ranks_make_weighted_mean_busy_times_least(jobs: list[tuple[int, int, int]]) -> None:
    """Tests that serving the largest weight over length minimises the weighted sum of mean busy times."""
    release, length = [r for r, _, _ in jobs], [p for _, p, _ in jobs]
    ratio = [w / p for _, p, w in jobs]
    value = 0.0
    for job, begin, until in served(release, length, lambda job, _: -ratio[job]):
        value += ratio[job] * (until * until - begin * begin) / 2
    slots = range(max(release) + sum(length))
    order = [job for job, p in enumerate(length) for _ in range(p)]
    best = (
        min(
            sum(ratio[job] * (slot + 0.5) for job, slot in zip(order, chosen, strict=True))
            for chosen in itertools.permutations(slots, len(order))
            if all(slot >= release[job] for job, slot in zip(order, chosen, strict=True))
        )
        if len(order) <= 5 and len(slots) <= 8
        else value
    )
    assert abs(value - best) < 1e-9
