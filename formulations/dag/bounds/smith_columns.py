"""Weighted completion by sets of tasks per GPU, each in Smith's order: column generation by prices of tasks."""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.bounds.single_machine import shortest_durations
from formulations.dag.heads_and_tails import heads_and_tails
from formulations.time_left import without_limit
from instances.dag.contention import Contention
from instances.dag.objective import Objective
from instances.kernels import brief_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


FINEST = 32
"""Prices are whole numbers of this share of a weighted tick; fewer where numbers would not fit."""

LARGEST = 2**60
"""Costs and prices stay below it, so that their sums are exact in 64 bits."""

UNREACHED = 2**62

MOST_STEPS = 400_000_000
"""Elementary steps of all rounds together: about a second."""

MOST_ROUNDS = 400

FEWEST_ROUNDS = 100
"""Where time has to be cut into coarser cells, so many rounds remain possible."""

AMBITION, PATIENCE, MEMORY = 0.02, 15, 0.5
"""Steps are as long as if prices better by this share existed, halved after so many rounds without progress; the
share of the previous direction in a new one. Measured on 40 x 4 and 60 x 4 unrelated machines: 200 rounds end within
0.1 % of the value after 2,000."""


class GpuColumn(NamedTuple):
    """What may stand on one GPU: tasks in Smith's order, with arrays of their shape."""

    task: NDArray[np.int64]
    duration: NDArray[np.int64]
    weight: NDArray[np.int64]
    offset: NDArray[np.int64]  # finish plus tail within the job, if nothing stands before the task


