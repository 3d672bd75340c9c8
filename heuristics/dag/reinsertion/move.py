"""Removing tasks from a plan and inserting them, updating the longest paths, and undoing all of it (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.dag.reinsertion.plan import NOTHING, OUT
from instances.kernels import inner_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.reinsertion.plan import Graph, Plan


LARGEST_SET = 60
"""Most tasks that one move removes."""

HEADS, TAILS, ORDER, STEPS, DIRTY_HEADS, DIRTY_TAILS, NOW = 0, 1, 2, 3, 4, 5, 6
"""Entries of `Journal.counter`: lengths of the lists, numbers of marked tasks, number of the move."""

_MARK = np.dtype([(name, np.int64) for name in ("head_dirty", "tail_dirty", "head_kept", "tail_kept", "flag")])
_VALUE = np.dtype([("task", np.int64), ("value", np.int64)])
_STEP = np.dtype([("task", np.int64), ("gpu", np.int64), ("place", np.int64)])


class Journal(NamedTuple):
    """Old values, in the order of the changes, and marks of the tasks whose paths must be computed again."""

    counter: NDArray[np.int64]  # (7,)
    mark: NDArray[Any]  # (n,), head and tail to compute again; last moves that saved the old values; scratch flag, 0
    head: NDArray[Any]  # (n,), tasks and their old heads
    tail: NDArray[Any]  # (n,), tasks and their old tails
    order: NDArray[Any]  # positions (as `value`) and the tasks that were there
    step: NDArray[Any]  # removed tasks with their GPU and place; inserted tasks with GPU `OUT`
    buffer: NDArray[np.int64]  # (n,), scratch


def new_journal(num_tasks: int) -> Journal:
    """Return an empty journal for plans with this number of tasks."""
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


@kernel
def forget(journal: Journal) -> None:
    """Make the changes permanent: empty the journal and remove all marks."""
    counter, mark = journal.counter, journal.mark
    if counter[DIRTY_HEADS] > 0 or counter[DIRTY_TAILS] > 0:
        for task in range(len(mark)):
            mark[task].head_dirty = mark[task].tail_dirty = 0
    counter[:NOW] = 0
    counter[NOW] += 1


FAR = 2**60
"""Length of a path that does not exist; sums of a few such lengths fit in 64 bits."""


@inner_kernel
def propagate_heads(graph: Graph, plan: Plan, journal: Journal, first: int) -> int:
    """Compute the heads of all marked tasks and of those that change with them; return the number of tasks examined.

    Old heads of tasks in the plan go to the journal. No task before position `first` of the order is marked. The loop
    runs along the order: every head that a task's head depends on is final when the task is examined.
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
                    arrival = _shortest_through(heads, durations, link, other, preds[entry].data, k, True)
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
            if not _update_removed(
                preds, first_pred, last_pred, tasks, heads, durations, link, task, data[task].release, 1
            ):
                continue
        for entry in range(data[task].succ, data[task].succ_end):
            other = succs[entry].task
            if mark[other].head_dirty == 0:
                mark[other].head_dirty = 1
                left += 1
    counter[DIRTY_HEADS], counter[HEADS] = 0, size
    return looked_at


@inner_kernel
def propagate_tails(graph: Graph, plan: Plan, journal: Journal, last: int) -> int:
    """Do the same for tails against the order; no task after position `last` is marked."""
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
                    path = tasks[other].tail + tasks[other].duration + delays[entry]
                else:
                    path = _shortest_through(tails, durations, link, other, succs[entry].data, k, False)
                longest = max(longest, path)
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
            if not _update_removed(succs, first_succ, last_succ, tasks, tails, durations, link, task, sink[task], 0):
                continue
        for entry in range(data[task].pred, data[task].pred_end):
            other = preds[entry].task
            if mark[other].tail_dirty == 0:
                mark[other].tail_dirty = 1
                left += 1
    counter[DIRTY_TAILS], counter[TAILS] = 0, size
    return looked_at


