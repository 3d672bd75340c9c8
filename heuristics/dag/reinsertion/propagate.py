"""Longest ways after a change: only what the change reaches is computed again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from heuristics.dag.reinsertion.journal import DIRTY_HEADS, DIRTY_TAILS, HEADS, NOW, TAILS
from heuristics.dag.reinsertion.plan import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.reinsertion.graph import Graph
    from heuristics.dag.reinsertion.journal import Journal
    from heuristics.dag.reinsertion.plan import Plan

FAR = 2**60
"""A way that does not exist; sums of a few stay within 64 bits."""


@njit(cache=True)
def propagate_heads(graph: Graph, plan: Plan, journal: Journal, first: int) -> int:
    """Compute the heads of all marked tasks and of those that change with them; return how many that were.

    Parameters
    ----------
    graph, plan, journal
        The plan is changed; old heads of tasks that are in go to the journal.
    first
        A position in the order before which no task is marked.
    """
    data, preds, succs, durations, link = graph.task, graph.pred, graph.succ, graph.duration, graph.link
    tasks, order, delays, heads = plan.task, plan.order, plan.pred_delay, plan.heads
    mark, kept, counter = journal.mark, journal.head, journal.counter
    left, size, now = counter[DIRTY_HEADS], counter[HEADS], counter[NOW]
    looked_at, position = 0, first
    while left > 0:
        task = order[position]
        position += 1
        if mark[task].head_dirty == 0:
            continue
        mark[task].head_dirty = 0
        left -= 1
        looked_at += 1
        k = tasks[task].gpu
        if k >= 0:
            latest = data[task].release
            for entry in range(data[task].pred, data[task].pred_end):
                other = preds[entry].task
                if tasks[other].gpu >= 0:
                    arrival = tasks[other].head + tasks[other].duration + delays[entry]
                else:
                    arrival = _through(heads, durations, link, other, preds[entry].data, k, True)
                latest = max(latest, arrival)
            other = tasks[task].previous
            if other != NOTHING:
                latest = max(latest, tasks[other].head + tasks[other].duration)
            if latest == tasks[task].head:
                continue
            if mark[task].head_kept != now:
                mark[task].head_kept = now
                kept[size].task, kept[size].value = task, tasks[task].head
                size += 1
            tasks[task].head = latest
            other = tasks[task].following
            if other != NOTHING and mark[other].head_dirty == 0:
                mark[other].head_dirty = 1
                left += 1
        else:
            first_pred, last_pred = data[task].pred, data[task].pred_end
            if not _all_ways(preds, first_pred, last_pred, tasks, heads, durations, link, task, data[task].release, 1):
                continue
        for entry in range(data[task].succ, data[task].succ_end):
            other = succs[entry].task
            if mark[other].head_dirty == 0:
                mark[other].head_dirty = 1
                left += 1
    counter[DIRTY_HEADS], counter[HEADS] = 0, size
    return looked_at


@njit(cache=True)
def propagate_tails(graph: Graph, plan: Plan, journal: Journal, last: int) -> int:
    """Do the same for tails; `last` is a position behind which no task is marked."""
    data, preds, succs, durations, link = graph.task, graph.pred, graph.succ, graph.duration, graph.link
    tasks, order, delays, tails, sink = plan.task, plan.order, plan.succ_delay, plan.tails, plan.sink
    mark, kept, counter = journal.mark, journal.tail, journal.counter
    left, size, now = counter[DIRTY_TAILS], counter[TAILS], counter[NOW]
    looked_at, position = 0, last
    while left > 0:
        task = order[position]
        position -= 1
        if mark[task].tail_dirty == 0:
            continue
        mark[task].tail_dirty = 0
        left -= 1
        looked_at += 1
        k = tasks[task].gpu
        if k >= 0:
            longest = sink[task]
            for entry in range(data[task].succ, data[task].succ_end):
                other = succs[entry].task
                if tasks[other].gpu >= 0:
                    way = tasks[other].tail + tasks[other].duration + delays[entry]
                else:
                    way = _through(tails, durations, link, other, succs[entry].data, k, False)
                longest = max(longest, way)
            other = tasks[task].following
            if other != NOTHING:
                longest = max(longest, tasks[other].tail + tasks[other].duration)
            if longest == tasks[task].tail:
                continue
            if mark[task].tail_kept != now:
                mark[task].tail_kept = now
                kept[size].task, kept[size].value = task, tasks[task].tail
                size += 1
            tasks[task].tail = longest
            other = tasks[task].previous
            if other != NOTHING and mark[other].tail_dirty == 0:
                mark[other].tail_dirty = 1
                left += 1
        else:
            first_succ, last_succ = data[task].succ, data[task].succ_end
            if not _all_ways(succs, first_succ, last_succ, tasks, tails, durations, link, task, sink[task], 0):
                continue
        for entry in range(data[task].pred, data[task].pred_end):
            other = preds[entry].task
            if mark[other].tail_dirty == 0:
                mark[other].tail_dirty = 1
                left += 1
    counter[DIRTY_TAILS], counter[TAILS] = 0, size
    return looked_at


@njit(cache=True)
def propagate_everything(graph: Graph, plan: Plan, journal: Journal) -> None:
    """Compute all heads and tails."""
    for task in range(len(plan.order)):
        journal.mark[task].head_dirty = journal.mark[task].tail_dirty = 1
    journal.counter[DIRTY_HEADS] = journal.counter[DIRTY_TAILS] = len(plan.order)
    propagate_heads(graph, plan, journal, 0)
    propagate_tails(graph, plan, journal, len(plan.order) - 1)


@njit(cache=True)
def _through(
    ways: NDArray[np.int64],
    durations: NDArray[np.int64],
    link: NDArray[Any],
    task: int,
    data: int,
    gpu: int,
    to_gpu: bool,
) -> int:
    """Return the least sum of way, duration and delay over the GPUs of a task taken out, to or from one GPU."""
    shortest = FAR
    for k in range(durations.shape[1]):
        if durations[task, k] >= 0:
            way = ways[task, k] + durations[task, k]
            if data > 0 and k != gpu:
                used = link[k, gpu] if to_gpu else link[gpu, k]
                way += used.latency + np.int64(math.ceil(data / used.bytes_per_tick))
            shortest = min(shortest, way)
    return shortest


@njit(cache=True)
def _all_ways(
    neighbours: NDArray[Any],
    first: int,
    last: int,
    tasks: NDArray[Any],
    ways: NDArray[np.int64],
    durations: NDArray[np.int64],
    link: NDArray[Any],
    task: int,
    least: int,
    are_heads: int,
) -> bool:
    """Write heads or tails of a task taken out on every GPU; say whether one has changed."""
    has_changed = False
    for k in range(durations.shape[1]):
        if durations[task, k] < 0:
            continue
        longest = least
        for entry in range(first, last):
            other, data = neighbours[entry].task, neighbours[entry].data
            l = tasks[other].gpu
            if l < 0:
                way = _through(ways, durations, link, other, data, k, are_heads == 1)
            else:
                way = tasks[other].duration + (tasks[other].head if are_heads == 1 else tasks[other].tail)
                if data > 0 and k != l:
                    used = link[l, k] if are_heads == 1 else link[k, l]
                    way += used.latency + np.int64(math.ceil(data / used.bytes_per_tick))
            longest = max(longest, way)
        if longest != ways[task, k]:
            ways[task, k], has_changed = longest, True
    return has_changed
