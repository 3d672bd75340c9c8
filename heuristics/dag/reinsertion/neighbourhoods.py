"""Which tasks are removed together, and the best place to reinsert each of them (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.dag.reinsertion.move import FAR
from heuristics.dag.reinsertion.plan import NOTHING
from heuristics.search.split_mix import below, uniform
from instances.kernels import inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.reinsertion.plan import Graph, Plan


WALK, HEAVY_WALK, CLUSTER, PATH, STRINGS, EXCHANGE = 0, 1, 2, 3, 4, 5
"""Neighbours by edges, GPUs and time; the same, preferring edges with much data; along the edges with the most data;
along a critical path; consecutive tasks on a few GPUs around one time; a walk, and one from a task of another GPU."""

NUM_NEIGHBOURHOODS = 6

EXCHANGE_DRAWS = 8
"""Random tasks that an exchange looks at for one of another GPU."""


@inner_kernel
def grow_set(
    graph: Graph,
    plan: Plan,
    neighbourhood: int,
    largest: int,
    members: NDArray[np.int64],
    mark: NDArray[Any],
    state: NDArray[np.uint64],
) -> int:
    """Grow a set of tasks around ``members[0]`` in a plan without removed tasks; return its size.

    Parameters
    ----------
    neighbourhood
        One of those above.
    largest
        Largest size; the set is smaller where the neighbourhood ends.
    members
        Written: the set, shape (at least `largest`,).
    mark
        With a scratch field `flag`, all 0, shape (n,).
    """
    mark[members[0]].flag = 1
    if neighbourhood == CLUSTER:
        size = _grow_cluster(graph.task, graph.pred, graph.succ, largest, members, mark, state)
    elif neighbourhood == PATH:
        size = _grow_path(graph, plan, largest, members, mark, state)
    elif neighbourhood == STRINGS:
        size = _grow_strings(plan.task, plan.sequence, plan.gpu, largest, members, mark, state)
    elif neighbourhood == EXCHANGE:
        size = _grow_exchange(graph, plan, largest, members, mark, state)
    else:
        size = _grow_walk(graph, plan, 0, largest, members, mark, state, neighbourhood == HEAVY_WALK)
    for index in range(size):
        mark[members[index]].flag = 0
    return size


@inner_kernel
def _first_unfinished(tasks: NDArray[Any], sequence: NDArray[np.int64], count: int, k: int, time: int) -> int:
    """Return the place of the first task of a GPU that finishes after a time, or the number of tasks."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        task = sequence[k, middle]
        if tasks[task].head + tasks[task].duration > time:
            high = middle
        else:
            low = middle + 1
    return low


@inner_kernel
def _grow_walk(
    graph: Graph,
    plan: Plan,
    first: int,
    largest: int,
    members: NDArray[np.int64],
    mark: NDArray[Any],
    state: NDArray[np.uint64],
    prefers_data: bool,
) -> int:
    """Add random neighbours: 7 of 10 by edges, 2 by the order on GPUs, 1 at the same time on a random GPU.

    The walk begins at the member of index `first` and does not go on from those before it.
    """
    data, preds, succs = graph.task, graph.pred, graph.succ
    tasks, sequence, gpus = plan.task, plan.sequence, plan.gpu
    size = first + 1
    for _ in range(6 * largest):
        if size == largest:
            break
        task = members[first + below(state, size - first)]
        draw, found = uniform(state), NOTHING
        if draw < 0.35:
            found = _draw_neighbour(preds, data[task].pred, data[task].pred_end, prefers_data, state)
        elif draw < 0.7:
            found = _draw_neighbour(succs, data[task].succ, data[task].succ_end, prefers_data, state)
        elif draw < 0.9:
            found = tasks[task].following if draw < 0.8 else tasks[task].previous
        else:
            k = below(state, len(gpus))
            place = _first_unfinished(tasks, sequence, gpus[k].count, k, tasks[task].head)
            if place < gpus[k].count:
                found = sequence[k, place]
        if found != NOTHING and mark[found].flag == 0:
            mark[found].flag = 1
            members[size] = found
            size += 1
    return size


