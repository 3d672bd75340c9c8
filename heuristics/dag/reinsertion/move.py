"""Taking a task out of a plan, putting it in, and undoing all of that."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from heuristics.dag.reinsertion.journal import DIRTY_HEADS, DIRTY_TAILS, HEADS, NOW, ORDER, STEPS, TAILS, forget
from heuristics.dag.reinsertion.plan import NOTHING, OUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.reinsertion.graph import Graph
    from heuristics.dag.reinsertion.journal import Journal
    from heuristics.dag.reinsertion.plan import Plan


@njit(cache=True)
def take_out(graph: Graph, plan: Plan, journal: Journal, task: int) -> None:
    """Take a task out; what it reaches is marked."""
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


@njit(cache=True)
def put_in(graph: Graph, plan: Plan, journal: Journal, task: int, k: int, place: int) -> bool:
    """Put a task in and mend the order; False where that would close a cycle, and then only `undo` may follow."""
    counter = journal.counter
    step = journal.step[counter[STEPS]]
    step.task, step.gpu = task, OUT
    counter[STEPS] += 1
    _link(graph, plan.task, plan.gpu, plan.sequence, plan.pred_delay, plan.succ_delay, task, k, place)
    if not _mend_order(graph, plan.task, plan.order, journal, task):
        return False
    plan.task[task].head = plan.task[task].tail = -1  # unlike any that can follow
    _mark_around(graph.task, graph.pred, graph.succ, plan.task, journal.mark, counter, task)
    return True


@njit(cache=True)
def undo(graph: Graph, plan: Plan, journal: Journal) -> None:
    """Take back everything since the journal was empty."""
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


@njit(cache=True)
def _mark_around(
    data: NDArray[Any],
    preds: NDArray[Any],
    succs: NDArray[Any],
    tasks: NDArray[Any],
    mark: NDArray[Any],
    counter: NDArray[np.int64],
    task: int,
) -> None:
    """Mark a task, the heads of what comes right after it and the tails of what comes right before."""
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


@njit(cache=True)
def _unlink(tasks: NDArray[Any], gpus: NDArray[Any], sequence: NDArray[np.int64], task: int, memory: int) -> None:
    """Take a task from its GPU."""
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


@njit(cache=True)
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
    """Put a task on a GPU, at a place in its sequence if it takes time there."""
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


@njit(cache=True)
def _mend_order(graph: Graph, tasks: NDArray[Any], order: NDArray[np.int64], journal: Journal, task: int) -> bool:
    """Move a task that was linked so that all arcs point forwards; False if there is a cycle.

    Only the stretch between the first arc out of the task and the last one into it can be out of order: there, what
    follows from the task goes behind it, the rest before (Pearce and Kelly (2006)).
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
    has_room = low < high  # then the others keep their order
    first, last = min(here, high), max(here, low)
    size, is_cycle = 0, False
    for position in range(first, last + 1):  # what does not follow from the task
        other = order[position]
        if other == task:
            continue
        follows = has_room and here > high
        if position >= high and not has_room:
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
    if not has_room:
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