@kernel
def propagate_everything(graph: Graph, plan: Plan, journal: Journal) -> None:
    """Compute all heads and tails."""
    for task in range(len(plan.order)):
        journal.mark[task].head_dirty = journal.mark[task].tail_dirty = 1
    journal.counter[DIRTY_HEADS] = journal.counter[DIRTY_TAILS] = len(plan.order)
    propagate_heads(graph, plan, journal, 0)
    propagate_tails(graph, plan, journal, len(plan.order) - 1)


@inner_kernel
def _shortest_through(
    paths: NDArray[np.int64],
    durations: NDArray[np.int64],
    link: NDArray[Any],
    task: int,
    data: int,
    gpu: int,
    to_gpu: bool,
) -> int:
    """Return the least sum of path, duration and delay over the GPUs of a removed task, to or from one GPU."""
    shortest = FAR
    for k in range(durations.shape[1]):
        if durations[task, k] >= 0:
            path = paths[task, k] + durations[task, k]
            if data > 0 and k != gpu:
                used = link[k, gpu] if to_gpu else link[gpu, k]
                path += used.latency + np.int64(math.ceil(data / used.bytes_per_tick))
            shortest = min(shortest, path)
    return shortest


@inner_kernel
def _update_removed(
    neighbours: NDArray[Any],
    first: int,
    last: int,
    tasks: NDArray[Any],
    paths: NDArray[np.int64],
    durations: NDArray[np.int64],
    link: NDArray[Any],
    task: int,
    least: int,
    are_heads: int,
) -> bool:
    """Write the heads or tails of a removed task on every GPU; say whether one has changed."""
    has_changed = False
    for k in range(durations.shape[1]):
        if durations[task, k] < 0:
            continue
        longest = least
        for entry in range(first, last):
            other, data = neighbours[entry].task, neighbours[entry].data
            l = tasks[other].gpu
            if l < 0:
                path = _shortest_through(paths, durations, link, other, data, k, are_heads == 1)
            else:
                path = tasks[other].duration + (tasks[other].head if are_heads == 1 else tasks[other].tail)
                if data > 0 and k != l:
                    used = link[l, k] if are_heads == 1 else link[k, l]
                    path += used.latency + np.int64(math.ceil(data / used.bytes_per_tick))
            longest = max(longest, path)
        if longest != paths[task, k]:
            paths[task, k], has_changed = longest, True
    return has_changed


@inner_kernel
def take_out(graph: Graph, plan: Plan, journal: Journal, task: int) -> None:
    """Remove a task and mark it and its neighbours."""
    counter, here, mark = journal.counter, plan.task[task], journal.mark[task]
    step = journal.step[counter[STEPS]]
    step.task, step.gpu, step.place = task, here.gpu, here.place
    counter[STEPS] += 1
    if mark.head_kept != counter[NOW]:
        kept = journal.head[counter[HEADS]]
        kept.task, kept.value, mark.head_kept = task, here.head, counter[NOW]
        counter[HEADS] += 1
    if mark.tail_kept != counter[NOW]:
        kept = journal.tail[counter[TAILS]]
        kept.task, kept.value, mark.tail_kept = task, here.tail, counter[NOW]
        counter[TAILS] += 1
    _mark_around(graph.task, graph.pred, graph.succ, plan.task, journal.mark, counter, task)
    _unlink(plan.task, plan.gpu, plan.sequence, task, graph.task[task].memory)
    for k in range(plan.heads.shape[1]):
        plan.heads[task, k] = plan.tails[task, k] = -1


