"""Tests of the queue against a list that is sorted each time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heuristics.jobs.placements.waiting_queue import WaitingQueue


@given(steps=st.lists(st.tuples(st.booleans(), st.integers(0, 10**9)), max_size=200))
def test_like_a_sorted_list(steps: list[tuple[bool, int]]) -> None:
    """Tests insertions and removals, beyond the first capacity too, against a list that is sorted each time."""
    queue, plain = WaitingQueue(), []
    for job, (inserts, number) in enumerate(steps):
        if inserts or not plain:
            plain = sorted([*plain, ((number % 7, job), job)])
            queue.insert((number % 7, job), job)
        else:
            position = number % len(plain)
            assert queue.remove(position) == plain.pop(position)[1]
        assert len(queue) == len(plain)
        assert queue.jobs[: len(queue)].tolist() == [job for _, job in plain]


def test_lower_first() -> None:
    """Tests that a lowered first key decides where others go."""
    queue = WaitingQueue()
    queue.insert((5,), 0)
    queue.lower_first((2,))
    queue.insert((3,), 1)
    assert queue.jobs[:2].tolist() == [0, 1]
