"""Labels: the part of a partial schedule that matters for all that may follow, and dominance between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from instances.kernels import inner_kernel, overwrite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.down_sets.search_space import SearchSpace


SIZE, FREE, GROUPS, ENTRIES, DROPPED = 0, 1, 2, 3, 4
"""Indices of `Labels.counts`: places in use, first place of the free chain, groups, entries, and dropped children."""

EMPTY = -1
"""No group in the table; end of the chain of free places."""

DIGEST = 16
"""Number of heads in a digest."""

ENTRIES_PER_PLACE = 4
"""Entries per place: groups that grow leave gaps of less than twice their size, and reserve up to twice as much.

If labels were removed again this may not be enough; then some are dropped, and counted.
"""


class Labels(NamedTuple):
    """Labels that have started the same number of tasks, grouped by down-set.

    The entries of a group are contiguous, so that most labels are compared by their digests alone.
    """

    heads: NDArray[np.int32]  # (places, n, m), earliest start of each task; the start of a started one, on its GPU
    started: NDArray[np.uint64]  # (places, words), the down-set, a bit per task
    completion: NDArray[np.int32]  # (places, jobs), completion of the started tasks of every job, with their tails
    used: NDArray[np.int64]  # (places, limited GPUs), bytes
    estimate: NDArray[np.int64]  # (places,), of the objective
    free: NDArray[np.int64]  # (places,), next place that is free again
    table: NDArray[np.int64]  # (power of two,), group of a down-set by its hash
    group: NDArray[np.int64]  # (places, 3), first entry, entries, reserved entries
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
    return own + 32 + 24 + ENTRIES_PER_PLACE * (8 + 4 * DIGEST)


def new_labels(space: SearchSpace, places: int) -> Labels:
    """Return empty labels with so many places."""
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
        entry=np.empty(ENTRIES_PER_PLACE * places, dtype=np.int64),
        digest=np.empty((ENTRIES_PER_PLACE * places, DIGEST), dtype=np.int32),
        counts=np.empty(5, dtype=np.int64),
    )
    clear(labels)
    return labels


def clear(labels: Labels) -> None:
    """Remove all labels."""
    labels.table[:] = EMPTY
    labels.counts[:] = 0, EMPTY, 0, 0, 0


def begin(labels: Labels, space: SearchSpace) -> None:
    """Make the label of the empty schedule, the first one."""
    labels.heads[0] = space.heads
    labels.started[0] = 0
    labels.completion[0] = space.completion
    labels.used[0] = 0
    labels.counts[SIZE] = 1


@inner_kernel
def has_bit(started: NDArray[np.uint64], task: int) -> bool:
    """Say whether a task is in a down-set."""
    return (started[task // 64] >> np.uint64(task % 64)) & np.uint64(1) != np.uint64(0)


@inner_kernel
def hash_of(started: NDArray[np.uint64]) -> np.uint64:
    """Return a hash of a down-set (the finaliser of SplitMix64, word by word)."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in started:
        value ^= word
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        value ^= value >> np.uint64(31)
    return value


@inner_kernel
def _group_of(labels: Labels, started: NDArray[np.uint64], hashed: np.uint64) -> int:
    """Return the group of a down-set, a new one if there is none; `EMPTY` if no memory is left for one."""
    last = np.uint64(len(labels.table) - 1)
    slot = hashed & last
    while labels.table[slot] != EMPTY:  # linear probing: all slots before this one hold groups of other down-sets
        group = labels.table[slot]
        place, is_same = labels.entry[labels.group[group, 0]], True
        for word in range(len(started)):
            is_same = is_same and labels.started[place, word] == started[word]
        if is_same:
            return group
        slot = (slot + np.uint64(1)) & last
    group, first = labels.counts[GROUPS], labels.counts[ENTRIES]
    has_place = labels.counts[FREE] != EMPTY or labels.counts[SIZE] < len(labels.free)
    if group == len(labels.group) or first == len(labels.entry) or not has_place:
        return EMPTY
    labels.counts[GROUPS] += 1
    labels.counts[ENTRIES] += 1
    labels.table[slot] = group
    labels.group[group, 0], labels.group[group, 1], labels.group[group, 2] = first, 0, 1
    return group


@inner_kernel
def _enlarge(labels: Labels, group: int) -> bool:
    """Move a full group to where it has twice as many entries; False if none are left."""
    first, size = labels.group[group, 0], labels.group[group, 1]
    if size < labels.group[group, 2]:
        return True
    new = labels.counts[ENTRIES]
    if new + 2 * size > len(labels.entry):
        return False
    labels.counts[ENTRIES] += 2 * size
    for item in range(size):
        labels.entry[new + item] = labels.entry[first + item]
        overwrite(labels.digest[new + item], labels.digest[first + item])
    labels.group[group, 0], labels.group[group, 2] = new, 2 * size
    return True