@inner_kernel
def _grow_exchange(
    graph: Graph, plan: Plan, largest: int, members: NDArray[np.int64], mark: NDArray[Any], state: NDArray[np.uint64]
) -> int:
    """Walk from the first task and from a random one of another GPU, which may run at any time.

    Loads and memory are bound to no time: what two GPUs exchange need not run at the same one.
    """
    size = _grow_walk(graph, plan, 0, (largest + 1) // 2, members, mark, state, False)
    if size == largest:
        return size
    for _ in range(EXCHANGE_DRAWS):
        other = below(state, len(plan.order))
        if mark[other].flag == 0 and plan.task[other].gpu != plan.task[members[0]].gpu:
            mark[other].flag = 1
            members[size] = other
            return _grow_walk(graph, plan, size, largest, members, mark, state, False)
    return size


@inner_kernel
def _draw_neighbour(
    neighbours: NDArray[Any], first: int, end: int, prefers_data: bool, state: NDArray[np.uint64]
) -> int:
    """Draw a predecessor or successor; with a preference, take the one with the most data of three draws."""
    if end == first:
        return NOTHING
    entry = first + below(state, end - first)
    if prefers_data:
        for _ in range(2):
            other = first + below(state, end - first)
            if neighbours[other].data > neighbours[entry].data:
                entry = other
    return neighbours[entry].task


@inner_kernel
def _grow_cluster(
    data: NDArray[Any],
    preds: NDArray[Any],
    succs: NDArray[Any],
    largest: int,
    members: NDArray[np.int64],
    mark: NDArray[Any],
    state: NDArray[np.uint64],
) -> int:
    """Add the task at the end of the edge with the most data that leaves the set; data are multiplied by 0.2 to 1.2."""
    size = 1
    while size < largest:
        found, most = NOTHING, 0.0
        for index in range(size):
            task = members[index]
            for entry in range(data[task].pred, data[task].pred_end):
                if mark[preds[entry].task].flag == 0:
                    amount = preds[entry].data * (0.2 + uniform(state))
                    if amount > most:
                        found, most = preds[entry].task, amount
            for entry in range(data[task].succ, data[task].succ_end):
                if mark[succs[entry].task].flag == 0:
                    amount = succs[entry].data * (0.2 + uniform(state))
                    if amount > most:
                        found, most = succs[entry].task, amount
        if found == NOTHING:
            break
        mark[found].flag = 1
        members[size] = found
        size += 1
    return size


@inner_kernel
def _grow_path(
    graph: Graph, plan: Plan, largest: int, members: NDArray[np.int64], mark: NDArray[Any], state: NDArray[np.uint64]
) -> int:
    """Follow arcs without slack backwards, then forwards."""
    data, preds, succs, tasks = graph.task, graph.pred, graph.succ, plan.task
    pred_delay, succ_delay = plan.pred_delay, plan.succ_delay
    size, backwards, task = 1, 1 + below(state, largest), members[0]
    while size < backwards:
        found, ties, other = NOTHING, 0, tasks[task].previous
        if other != NOTHING and tasks[other].head + tasks[other].duration == tasks[task].head:
            found, ties = other, 1
        for entry in range(data[task].pred, data[task].pred_end):
            other = preds[entry].task
            if tasks[other].head + tasks[other].duration + pred_delay[entry] == tasks[task].head:
                ties += 1
                if below(state, ties) == 0:
                    found = other
        if found == NOTHING or mark[found].flag == 1:
            break
        mark[found].flag = 1
        members[size] = task = found
        size += 1
    task = members[0]
    while size < largest:
        found, ties, other = NOTHING, 0, tasks[task].following
        if other != NOTHING and tasks[other].tail + tasks[other].duration == tasks[task].tail:
            found, ties = other, 1
        for entry in range(data[task].succ, data[task].succ_end):
            other = succs[entry].task
            if tasks[other].tail + tasks[other].duration + succ_delay[entry] == tasks[task].tail:
                ties += 1
                if below(state, ties) == 0:
                    found = other
        if found == NOTHING or mark[found].flag == 1:
            break
        mark[found].flag = 1
        members[size] = task = found
        size += 1
    return size


@inner_kernel
def _grow_strings(
    tasks: NDArray[Any],
    sequence: NDArray[np.int64],
    gpus: NDArray[Any],
    largest: int,
    members: NDArray[np.int64],
    mark: NDArray[Any],
    state: NDArray[np.uint64],
) -> int:
    """Add consecutive tasks of the same GPU and up to two random ones, around the start of the first task."""
    size, m = 1, len(gpus)
    num_strings = min(1 + below(state, 3), m)
    length = max(1, largest // num_strings)
    k, time = tasks[members[0]].gpu, tasks[members[0]].head
    for _ in range(num_strings):
        count = gpus[k].count
        place = _first_unfinished(tasks, sequence, count, k, time)
        first = max(0, min(place - below(state, length), count - length))
        for place in range(first, min(first + length, count)):
            task = sequence[k, place]
            if mark[task].flag == 0 and size < largest:
                mark[task].flag = 1
                members[size] = task
                size += 1
        k = below(state, m)
    return size


@inner_kernel
def find_place(
    graph: Graph,
    plan: Plan,
    task: int,
    limit: float,
    price: float,
    waste: NDArray[np.float64],
    overflow_price: float,
    skip: float,
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Return GPU and place in its sequence with the least cost for a removed task, (-1, -1) where there is none.

    The longest path through task v between its neighbours x and y on GPU k is exactly

        max(H[v,k], head[x] + p[x]) + p[v,k] + max(T[v,k], tail[y] + p[y]),

    and a best place is among those neither before the last task with p + tail > T alone nor behind the first task with
    head + p > H alone; while only v is removed, none of these closes a cycle. Dell'Amico and Trubian (1993), for
    several machines Mastrolilli and Gambardella (2000); here H and T include the transfer delays of GPU k. The cost is
    the length of that path plus the prices of the waste on the GPU and of memory that it does not have; ties go to the
    earlier finish.

    Parameters
    ----------
    limit
        Longer paths are ignored.
    price, waste
        Cost in ticks of a tick of waste; waste of each task on each GPU, shape (n, m).
    overflow_price
        Cost in ticks of a byte beyond the memory of a GPU.
    skip
        Probability that a GPU is skipped.
    """
    tasks, sequence, durations, gpus = plan.task, plan.sequence, graph.duration, plan.gpu
    heads, tails, memory = plan.heads, plan.tails, graph.task[task].memory
    best_gpu, best_place, best_cost, best_finish = -1, -1, np.inf, np.int64(FAR)
    for k in range(durations.shape[1]):
        work, begin, onward, count = durations[task, k], heads[task, k], tails[task, k], gpus[k].count
        if work < 0 or begin + work + onward > limit:
            continue
        extra = price * waste[task, k] if price > 0.0 else 0.0
        if gpus[k].free_memory < memory:
            extra += overflow_price * (memory - max(gpus[k].free_memory, 0))
        if begin + work + onward + extra > best_cost or uniform(state) < skip:
            continue
        first, last = 0, 0
        if work > 0:
            low, high = 0, count  # binary search for the first task that finishes after `begin`
            while low < high:
                middle = (low + high) // 2
                other = sequence[k, middle]
                if tasks[other].head + tasks[other].duration > begin:
                    high = middle
                else:
                    low = middle + 1
            first, high = low, count  # binary search for the first task with duration + tail of at most `onward`
            low = 0
            while low < high:
                middle = (low + high) // 2
                other = sequence[k, middle]
                if tasks[other].tail + tasks[other].duration > onward:
                    low = middle + 1
                else:
                    high = middle
            last = low
        if first >= last:  # the task delays no other: all places between the two have the same longest path
            cost, finish = begin + work + onward + extra, begin + work
            if cost < best_cost or (cost == best_cost and finish < best_finish):
                best_place = first if uniform(state) < 0.5 else last
                best_gpu, best_cost, best_finish = k, cost, finish
            continue
        for place in range(first, last + 1):
            start, rest = begin, onward
            if place > 0:
                other = sequence[k, place - 1]
                start = max(start, tasks[other].head + tasks[other].duration)
            if place < count:
                other = sequence[k, place]
                rest = max(rest, tasks[other].tail + tasks[other].duration)
            cost, finish = start + work + rest + extra, start + work
            if start + work + rest <= limit and (cost < best_cost or (cost == best_cost and finish < best_finish)):
                best_gpu, best_place, best_cost, best_finish = k, place, cost, finish
    return best_gpu, best_place
