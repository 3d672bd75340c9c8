"""From the labels of one layer to those of the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from formulations.dag.down_sets.dominance import hash_of, keep
from formulations.dag.down_sets.extend import end_of_job, extend, weighted_completion
from formulations.dag.down_sets.labels import DIGEST, has_bit
from formulations.dag.down_sets.search_space import NOWHERE
from formulations.dag.probing.kernel import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.down_sets.labels import Labels
    from formulations.dag.down_sets.search_space import SearchSpace


@njit(cache=True, nogil=True)
def expand(
    space: SearchSpace,
    labels: Labels,
    sequence: NDArray[np.int64],
    children: Labels,
    part: int,
    parts: int,
    halt: NDArray[np.bool_],
) -> None:
    """Start one more task after every label, in all ways, and keep those children whose down-set falls to one part.

    Parameters
    ----------
    space
        The instance.
    labels
        One part of a layer.
    sequence
        Places of the labels that go on, the best estimates first.
    children
        Filled; where its places are used up, children without one are counted as dropped.
    part, parts
        Number of the part, of so many, by the hash of the down-set: each can be filled by a thread of its own.
    halt
        Shape (1,); true ends it early.
    """
    n, m = space.durations.shape
    waiting, heads = np.empty(n, dtype=np.int64), np.empty((1, n, m), dtype=np.int32)
    is_waiting, is_free, is_due = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    earliest = np.empty(n, dtype=np.int32)
    is_used, digest = np.zeros(m, dtype=np.bool_), np.empty(DIGEST, dtype=np.int32)
    jobs, limited = len(space.weight), len(space.limited)
    bits, least = np.zeros(labels.started.shape[1], dtype=np.uint64), np.zeros(jobs, dtype=np.int64)
    completion, used = np.zeros((1, jobs), dtype=np.int32), np.zeros((1, limited), dtype=np.int64)
    room, child = np.zeros(limited, dtype=np.int64), heads[0]
    for place in sequence:
        if halt[0]:
            return
        before, started = labels.heads[place], labels.started[place]
        count = _look(space, before, started, waiting, is_waiting, is_free, earliest, is_used)
        for position in range(count):
            task = waiting[position]
            like = space.like_task[task]
            if not is_free[task] or (like >= 0 and not has_bit(started, like)):
                continue
            bits[:] = started
            bits[task // 64] |= np.uint64(1) << np.uint64(task % 64)
            hashed = hash_of(bits)
            if (hashed >> np.uint64(40)) % np.uint64(parts) != np.uint64(part):
                continue
            for gpu in range(m):
                if before[task, gpu] >= NOWHERE or (space.like_gpu[gpu] >= 0 and not is_used[space.like_gpu[gpu]]):
                    continue
                has_room = True
                for q in range(limited):
                    used[0, q] = labels.used[place, q]
                    if space.limited[q] == gpu:
                        used[0, q] += space.memory[task]
                    room[q] = space.capacity[q] - used[0, q]
                    has_room = has_room and room[q] >= 0
                if not has_room or not extend(
                    space, before, waiting, count, is_waiting, is_free, earliest, task, gpu, room, child, is_due
                ):
                    continue
                if jobs > 0:
                    completion[0] = labels.completion[place]
                    job = space.job_of_task[task]
                    completion[0, job] = max(completion[0, job], end_of_job(space, child, task, gpu))
                    if weighted_completion(space, completion[0], child, waiting, count, task, least) > space.most:
                        continue
                keep(children, bits, hashed, heads, completion, used, waiting, count, task, digest)


@inner
def _look(
    space: SearchSpace,
    heads: NDArray[np.int32],
    started: NDArray[np.uint64],
    waiting: NDArray[np.int64],
    is_waiting: NDArray[np.bool_],
    is_free: NDArray[np.bool_],
    earliest: NDArray[np.int32],
    is_used: NDArray[np.bool_],
) -> int:
    """Say which tasks of a label wait and how many, which are free, when they can start, and which GPUs are used."""
    n, m = heads.shape
    is_used[:] = False
    count = 0
    for position in range(n):
        task = space.order[position]
        earliest[task] = NOWHERE
        has_started = has_bit(started, task)
        for k in range(m):
            earliest[task] = min(earliest[task], heads[task, k])
            if has_started and heads[task, k] < NOWHERE:
                is_used[k] = True
        is_waiting[task] = not has_started
        if has_started:
            continue
        waiting[count] = task
        count += 1
        is_free[task] = True
        for entry in range(space.offsets[task], space.offsets[task + 1]):
            is_free[task] = is_free[task] and has_bit(started, space.predecessors[entry])
    return count