@inner_kernel
def _is_covered(
    low: NDArray[np.int32],
    low_place: int,
    high: NDArray[np.int32],
    high_place: int,
    waiting: NDArray[np.int64],
    except_for: int,
) -> bool:
    """Say whether no waiting task has a head in the first label that is above the one in the second."""
    for position in range(len(waiting)):
        task = waiting[position]
        if task == except_for:
            continue
        for k in range(low.shape[2]):
            if low[low_place, task, k] > high[high_place, task, k]:
                return False
    return True


@inner_kernel
def _none_above(low: NDArray[Any], low_place: int, high: NDArray[Any], high_place: int) -> bool:
    """Say whether no entry of a row is above that of another one."""
    for column in range(low.shape[1]):  # noqa: SIM110 - Numba compiles no generators
        if low[low_place, column] > high[high_place, column]:
            return False
    return True


@inner_kernel
def _next_comparable(
    digests: NDArray[np.int32], entry: int, end: int, digest: NDArray[np.int32]
) -> tuple[int, bool, bool]:
    """Return the next entry whose digest is nowhere above or nowhere below another one, and which; the end if none is.

    It is a loop of its own because every call counts references, and has no branches within a digest because the
    compiler then compares several heads at once. It does so only if it does not know how many there are: it would
    unroll `range(DIGEST)`, and searches with large groups would take up to 1.4 times as long.
    """
    for other in range(entry, end):
        least, most = np.int32(0), np.int32(0)
        for which in range(len(digest)):
            difference = np.int32(digests[other, which] - digest[which])
            least, most = min(least, difference), max(most, difference)
        if most <= 0 or least >= 0:
            return other, bool(most <= 0), bool(least >= 0)
    return end, False, False


@inner_kernel
def keep(
    labels: Labels,
    started: NDArray[np.uint64],
    hashed: np.uint64,
    heads: NDArray[np.int32],
    completion: NDArray[np.int32],
    used: NDArray[np.int64],
    waiting: NDArray[np.int64],
    except_for: int,
    digest: NDArray[np.int32],
) -> None:
    """Add a label unless one of the same down-set dominates it; remove those that it dominates.

    A label dominates another one of the same down-set if no waiting task can start earlier after the other one, on any
    GPU, no job ends earlier, and no GPU has more memory left: all starts that complete the other one complete it too.
    If no place is left, `labels.counts` says that a label was dropped (docs/formulations.md, section 10.1).

    Parameters
    ----------
    heads, completion, used
        Data of the candidate, with a leading axis of length 1.
    waiting, except_for
        Tasks that had not started, in order, and the one among them that has started now.
    digest
        Scratch, shape (DIGEST,).
    """
    size = 0
    for position in range(len(waiting)):
        for k in range(heads.shape[2]):
            if size < DIGEST and waiting[position] != except_for:
                digest[size] = heads[0, waiting[position], k]
                size += 1
        if size == DIGEST:
            break
    digest[size:] = 0
    group = _group_of(labels, started, hashed)
    if group == EMPTY:
        labels.counts[DROPPED] += 1
        return
    all_heads, all_completion, all_used = labels.heads, labels.completion, labels.used
    places, digests, free, counts, groups = labels.entry, labels.digest, labels.free, labels.counts, labels.group
    first = groups[group, 0]
    entry, end = first, first + groups[group, 1]
    # Invariant: entries first .. entry - 1 neither dominate the candidate nor are dominated by it; entries from `end`
    # on are removed, and their places are chained as free.
    while True:
        entry, may_go, may_stay = _next_comparable(digests, entry, end, digest)
        if entry == end:
            break
        place = places[entry]
        if (
            may_go
            and _is_covered(all_heads, place, heads, 0, waiting, except_for)
            and _none_above(all_completion, place, completion, 0)
            and _none_above(all_used, place, used, 0)
        ):
            groups[group, 1] = end - first
            return
        if (
            may_stay
            and _is_covered(heads, 0, all_heads, place, waiting, except_for)
            and _none_above(completion, 0, all_completion, place)
            and _none_above(used, 0, all_used, place)
        ):
            free[place] = counts[FREE]
            counts[FREE] = place
            end -= 1
            places[entry] = places[end]
            for which in range(DIGEST):
                digests[entry, which] = digests[end, which]
        else:
            entry += 1
    count = end - first
    groups[group, 1] = count
    new = counts[FREE]
    if (new == EMPTY and counts[SIZE] == len(labels.free)) or not _enlarge(labels, group):
        counts[DROPPED] += 1
        return
    if new != EMPTY:
        counts[FREE] = labels.free[new]
    else:
        new = counts[SIZE]
        counts[SIZE] += 1
    entry = groups[group, 0] + count
    groups[group, 1] = count + 1
    labels.entry[entry] = new
    overwrite(labels.digest[entry], digest)
    for task in range(heads.shape[1]):
        overwrite(labels.heads[new, task], heads[0, task])
    overwrite(labels.started[new], started)
    overwrite(labels.completion[new], completion[0])
    overwrite(labels.used[new], used[0])
