"""Tests of windows of time that hold more work than fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.probing.load_rows import crowded_window, fill_row, least_work, new_loads, tightest_window
from formulations.dag.probing.network import network
from formulations.dag.probing.tighten import new_state
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

task = st.tuples(st.integers(0, 8), st.integers(1, 5), st.integers(0, 6), st.integers(1, 4))  # head, p, slack, quarters
tasks = st.lists(task, min_size=1, max_size=6).map(sorted)


def as_arrays(found: list[tuple[int, int, int, int]]) -> list[np.ndarray]:
    """Return heads, latest finishes, durations and amounts."""
    head, duration, slack, quarters = (np.array(column) for column in zip(*found, strict=True))
    return [head, head + duration + slack, duration, quarters / 4]


@given(
    head=st.integers(0, 9),
    duration=st.integers(0, 6),
    slack=st.integers(0, 6),
    opens=st.integers(0, 20),
    length=st.integers(0, 20),
)
@settings(max_examples=300, deadline=None)
def test_least_work_over_all_starts(head: int, duration: int, slack: int, opens: int, length: int) -> None:
    """Tests that no start leaves less work in the window, and that some start leaves as little."""
    ends = opens + length
    inside = [
        sum(opens <= tick < ends for tick in range(start, start + duration)) for start in range(head, head + slack + 1)
    ]
    assert least_work(head, head + duration + slack, duration, opens, ends) == min(inside)


@given(found=tasks)
@settings(max_examples=200, deadline=None)
def test_tightest_window_is_the_tightest(found: list[tuple[int, int, int, int]]) -> None:
    """Tests that no pair of a head and a latest finish with a whole task holds more of them beyond its length."""
    head, latest, duration, amount = as_arrays(found)
    opens, ends, excess = tightest_window(len(found), head, latest, duration, amount)

    def beyond(a: int, e: int) -> float:
        inside = (head >= a) & (latest <= e)
        return float((duration * amount)[inside].sum()) - (e - a) if inside.any() else -np.inf

    assert beyond(opens, ends) == pytest.approx(excess)
    assert excess == pytest.approx(max(beyond(a, e) for a in head for e in latest))


@given(found=tasks)
@settings(max_examples=200, deadline=None)
def test_crowded_window_is_the_fullest(found: list[tuple[int, int, int, int]]) -> None:
    """Tests that no window of the two kinds has a larger share, and that the excess is right."""
    head, latest, duration, amount = as_arrays(found)
    opens, ends, excess = crowded_window(len(found), head, latest, duration, amount)

    def share(a: int, e: int) -> float:
        work = [least_work(*one, a, e) for one in zip(head, latest, duration, strict=True)]
        return float(work @ amount) / (e - a) - 1.0

    windows = [(a, e) for a, late in zip(head, latest, strict=True) for e in range(late, 25)]
    for a, early in zip(latest - duration, head + duration, strict=True):
        windows += [(a, e) for e in range(a + 1, early + 1)]
    most = max(share(a, e) for a, e in windows)
    if most <= 0:
        assert excess == 0.0
    else:
        assert share(opens, ends) == pytest.approx(most)
        assert excess == pytest.approx(most * (ends - opens))


def test_two_tasks_that_must_run_at_once() -> None:
    """Tests the window example at 11 ticks: two tasks of 4 within [2, 9] must both run in [5, 6]."""
    head, latest, duration = np.array([2, 2]), np.array([9, 9]), np.array([4, 4])
    assert crowded_window(2, head, latest, duration, np.ones(2)) == (5, 6, 1.0)
    assert tightest_window(2, head, latest, duration, np.ones(2)) == (2, 9, 1.0)


@given(instance=dag_instances(max_tasks=5), opens=st.integers(0, 9), closes=st.integers(0, 9), slack=st.integers(0, 4))
@settings(max_examples=100)
def test_row_holds_the_least_work_of_every_task(instance: DagInstance, opens: int, closes: int, slack: int) -> None:
    """Tests a window of GPU 0 against all starts of every task between its head and its tail."""
    net, around = network(instance), heads_and_tails(instance)
    state, allowed = new_state(around.heads, around.tails, around.allowed), around.allowed
    longest = (around.heads + net.durations + around.tails)[allowed]
    deadline = int(longest.max(initial=0)) + slack
    loads = new_loads(net)
    loads.opens[0, 0], loads.closes[0, 0] = opens, closes
    fill_row.py_func(net, state, deadline, loads, 0, 0)
    ends = deadline - closes
    assert loads.limit[0, 0] == max(ends - opens, 0)
    for task in range(instance.num_tasks):
        expected, duration = 0, int(net.durations[task, 0])
        if allowed[task, 0]:
            starts = range(state.heads[task, 0], deadline - state.tails[task, 0] - duration + 1)
            expected = min(max(min(start + duration, ends) - max(start, opens), 0) for start in starts)
        assert loads.ticks[0, task, 0] == expected
