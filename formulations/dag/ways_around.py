"""Longest ways around a stretch of a schedule (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from formulations.dag.heads_and_tails import INFINITE
from instances.adjacency import predecessors, successors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


class WayGraph(NamedTuple):
    """What the kernels need of the whole instance."""

    durations: NDArray[np.int64]  # (n, m)
    release: NDArray[np.int64]  # (n,)
    pred_offsets: NDArray[np.int64]  # (n + 1,)
    pred_tasks: NDArray[np.int64]  # (edges,)
    pred_bytes: NDArray[np.int64]  # (edges,)
    succ_offsets: NDArray[np.int64]  # (n + 1,)
    succ_tasks: NDArray[np.int64]  # (edges,)
    succ_bytes: NDArray[np.int64]  # (edges,)
    latency: NDArray[np.int64]  # (m, m)
    bytes_per_tick: NDArray[np.float64]  # (m, m)


def way_graph(instance: DagInstance) -> WayGraph:
    """Flatten an instance."""
    before, after = predecessors(instance), successors(instance)
    return WayGraph(
        durations=instance.durations,
        release=instance.release[instance.job_of_task],
        pred_offsets=before.offsets,
        pred_tasks=before.tasks,
        pred_bytes=instance.edge_bytes[before.edges],
        succ_offsets=after.offsets,
        succ_tasks=after.tasks,
        succ_bytes=instance.edge_bytes[after.edges],
        latency=np.array(instance.latency),
        bytes_per_tick=np.array(instance.bytes_per_tick),
    )


@njit(cache=True)
def _delay(graph: WayGraph, data: int, k: int, l: int) -> int:
    """Return the transfer delay of some data from GPU k to GPU l."""
    if k == l or data == 0:
        return 0
    return int(graph.latency[k, l] + math.ceil(data / graph.bytes_per_tick[k, l]))


@njit(cache=True)
def outer_heads(
    graph: WayGraph,
    order: NDArray[np.int64],
    position: NDArray[np.int64],
    gpu: NDArray[np.int64],
    start: NDArray[np.int64],
    first: int,
    last: int,
) -> NDArray[np.int64]:
    """Return when release, fixed predecessors and fixed tasks before let each free task start, shape (q, m)."""
    m = graph.durations.shape[1]
    heads = np.zeros((last - first, m), dtype=np.int64)
    free_at = np.zeros(m, dtype=np.int64)
    for place in range(first):
        task = order[place]
        duration = graph.durations[task, gpu[task]]
        if duration > 0:
            free_at[gpu[task]] = max(free_at[gpu[task]], start[task] + duration)
    for place in range(first, last):
        task = order[place]
        for k in range(m):
            head = graph.release[task]
            if graph.durations[task, k] > 0:
                head = max(head, free_at[k])
            for entry in range(graph.pred_offsets[task], graph.pred_offsets[task + 1]):
                other = graph.pred_tasks[entry]
                if position[other] < first:
                    finish = start[other] + graph.durations[other, gpu[other]]
                    head = max(head, finish + _delay(graph, graph.pred_bytes[entry], gpu[other], k))
            heads[place - first, k] = head
    return heads


@njit(cache=True)
def outer_tails(
    graph: WayGraph,
    order: NDArray[np.int64],
    position: NDArray[np.int64],
    gpu: NDArray[np.int64],
    first: int,
    last: int,
    sink: NDArray[np.int64],
    num_sinks: int,
) -> NDArray[np.int64]:
    """Return the longest way from each free task's finish through fixed tasks to every sink, shape (q, m, sinks).

    Negative where the sink does not wait for the task. A task's own sink waits for it directly.
    """
    n, m = graph.durations.shape
    level = np.full((n, num_sinks), -INFINITE, dtype=np.int64)  # from the start of a fixed task after
    on_gpu = np.full((m, num_sinks), -INFINITE, dtype=np.int64)  # from the start of the first one of each GPU
    for place in range(n - 1, last - 1, -1):
        task = order[place]
        k = gpu[task]
        duration = graph.durations[task, k]
        for c in range(num_sinks):
            tail = on_gpu[k, c] if duration > 0 else -INFINITE
            if sink[task] == c:
                tail = max(tail, np.int64(0))
            for entry in range(graph.succ_offsets[task], graph.succ_offsets[task + 1]):
                other = graph.succ_tasks[entry]
                tail = max(tail, level[other, c] + _delay(graph, graph.succ_bytes[entry], k, gpu[other]))
            level[task, c] = tail + duration if tail >= 0 else -INFINITE
            if duration > 0:
                on_gpu[k, c] = level[task, c]
    tails = np.full((last - first, m, num_sinks), -INFINITE, dtype=np.int64)
    for place in range(first, last):
        task = order[place]
        for k in range(m):
            for c in range(num_sinks):
                tail = on_gpu[k, c] if graph.durations[task, k] > 0 else -INFINITE
                if sink[task] == c:
                    tail = max(tail, np.int64(0))
                for entry in range(graph.succ_offsets[task], graph.succ_offsets[task + 1]):
                    other = graph.succ_tasks[entry]
                    if position[other] >= last:
                        tail = max(tail, level[other, c] + _delay(graph, graph.succ_bytes[entry], k, gpu[other]))
                tails[place - first, k, c] = tail
    return tails


@njit(cache=True)
def fixed_completion(
    graph: WayGraph,
    order: NDArray[np.int64],
    position: NDArray[np.int64],
    gpu: NDArray[np.int64],
    start: NDArray[np.int64],
    first: int,
    last: int,
    sink: NDArray[np.int64],
    num_sinks: int,
) -> NDArray[np.int64]:
    """Return how late every sink is without the free tasks, shape (sinks,)."""
    n, m = graph.durations.shape
    completion = np.zeros(num_sinks, dtype=np.int64)
    finish = np.zeros(n, dtype=np.int64)
    free_at = np.zeros(m, dtype=np.int64)
    for place in range(n):
        if first <= place < last:
            continue
        task = order[place]
        k = gpu[task]
        duration = graph.durations[task, k]
        if place < first:
            begin = start[task]
        else:
            begin = max(graph.release[task], free_at[k] if duration > 0 else np.int64(0))
            for entry in range(graph.pred_offsets[task], graph.pred_offsets[task + 1]):
                other = graph.pred_tasks[entry]
                if position[other] < first or position[other] >= last:
                    begin = max(begin, finish[other] + _delay(graph, graph.pred_bytes[entry], gpu[other], k))
        finish[task] = begin + duration
        if duration > 0:
            free_at[k] = finish[task]
        completion[sink[task]] = max(completion[sink[task]], finish[task])
    return completion


@njit(cache=True)
def carry_inside(
    graph: WayGraph,
    order: NDArray[np.int64],
    position: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    heads: NDArray[np.int64],
    outer_tails: NDArray[np.int64],
    limits: NDArray[np.int64],
    sink: NDArray[np.int64],
    first: int,
) -> NDArray[np.int64]:
    """Carry heads (in place) and tails along the edges between free tasks; leave out pairs beyond the limits.

    Transfer-aware: H[i,k] = max over predecessors h of min over l of (H[h,l] + p[h,l] + c[h,i](l,k)), and the mirror
    image for the way to every sink. Repeated until no pair is left out any more.
    """
    q, m, num_sinks = outer_tails.shape
    while True:
        changed = False
        for place in range(q):
            task = order[first + place]
            for entry in range(graph.pred_offsets[task], graph.pred_offsets[task + 1]):
                other = position[graph.pred_tasks[entry]] - first
                if other < 0 or other >= q:
                    continue
                for k in range(m):
                    if not allowed[place, k]:
                        continue
                    earliest = np.int64(INFINITE)
                    for l in range(m):
                        if allowed[other, l]:
                            arrival = heads[other, l] + graph.durations[order[first + other], l]
                            earliest = min(earliest, arrival + _delay(graph, graph.pred_bytes[entry], l, k))
                    heads[place, k] = max(heads[place, k], earliest)
        tails = outer_tails.copy()
        for place in range(q - 1, -1, -1):
            task = order[first + place]
            for entry in range(graph.succ_offsets[task], graph.succ_offsets[task + 1]):
                other = position[graph.succ_tasks[entry]] - first
                if other < 0 or other >= q:
                    continue
                for k in range(m):
                    if not allowed[place, k]:
                        continue
                    for c in range(num_sinks):
                        least = np.int64(INFINITE)
                        for l in range(m):
                            if allowed[other, l]:
                                way = tails[other, l, c]
                                if way >= 0:
                                    way += graph.durations[order[first + other], l]
                                    way += _delay(graph, graph.succ_bytes[entry], k, l)
                                least = min(least, way)
                        if least >= 0:
                            tails[place, k, c] = max(tails[place, k, c], least)
        for place in range(q):
            task = order[first + place]
            for k in range(m):
                if allowed[place, k]:
                    finish = heads[place, k] + graph.durations[task, k]
                    for c in range(num_sinks):
                        if tails[place, k, c] >= 0 and finish + tails[place, k, c] > limits[c]:
                            allowed[place, k] = False
                            changed = True
        if not changed:
            return tails
