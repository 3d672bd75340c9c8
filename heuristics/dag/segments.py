"""Placements that cut an order of the tasks into stretches, one for each GPU, by dynamic programming (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.dag.graph import successors
from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance

MOST_ENTRIES, MOST_STEPS = 5_000_000, 500_000_000
"""Entries of the table and steps of the dynamic program from which on it is left out; the steps take about a second."""

MOST_PLACEMENTS = 4
"""Placements that are returned for each order, those of least time."""


def segment_placements(instance: DagInstance, classes: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return placements in which every GPU has one stretch of an order and its memory holds it; shape (n,) each.

    The time of a placement is that of its tasks one after the other, and at every cut the longest transfer along an
    edge that crosses it. Over stretches from the first task on, and over how many GPUs of each class they use, the
    dynamic program finds the placements of least time for two topological orders, the smallest and one in depth.
    It suits graphs that are close to a chain and do not fit on the fastest GPUs, such as many neural networks. No
    placement is returned where the table would be too large.

    Parameters
    ----------
    classes
        GPUs in classes of which any two can be swapped, each GPU in one class.

    References
    ----------
    Cutting a chain of layers into stages by dynamic programming: Narayanan and others (2019), PipeDream, section 3.1,
    for the throughput of equal workers. One pass through unequal GPUs under memory limits is ours.
    """
    found = []
    for order in (instance.topological_order, depth_first_order(instance)):
        found += _placements_along(instance, order, classes)
    return found


def depth_first_order(instance: DagInstance) -> NDArray[np.int64]:
    """Return the topological order in which a task that has become ready last comes first, shape (n,)."""
    missing = np.bincount(instance.edges[:, 1], minlength=instance.num_tasks)
    after = successors(instance)
    ready, order = np.flatnonzero(missing == 0).tolist(), list[int]()
    while ready:
        task = ready.pop()
        order.append(task)
        for entry in range(after.offsets[task], after.offsets[task + 1]):
            follower = int(after.tasks[entry])
            missing[follower] -= 1
            if missing[follower] == 0:
                ready.append(follower)
    return np.array(order, dtype=np.int64)


def _placements_along(
    instance: DagInstance, order: NDArray[np.int64], classes: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    """Return the placements of least time that cut one order."""
    n, first = instance.num_tasks, np.array([members[0] for members in classes])
    other = np.array([members[min(1, len(members) - 1)] for members in classes])
    sizes = np.array([len(members) + 1 for members in classes], dtype=object)
    states = int(sizes.prod())
    entries = states * len(classes) * (n + 1)
    if n == 0 or entries > MOST_ENTRIES or entries * n // 3 > MOST_STEPS:
        return []
    durations = np.where(instance.allowed, instance.durations, 0)[np.ix_(order, first)]
    elapsed = np.concatenate([np.zeros((1, len(first)), dtype=np.int64), np.cumsum(durations, axis=0)])
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    cut = np.zeros((n + 1, len(first), len(first)), dtype=np.int64)
    for edge, (tail, head) in enumerate(position[instance.edges].tolist()):
        delays = instance.transfer_delays(edge)
        between = delays[np.ix_(first, first)]
        np.fill_diagonal(between, delays[first, other])
        np.maximum(cut[tail + 1 : head + 1], between, out=cut[tail + 1 : head + 1])
    time, begin, before = _shortest_times(
        order,
        elapsed,
        instance.task_memory,
        instance.gpu_memory[first],
        np.ascontiguousarray(instance.allowed[:, first]),
        cut,
        np.cumprod([1, *sizes[:-1]]).astype(np.int64),
        sizes.astype(np.int64),
    )
    ends = [(int(time[state, last, n]), state, last) for state, last in np.argwhere(time[:, :, n] >= 0).tolist()]
    strides, placements = np.cumprod([1, *sizes[:-1]]).astype(np.int64), []
    for _, state, last in sorted(ends)[:MOST_PLACEMENTS]:
        gpu, end, used = np.empty(n, dtype=np.int64), n, [0] * len(classes)
        while end > 0:
            start, previous = int(begin[state, last, end]), int(before[state, last, end])
            gpu[order[start:end]] = classes[last][used[last]]
            used[last] += 1
            state, last, end = state - int(strides[last]), previous, start
        placements.append(gpu)
    return placements


@kernel
def _shortest_times(
    order: NDArray[np.int64],
    elapsed: NDArray[np.int64],
    task_memory: NDArray[np.int64],
    gpu_memory: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    cut: NDArray[np.int64],
    strides: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return least times, begins of the last stretches, and the classes before them; shapes (states, classes, n + 1).

    A state says how many GPUs of each class are used. Times are -1 where there is none.
    """
    n, classes = elapsed.shape[0] - 1, elapsed.shape[1]
    states = 1
    for size in sizes:
        states *= size
    time = np.full((states, classes, n + 1), -1, dtype=np.int64)
    begin, before = time.copy(), time.copy()
    for state in range(1, states):  # invariant: times of states with fewer GPUs are final
        for last in range(classes):
            if state // strides[last] % sizes[last] == 0:
                continue
            rest = state - strides[last]
            for start in range(n):
                ready, previous = np.int64(-1), -1
                if rest == 0 and start == 0:
                    ready = np.int64(0)
                for other in range(classes):
                    if rest > 0 and time[rest, other, start] >= 0:
                        arrival = time[rest, other, start] + cut[start, other, last]
                        if ready < 0 or arrival < ready:
                            ready, previous = arrival, other
                if ready < 0:
                    continue
                held = np.int64(0)
                for end in range(start + 1, n + 1):
                    task = order[end - 1]
                    held += task_memory[task]
                    if not allowed[task, last] or (gpu_memory[last] >= 0 and held > gpu_memory[last]):
                        break
                    finish = ready + elapsed[end, last] - elapsed[start, last]
                    if time[state, last, end] < 0 or finish < time[state, last, end]:
                        time[state, last, end] = finish
                        begin[state, last, end], before[state, last, end] = start, previous
    return time, begin, before