@inner_kernel
def put_in(graph: Graph, plan: Plan, journal: Journal, task: int, k: int, place: int) -> bool:
    """Insert a task and repair the order; False where that would close a cycle: then only `undo` may follow."""
    counter = journal.counter
    step = journal.step[counter[STEPS]]
    step.task, step.gpu = task, OUT
    counter[STEPS] += 1
    _link(graph, plan.task, plan.gpu, plan.sequence, plan.pred_delay, plan.succ_delay, task, k, place)
    if not _repair_order(graph, plan.task, plan.order, journal, task):
        return False
    plan.task[task].head = plan.task[task].tail = -1  # different from any value that can follow
    _mark_around(graph.task, graph.pred, graph.succ, plan.task, journal.mark, counter, task)
    return True


@inner_kernel
def undo(graph: Graph, plan: Plan, journal: Journal) -> None:
    """Undo all changes since the journal was empty."""
    counter = journal.counter
    for index in range(counter[STEPS] - 1, -1, -1):
        step = journal.step[index]
        if step.gpu == OUT:
            _unlink(plan.task, plan.gpu, plan.sequence, step.task, graph.task[step.task].memory)
        else:
            _link(
                graph,
                plan.task,
                plan.gpu,
                plan.sequence,
                plan.pred_delay,
                plan.succ_delay,
                step.task,
                step.gpu,
                step.place,
            )
    for index in range(counter[HEADS]):
        plan.task[journal.head[index].task].head = journal.head[index].value
    for index in range(counter[TAILS]):
        plan.task[journal.tail[index].task].tail = journal.tail[index].value
    for index in range(counter[ORDER] - 1, -1, -1):
        task, position = journal.order[index].task, journal.order[index].value
        plan.order[position], plan.task[task].position = task, position
    forget(journal)


@inner_kernel
def _mark_around(
    data: NDArray[Any],
    preds: NDArray[Any],
    succs: NDArray[Any],
    tasks: NDArray[Any],
    mark: NDArray[Any],
    counter: NDArray[np.int64],
    task: int,
) -> None:
    """Mark a task, the heads of its direct successors and the tails of its direct predecessors, GPU orders included."""
    counter[DIRTY_HEADS] += 1 - mark[task].head_dirty
    counter[DIRTY_TAILS] += 1 - mark[task].tail_dirty
    mark[task].head_dirty = mark[task].tail_dirty = 1
    other = tasks[task].following
    if other != NOTHING:
        counter[DIRTY_HEADS] += 1 - mark[other].head_dirty
        mark[other].head_dirty = 1
    other = tasks[task].previous
    if other != NOTHING:
        counter[DIRTY_TAILS] += 1 - mark[other].tail_dirty
        mark[other].tail_dirty = 1
    for entry in range(data[task].succ, data[task].succ_end):
        other = succs[entry].task
        counter[DIRTY_HEADS] += 1 - mark[other].head_dirty
        mark[other].head_dirty = 1
    for entry in range(data[task].pred, data[task].pred_end):
        other = preds[entry].task
        counter[DIRTY_TAILS] += 1 - mark[other].tail_dirty
        mark[other].tail_dirty = 1


@inner_kernel
def _unlink(tasks: NDArray[Any], gpus: NDArray[Any], sequence: NDArray[np.int64], task: int, memory: int) -> None:
    """Remove a task from its GPU."""
    here = tasks[task]
    k, place = here.gpu, here.place
    if place != NOTHING:
        if here.previous != NOTHING:
            tasks[here.previous].following = here.following
        if here.following != NOTHING:
            tasks[here.following].previous = here.previous
        here.previous = here.following = here.place = NOTHING
        gpus[k].count -= 1
        for index in range(place, gpus[k].count):
            other = sequence[k, index + 1]
            sequence[k, index], tasks[other].place = other, index
    here.gpu = OUT
    gpus[k].free_memory += memory


