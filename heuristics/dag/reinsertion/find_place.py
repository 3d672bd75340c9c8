"""The best place for a task that is taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.dag.reinsertion.propagate import FAR
from heuristics.dag.reinsertion.split_mix import uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.reinsertion.graph import Graph
    from heuristics.dag.reinsertion.plan import Plan


@njit(cache=True)
def find_place(
    graph: Graph,
    plan: Plan,
    task: int,
    limit: float,
    price: float,
    waste: NDArray[np.float64],
    skip: float,
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Return GPU and place in its sequence with the least cost, (-1, -1) where there is none.

    The longest way through task v between its neighbours x and y on GPU k is exactly

        max(H[v,k], head[x] + p[x]) + p[v,k] + max(T[v,k], tail[y] + p[y]),

    and a best place is among those that stand neither before the last task with p + tail > T alone nor behind the first
    one with head + p > H alone; while v alone is out, none of these closes a cycle. Dell'Amico and Trubian (1993), for
    several machines Mastrolilli and Gambardella (2000); here H and T hold the transfer delays of GPU k. The cost is
    that way plus the price of the waste on the GPU; ties go to the earlier finish.

    Parameters
    ----------
    graph, plan, task
        The task is taken out.
    limit
        Ways beyond it are left out.
    price, waste
        Ticks that count for a tick of waste; waste of each task on each GPU, shape (n, m).
    skip
        Probability that a GPU is passed over.
    state
        Of the random numbers.
    """
    tasks, sequence, durations, gpus = plan.task, plan.sequence, graph.duration, plan.gpu
    heads, tails, memory = plan.heads, plan.tails, graph.task[task].memory
    best_gpu, best_place, best_cost, best_finish = -1, -1, np.inf, np.int64(FAR)
    for k in range(durations.shape[1]):
        work, begin, onward, count = durations[task, k], heads[task, k], tails[task, k], gpus[k].count
        if work < 0 or gpus[k].free_memory < memory or begin + work + onward > limit:
            continue
        extra = price * waste[task, k] if price > 0.0 else 0.0
        if begin + work + onward + extra > best_cost or uniform(state) < skip:
            continue
        first, last = 0, 0
        if work > 0:
            low, high = 0, count  # the first task that finishes after `begin`
            while low < high:
                middle = (low + high) // 2
                other = sequence[k, middle]
                if tasks[other].head + tasks[other].duration > begin:
                    high = middle
                else:
                    low = middle + 1
            first, high = low, count  # the first task that is followed by no more than `onward`
            low = 0
            while low < high:
                middle = (low + high) // 2
                other = sequence[k, middle]
                if tasks[other].tail + tasks[other].duration > onward:
                    low = middle + 1
                else:
                    high = middle
            last = low
        if first >= last:  # it fits between: all places from one to the other are as good, as far as this task goes
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
