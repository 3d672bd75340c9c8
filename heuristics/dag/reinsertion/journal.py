"""What one move has changed, so that it can be undone in time proportional to that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_SET = 60
"""Most tasks that one move takes out."""

HEADS, TAILS, ORDER, STEPS, DIRTY_HEADS, DIRTY_TAILS, NOW = 0, 1, 2, 3, 4, 5, 6
"""Entries of `Journal.counter`: lengths of the lists, numbers of marked tasks, number of the move."""

_MARK = np.dtype([(name, np.int64) for name in ("head_dirty", "tail_dirty", "head_kept", "tail_kept", "flag")])
_VALUE = np.dtype([("task", np.int64), ("value", np.int64)])
_STEP = np.dtype([("task", np.int64), ("gpu", np.int64), ("place", np.int64)])


class Journal(NamedTuple):
    """Old values, in the order of the changes, and which tasks have to be looked at again."""

    counter: NDArray[np.int64]  # (7,)
    mark: NDArray[Any]  # (n,), head and tail to be computed again; moves in which old ones were kept; scratch, 0
    head: NDArray[Any]  # (n,), tasks and the heads they had
    tail: NDArray[Any]  # (n,), tasks and the tails they had
    order: NDArray[Any]  # positions (as `value`) and the tasks that stood there
    step: NDArray[Any]  # tasks taken out, with GPU and place they had; tasks put in, with GPU `OUT`
    buffer: NDArray[np.int64]  # (n,), scratch


def new_journal(num_tasks: int) -> Journal:
    """Return an empty journal for plans of so many tasks."""
    counter = np.zeros(7, dtype=np.int64)
    counter[NOW] = 1
    return Journal(
        counter=counter,
        mark=np.zeros(num_tasks, dtype=_MARK),
        head=np.zeros(num_tasks, dtype=_VALUE),
        tail=np.zeros(num_tasks, dtype=_VALUE),
        order=np.zeros(num_tasks * LARGEST_SET, dtype=_VALUE),
        step=np.zeros(2 * LARGEST_SET, dtype=_STEP),
        buffer=np.zeros(num_tasks, dtype=np.int64),
    )


@njit(cache=True)
def forget(journal: Journal) -> None:
    """Keep the changes: the journal is empty again, nothing is marked."""
    counter, mark = journal.counter, journal.mark
    if counter[DIRTY_HEADS] > 0 or counter[DIRTY_TAILS] > 0:
        for task in range(len(mark)):
            mark[task].head_dirty = mark[task].tail_dirty = 0
    counter[:NOW] = 0
    counter[NOW] += 1
