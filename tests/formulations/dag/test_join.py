"""Tests of the earliest start behind a join."""

from __future__ import annotations

import itertools
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.join import INFINITE, MOST_FOR_ALL_PAIRS, JoinItems, earliest_start, nic_join
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from tests.strategies import changed

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


Item = tuple[int, int, int, int, int, int]
"""Head and work on the task's own GPU, arrival from beside, finish, delay and arrival from another server."""


def join(items: list[Item], at_least: int = 0) -> int:
    """Return the bound for some predecessors."""
    columns = np.array(items, dtype=np.int64).reshape(-1, 6).T
    return nic_join(JoinItems(*(np.ascontiguousarray(column) for column in columns)), at_least, INFINITE)


def best_split(items: list[Item]) -> int:
    """Return the least start over all ways to place the predecessors, by enumeration; `INFINITE` if there is none."""
    best = INFINITE
    for places in itertools.product(("here", "beside", "away"), repeat=len(items)):
        end, gpu, nic = 0, 0, 0
        here = sorted((item for item, place in zip(items, places, strict=True) if place == "here"))
        away = sorted((item[3:] for item, place in zip(items, places, strict=True) if place == "away"))
        for head, work, *_ in here:
            gpu = max(gpu, head) + work
        for ready, delay, arrival in away:
            nic = max(nic, ready) + delay
            end = max(end, arrival)
        end = max([end, gpu, nic, *(item[2] for item, place in zip(items, places, strict=True) if place == "beside")])
        best = min(best, end)
    return best


@st.composite
def join_items(draw: st.DrawFn) -> list[Item]:
    """Draw predecessors, some of which cannot be in some places."""
    items = []
    for _ in range(draw(st.integers(1, 5))):
        ready, delay, more = draw(st.integers(0, 9)), draw(st.integers(0, 6)), draw(st.integers(0, 3))
        away = (ready, delay, ready + delay + more) if draw(st.booleans()) else (INFINITE,) * 3
        head, work = draw(st.one_of(st.tuples(st.integers(0, 9), st.integers(0, 6)), st.just((INFINITE, 0))))
        items.append((head, work, draw(st.one_of(st.integers(0, 15), st.just(INFINITE))), *away))
    return items


@given(items=join_items(), at_least=st.integers(0, 5))
@settings(max_examples=400, deadline=None)
def test_never_above_the_best_split(items: list[Item], at_least: int) -> None:
    """Tests that the bound is at least the one from elsewhere, and else at most the best of all splits."""
    best = best_split(items)
    found = join(items, at_least)
    assert found >= at_least
    assert found <= max(best, at_least)


@pytest.mark.parametrize(
    ("items", "start"),
    [
        # Nobody can be on the task's own server: three transfers of 4 from tick 2 on.
        ([(INFINITE, 0, INFINITE, 2, 4, 6)] * 3, 14),
        # The later ones decide: ready at 9, 9 and 2.
        ([(INFINITE, 0, INFINITE, 9, 4, 13)] * 2 + [(INFINITE, 0, INFINITE, 2, 1, 3)], 17),
        # One of three can be beside, where it delays nobody.
        ([(INFINITE, 0, INFINITE, 2, 4, 6)] * 2 + [(INFINITE, 0, 5, 2, 4, 6)], 10),
        # All can be local in 5 ticks each or away in 4 each: 11 ticks for 4 of them would be 2.2 local and 2 away.
        ([(0, 5, INFINITE, 0, 4, 4)] * 4, 9),
        # Integrality is lost, fractions are not: two of work 6 and delay 6 need 6, three need 9 and not 12.
        ([(0, 6, INFINITE, 0, 6, 6)] * 2, 6),
        ([(0, 6, INFINITE, 0, 6, 6)] * 3, 9),
        # Different first ticks on GPU and interface: from 10 on the GPU, from 0 on the interface.
        ([(10, 6, INFINITE, 0, 8, 8)] * 3, 16),
        ([(10, 6, INFINITE, 0, 9, 9)] * 4, 21),
    ],
)
def test_by_hand(items: list[Item], start: int) -> None:
    """Tests exact values, each at most the best split."""
    assert join(items) == start
    assert start <= best_split(items)


def test_wide_joins_stay_valid_with_fewer_pairs() -> None:
    """Tests that beyond the limit for all pairs the queue on the interface is still counted in full."""
    items = [(INFINITE, 0, INFINITE, 3, 2, 5)] * (MOST_FOR_ALL_PAIRS + 5)
    assert join(items) == 3 + 2 * len(items)


def test_impossible_stays_impossible() -> None:
    """Tests that what heads and tails exclude stays excluded, and that one predecessor has no queue."""
    assert join([(INFINITE, 0, INFINITE, 2, 4, 6)] * 3, INFINITE) == INFINITE
    assert join([(INFINITE, 0, INFINITE, 2, 4, 6)], 5) == 5
    assert join([], 7) == 7


def test_very_long_times_do_not_overflow() -> None:
    """Tests that times near the largest integers give the queue up to the rounding that the bound allows for."""
    tick = 2**50
    found = join([(INFINITE, 0, INFINITE, tick, tick, 2 * tick)] * 4)
    assert found == 5 * tick
    mixed = join([(0, tick, INFINITE, 0, tick, tick)] * 4)
    assert 2 * tick * (1 - 1e-8) <= mixed <= 2 * tick


def test_heads_and_tails_by_hand() -> None:
    """Tests a join and a fork over one interface: 5 tasks, the three in between on servers of their own.

    Tasks 1 to 3 get 4 ticks of data each from task 0 and send 4 to task 4: they start at 5 at the earliest, and the
    three transfers into task 4's server take until 7 + 12; the same from the end.
    """
    rows = [
        [1, None, None, None],
        [None, 2, None, None],
        [None, None, 2, None],
        [None, None, None, 2],
        [1] + [None] * 3,
    ]
    instance = DagInstance.from_lists(
        rows,
        [(0, 1, 4), (0, 2, 4), (0, 3, 4), (1, 4, 4), (2, 4, 4), (3, 4, 4)],
        gpu_servers=["a", "b", "c", "d"],
    )
    free = heads_and_tails(instance)
    around = heads_and_tails(instance, contention=Contention.NIC)
    assert (free.heads[4, 0], free.tails[0, 0]) == (11, 11)
    assert (around.heads[4, 0], around.tails[0, 0]) == (19, 19)
    assert (around.heads[1, 1], around.tails[1, 1]) == (5, 5)
    beside = changed(instance, gpu_servers=("a", "a", "c", "d"))  # task 1 is beside now
    assert heads_and_tails(beside, contention=Contention.NIC).heads[4, 0] == 15
    assert heads_and_tails(changed(instance, gpu_servers=("a",) * 4), contention=Contention.NIC).heads[4, 0] == 11