@inner_kernel
def _link(
    graph: Graph,
    tasks: NDArray[Any],
    gpus: NDArray[Any],
    sequence: NDArray[np.int64],
    pred_delay: NDArray[np.int64],
    succ_delay: NDArray[np.int64],
    task: int,
    k: int,
    place: int,
) -> None:
    """Put a task on a GPU, at a place in its sequence if its duration there is above 0."""
    data, preds, succs, link = graph.task[task], graph.pred, graph.succ, graph.link
    here = tasks[task]
    here.gpu, here.duration = k, graph.duration[task, k]
    gpus[k].free_memory -= data.memory
    if here.duration > 0:
        for index in range(gpus[k].count, place, -1):
            other = sequence[k, index - 1]
            sequence[k, index], tasks[other].place = other, index
        sequence[k, place], here.place = task, place
        gpus[k].count += 1
        if place > 0:
            here.previous = sequence[k, place - 1]
            tasks[here.previous].following = task
        if place + 1 < gpus[k].count:
            here.following = sequence[k, place + 1]
            tasks[here.following].previous = task
    for entry in range(data.pred, data.pred_end):
        l, amount, delay = tasks[preds[entry].task].gpu, preds[entry].data, 0
        if l != OUT:
            if amount > 0 and k != l:
                delay = link[l, k].latency + np.int64(math.ceil(amount / link[l, k].bytes_per_tick))
            pred_delay[entry] = succ_delay[preds[entry].mate] = delay
    for entry in range(data.succ, data.succ_end):
        l, amount, delay = tasks[succs[entry].task].gpu, succs[entry].data, 0
        if l != OUT:
            if amount > 0 and k != l:
                delay = link[k, l].latency + np.int64(math.ceil(amount / link[k, l].bytes_per_tick))
            succ_delay[entry] = pred_delay[succs[entry].mate] = delay


@inner_kernel
def _repair_order(graph: Graph, tasks: NDArray[Any], order: NDArray[np.int64], journal: Journal, task: int) -> bool:
    """Move a task that was linked so that all arcs point forwards; False if there is a cycle.

    Only the range between the first direct successor of the task and its last direct predecessor can be out of order:
    there, the descendants of the task go behind it, all other tasks before it (Pearce and Kelly, 2006).
    """
    data, preds, succs, mark, buffer = graph.task, graph.pred, graph.succ, journal.mark, journal.buffer
    low, high, here = -1, len(order), tasks[task].position
    before, after = tasks[task].previous, tasks[task].following
    if before != NOTHING:
        low = tasks[before].position
    if after != NOTHING:
        high = tasks[after].position
    for entry in range(data[task].pred, data[task].pred_end):
        low = max(low, tasks[preds[entry].task].position)
    for entry in range(data[task].succ, data[task].succ_end):
        high = min(high, tasks[succs[entry].task].position)
    if low < here < high:
        return True
    is_gap = low < high  # then the other tasks keep their order
    first, last = min(here, high), max(here, low)
    size, is_cycle = 0, False
    for position in range(first, last + 1):  # tasks that are no descendants go first
        other = order[position]
        if other == task:
            continue
        follows = is_gap and here > high
        if position >= high and not is_gap:
            behind = tasks[other].previous
            follows = behind == task or (behind != NOTHING and mark[behind].flag == 1)
            for entry in range(data[other].pred, data[other].pred_end):
                behind = preds[entry].task
                follows = follows or behind == task or mark[behind].flag == 1
        if follows:
            mark[other].flag = 1
        else:
            buffer[size] = other
            size += 1
    if not is_gap:
        is_cycle = before != NOTHING and mark[before].flag == 1
        for entry in range(data[task].pred, data[task].pred_end):
            is_cycle = is_cycle or mark[preds[entry].task].flag == 1
    buffer[size] = task
    size += 1
    for position in range(first, last + 1):
        other = order[position]
        if mark[other].flag == 1:
            mark[other].flag = 0
            buffer[size] = other
            size += 1
    if is_cycle:
        return False
    changes, kept = journal.counter[ORDER], journal.order
    for position in range(first, last + 1):
        other = buffer[position - first]
        if order[position] != other:
            kept[changes].value, kept[changes].task = position, order[position]
            order[position], tasks[other].position = other, position
            changes += 1
    journal.counter[ORDER] = changes
    return True
