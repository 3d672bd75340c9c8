"""Labels: what matters of a partial schedule for all that may follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.probing.kernel import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.down_sets.search_space import SearchSpace

SIZE, FREE, GROUPS, ENTRIES, DROPPED = 0, 1, 2, 3, 4
"""Places in `Labels.counts`: places in use, first of those that are free again, groups and entries in use, and how many
children found no place."""

EMPTY = -1
"""No group in the table; end of the chain of free places."""

DIGEST = 16
"""Heads in a digest."""

ROOM_FOR_ENTRIES = 4
"""Entries per place: groups that grow leave room behind, less than twice their size, and have up to twice as much.

Where labels were removed again it may not be enough; then some are dropped, and counted.
"""


class Labels(NamedTuple):
    """Labels that have started the same number of tasks, grouped by down-set.

    The entries of a group lie side by side, so that most labels are compared without being looked at.
    """

    heads: NDArray[np.int32]  # (places, n, m), earliest start of each task; of a started one its start, on its GPU only
    started: NDArray[np.uint64]  # (places, words), the down-set, a bit per task
    completion: NDArray[np.int32]  # (places, jobs), of the started tasks of every job, with their tails
    used: NDArray[np.int64]  # (places, limited GPUs), bytes
    estimate: NDArray[np.int64]  # (places,), of the objective
    free: NDArray[np.int64]  # (places,), next place that is free again
    table: NDArray[np.int64]  # (power of two,), group of a down-set by its hash
    group: NDArray[np.int64]  # (places, 3), first entry, entries, room for entries
    entry: NDArray[np.int64]  # (entries,), place
    digest: NDArray[np.int32]  # (entries, DIGEST), the first heads of waiting tasks, then zeros
    counts: NDArray[np.int64]  # (5,)


def words_for(tasks: int) -> int:
    """Return how many words hold a bit per task."""
    return (tasks + 63) // 64


def bytes_per_label(space: SearchSpace) -> int:
    """Return how much memory a place takes, with its share of table, groups and entries."""
    n, m = space.durations.shape
    own = 4 * n * m + 8 * words_for(n) + 4 * len(space.weight) + 8 * len(space.limited) + 16
    return own + 32 + 24 + ROOM_FOR_ENTRIES * (8 + 4 * DIGEST)


def new_labels(space: SearchSpace, places: int) -> Labels:
    """Return room for labels, none of them in use."""
    n, m = space.durations.shape
    labels = Labels(
        heads=np.empty((places, n, m), dtype=np.int32),
        started=np.empty((places, words_for(n)), dtype=np.uint64),
        completion=np.empty((places, len(space.weight)), dtype=np.int32),
        used=np.empty((places, len(space.limited)), dtype=np.int64),
        estimate=np.empty(places, dtype=np.int64),
        free=np.empty(places, dtype=np.int64),
        table=np.empty(1 << max(2 * places - 1, 1).bit_length(), dtype=np.int64),
        group=np.empty((places, 3), dtype=np.int64),
        entry=np.empty(ROOM_FOR_ENTRIES * places, dtype=np.int64),
        digest=np.empty((ROOM_FOR_ENTRIES * places, DIGEST), dtype=np.int32),
        counts=np.empty(5, dtype=np.int64),
    )
    clear(labels)
    return labels


def clear(labels: Labels) -> None:
    """Forget all labels."""
    labels.table[:] = EMPTY
    labels.counts[:] = 0, EMPTY, 0, 0, 0


def begin(labels: Labels, space: SearchSpace) -> None:
    """Make the one label of the empty schedule, where there is none yet."""
    labels.heads[0] = space.heads
    labels.started[0] = 0
    labels.completion[0] = space.completion
    labels.used[0] = 0
    labels.counts[SIZE] = 1


@inner
def has_bit(started: NDArray[np.uint64], task: int) -> bool:
    """Say whether a task is in a down-set."""
    return (started[task // 64] >> np.uint64(task % 64)) & np.uint64(1) != np.uint64(0)
