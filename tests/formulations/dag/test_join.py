"""Tests of the earliest start behind a join."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.join import INFINITE, earliest_start

ticks = st.one_of(st.integers(0, 20), st.just(INFINITE))
predecessor = st.tuples(ticks, ticks, st.integers(0, 9), st.integers(0, 4))


def over_all_splits(predecessors: list[tuple[int, int, int, int]], room: int) -> int:
    """Return the least start over every choice of local predecessors, each on its own merits."""
    best = INFINITE
    for local in product([False, True], repeat=len(predecessors)):
        here = sorted(one[1:] for one, is_local in zip(predecessors, local, strict=True) if is_local)
        arrival = max((one[0] for one, is_local in zip(predecessors, local, strict=True) if not is_local), default=0)
        if arrival >= INFINITE or any(head >= INFINITE for head, _, _ in here) or sum(one[2] for one in here) > room:
            continue
        end = 0
        for head, duration, _ in here:
            end = max(end, head) + duration
        best = min(best, max(arrival, end))
    return best


@given(predecessors=st.lists(predecessor, max_size=6), room=st.one_of(st.integers(0, 12), st.just(INFINITE)))
@settings(max_examples=300, deadline=None)
def test_least_over_all_splits(predecessors: list[tuple[int, int, int, int]], room: int) -> None:
    """Tests that the few splits that are tried contain the best of all, with memory and without."""
    columns = [np.array(column, dtype=np.int64) for column in zip(*predecessors, strict=True)] or [np.zeros(0, int)] * 4
    assert earliest_start(len(predecessors), *columns, room) == over_all_splits(predecessors, room)


def test_only_the_first_entries_count() -> None:
    """Tests that what stands behind the given size is ignored."""
    columns = [np.array([5, 0]), np.array([2, 0]), np.array([4, 0]), np.array([0, 99])]
    assert earliest_start(1, *columns, 3) == 5  # remote 5, local 2 + 4
    assert earliest_start(0, *columns, 3) == 0