def smith_columns(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the bound on the weighted completion by the cheapest set of tasks for every GPU; 0 for the makespan.

    The weight of a job is divided among its tasks (`task_weights`). For any prices pi of the tasks

        sum_i pi[i]  +  sum_k  min over sets S of ( cost_k(S) - sum over i in S of pi[i] )

    is a lower bound, with cost_k(S) the least weighted sum of completion times of S alone on GPU k, which Smith's order
    attains. The minimum over S is found by dynamic programming over that order and the work so far. The prices come
    from a subgradient method; every value is computed in integers, so that bad prices only weaken the bound. Memory
    limits and transfers between tasks on different GPUs count only in heads and tails. When no seconds are left, the
    best value so far is returned (docs/bounds.md, section 4.4).

    References
    ----------
    Smith (1956) for the order; van den Akker, Hoogeveen and van de Velde (1999), Chen and Powell (1999) for columns;
    weights per task, tails and merged cells of work are ours.
    """
    if Objective(objective) is not Objective.WEIGHTED_COMPLETION:
        return 0
    found = priced_columns(instance, contention, seconds_left=seconds_left, is_exact=False)
    return idle_completion(instance) if found is None else found.bound


class PricedColumns(NamedTuple):
    """The bound with what proves it: weights of tasks, and their prices in shares 1 / fineness of a weighted tick."""

    bound: int
    fineness: int
    weight: NDArray[np.int64]
    price: NDArray[np.int64]


MOST_CELLS = 20_000_000
"""Cells of all tasks on one GPU, one per tick of work, up to which the value of prices is computed exactly."""


def priced_columns(
    instance: DagInstance,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
    is_exact: bool = True,
) -> PricedColumns | None:
    """Return the best prices and what they prove; None for numbers too large, or no GPU for any weight.

    With `is_exact` the value is that of the formula, without merged cells, and None where that takes too many cells.
    """
    weight, idle = task_weights(instance), idle_completion(instance)
    around = heads_and_tails(instance, contention=contention)
    columns = _columns(instance, weight, around.heads, around.job_tails, around.allowed & (weight > 0)[:, None])
    longest = max((int(column.duration.sum() + column.offset.max(initial=0)) for column in columns), default=0)
    fineness = min(FINEST, LARGEST // max(2 * int(weight.sum()) * max(longest, 1), 1))
    if fineness < 1 or not columns:  # the weights times the horizon are near the largest integers, or nothing has a GPU
        return None
    columns = [column._replace(weight=column.weight * fineness) for column in columns]
    most = weight * (fineness * longest)  # a larger price would only add to what it takes away
    start, load = _greedy_prices(columns, weight, shortest_durations(instance))
    best, price = _ascent(columns, np.minimum(start, most), most, 2 * load, seconds_left)
    if is_exact:
        cells = [int(column.duration.sum()) + 1 for column in columns]
        if any(count * len(column.task) > MOST_CELLS for count, column in zip(cells, columns, strict=True)):
            return None
        chosen, best = np.zeros(len(price), dtype=np.int64), sum(price.tolist())
        best += sum(int(cheapest_set(one, price, count, 1, chosen)) for count, one in zip(cells, columns, strict=True))
    return PricedColumns(max(-(-(idle * fineness + best) // fineness), 0), fineness, weight, price)


def idle_completion(instance: DagInstance) -> int:
    """Return the weighted completion of the jobs without tasks, which complete at their release."""
    idle = np.bincount(instance.job_of_task, minlength=instance.num_jobs) == 0
    return int(instance.weight[idle] @ instance.release[idle])


def task_weights(instance: DagInstance) -> NDArray[np.int64]:
    """Return weights of tasks, shape (n,), whose sum over a job is its weight, in proportion to shortest durations.

    A job ends with its last task, so the weighted completion is at least the sum of these weights times completions.
    Remainders go to the last tasks of the job in topological order.
    """
    shortest, weight = shortest_durations(instance).astype(object), np.zeros(instance.num_tasks, dtype=np.int64)
    for job in range(instance.num_jobs):
        tasks = instance.topological_order[instance.job_of_task[instance.topological_order] == job]
        if not len(tasks):
            continue
        done = np.cumsum(shortest[tasks])
        until = done * int(instance.weight[job]) // max(int(done[-1]), 1)
        until[-1] = int(instance.weight[job])
        weight[tasks] = np.diff(until, prepend=0).astype(np.int64)
    return weight


def _columns(
    instance: DagInstance,
    weight: NDArray[np.int64],
    heads: NDArray[np.int64],
    tails: NDArray[np.int64],
    allowed: NDArray[np.bool_],
) -> list[GpuColumn]:
    """Return the tasks that may stand on each GPU by increasing duration over weight; work begins at the least head."""
    columns = []
    for k in range(instance.num_gpus):
        tasks = np.flatnonzero(allowed[:, k])
        if not len(tasks):
            continue
        duration = instance.durations[tasks, k]
        triples = list(zip(duration.tolist(), weight[tasks].tolist(), tasks.tolist(), strict=True))
        in_order = sorted(triples, key=cmp_to_key(_later_by_smiths_rule))
        tasks = np.array([task for _, _, task in in_order], dtype=np.int64)
        duration, begin = instance.durations[tasks, k], int(heads[tasks, k].min())
        columns.append(GpuColumn(tasks, duration, weight[tasks], begin + duration + tails[tasks, k]))
    return columns


def _later_by_smiths_rule(one: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    """Compare duration over weight of two tasks in exact arithmetic."""
    return one[0] * other[1] - other[0] * one[1]


def _greedy_prices(
    columns: list[GpuColumn], weight: NDArray[np.int64], shortest: NDArray[np.int64]
) -> tuple[NDArray[np.float64], int]:
    """Return what each task costs itself and later ones in a greedy schedule, shape (n,), and its largest load.

    Tasks by decreasing weight over shortest duration, each where it finishes first.
    """
    n, m = len(weight), len(columns)
    finish, gpu = np.full((n, m), np.inf), np.full(n, -1)
    for k, column in enumerate(columns):
        finish[column.task, k] = column.offset
    load, price = np.zeros(m), np.zeros(n)
    for task in sorted(np.flatnonzero(weight > 0).tolist(), key=lambda task: shortest[task] / weight[task]):
        gpu[task] = k = int((finish[task] + load).argmin())
        column = columns[k]
        load[k] += column.duration[column.task == task].sum()
    for k, column in enumerate(columns):
        here = gpu[column.task] == k
        duration, own = column.duration[here].astype(np.float64), column.weight[here].astype(np.float64)
        before, after = duration.cumsum() - duration, own[::-1].cumsum()[::-1] - own
        price[column.task[here]] = own * (before + column.offset[here]) + duration * after
    return price, int(load.max(initial=0))


def _ascent(
    columns: list[GpuColumn],
    start: NDArray[np.float64],
    most: NDArray[np.int64],
    load: int,
    seconds_left: Callable[[], float],
) -> tuple[int, NDArray[np.int64]]:
    """Return the best value of the bound in shares of a weighted tick, and its prices, along averaged subgradients.

    Work beyond `load` on one GPU is not told apart.
    """
    sizes = sum(len(column.task) for column in columns)
    cells = cells_for(load, sizes)
    width, work = -(-(load + 1) // cells), sizes * cells
    here, direction, ambition, standstill = start, np.zeros(len(start)), AMBITION, 0
    best, best_here, chosen = 0, np.zeros(len(start)), np.zeros(len(start), dtype=np.int64)
    matters = most > 0
    for _ in range(min(MOST_ROUNDS, MOST_STEPS // max(work, 1) + 1)):
        if seconds_left() <= 0:
            break
        price = np.clip(np.rint(here), 0, most).astype(np.int64)
        chosen[:] = 0
        value = sum(price.tolist())
        for column in columns:
            value += int(cheapest_set(column, price, cells, width, chosen))
        if value > best:
            standstill = 0 if value > best * (1 + 1e-6) else standstill
            best, best_here = value, here
        standstill += 1
        if standstill > PATIENCE:
            ambition, standstill, here, direction = ambition / 2, 0, best_here, np.zeros(len(start))
            continue
        direction = MEMORY * direction + (1 - MEMORY) * np.where(matters, 1.0 - chosen, 0.0)
        length = float((direction * direction).sum())
        if length < 1e-12:
            break
        here = np.clip(here + ((1 + ambition) * max(best, 1) - value) / length * direction, 0, most)
    return best, np.clip(np.rint(best_here), 0, most).astype(np.int64)


def cells_for(load: int, sizes: int) -> int:
    """Return the number of cells of work on each GPU, one per tick where the number of rounds allows that."""
    return max(min(load + 1, MOST_STEPS // (FEWEST_ROUNDS * max(sizes, 1))), 64)


@brief_kernel()
def cheapest_set(column: GpuColumn, price: NDArray[np.int64], cells: int, width: int, chosen: NDArray[np.int64]) -> int:
    """Return the least cost of a set of tasks less their prices, at most 0; count its tasks in `chosen`.

    Invariant: for every set of the tasks so far, the cell of some label has a cost of at most that of the set and an
    amount of work of at most its work. A cell is a range of `width` ticks of work, the last one all that is left;
    labels in one cell are merged into the least cost and the least work: few cells weaken the bound, never spoil it.
    """
    n = len(column.task)
    cost, work = np.full(cells, UNREACHED, dtype=np.int64), np.full(cells, UNREACHED, dtype=np.int64)
    before = np.full((n, cells), -1, dtype=np.int32)
    cost[0] = work[0] = 0
    top = 0
    for place in range(n):
        duration, weight, offset = column.duration[place], column.weight[place], column.offset[place]
        reward, highest = price[column.task[place]], top
        if reward <= weight * offset:
            continue  # no set becomes cheaper by this task
        for cell in range(top, -1, -1):  # a label moves up or stays, so none is met twice
            if cost[cell] == UNREACHED:
                continue
            value, done = cost[cell] + weight * (work[cell] + offset) - reward, work[cell] + duration
            target = min(done // width, cells - 1)
            if value < cost[target]:
                cost[target], before[place, target] = value, cell
            work[target] = min(work[target], done)
            highest = max(highest, target)
        top = highest
    cell = 0
    for other in range(top + 1):
        if cost[other] < cost[cell]:
            cell = other
    least = int(cost[cell])
    for place in range(n - 1, -1, -1):
        if before[place, cell] >= 0:
            chosen[column.task[place]] += 1
            cell = before[place, cell]
    return least
