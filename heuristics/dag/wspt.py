"""Jobs by weight over work (Smith's rule), and shifts and swaps where jobs are single independent tasks (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list, within_memory
from heuristics.dag.network_interfaces import new_nics
from heuristics.dag.priorities import weighted_priorities
from heuristics.search.split_mix import below
from instances.dag.contention import Contention
from instances.dag.objective import Objective, is_for_smiths_rule
from instances.dag.schedule import DagSchedule
from instances.kernels import brief_kernel, inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from instances.dag.instance import DagInstance


def wspt(
    instance: DagInstance, rng: np.random.Generator, *, contention: Contention = Contention.NONE
) -> DagSchedule | None:
    """Place the ready task whose job has the largest weight per tick of work where it finishes first.

    Work is the sum of mean durations; within a job, and where ratios are equal, the task of higher upward rank goes
    first (`weighted_priorities`). Where jobs are single tasks without edges that are released together
    (`is_for_smiths_rule`), tasks are then shifted to other GPUs and swapped as long as that lowers the weighted
    completion, again and again from slightly changed placements (`shift_and_swap`). The makespan is not considered.

    References
    ----------
    Smith (1956), Various optimizers for single-stage production, Naval Research Logistics Quarterly 3: on one machine
    this order is optimal. Jobs of several tasks and the local search are ours.
    """
    arrays, nics = dag_arrays(instance), new_nics(instance, contention)
    priority = weighted_priorities(arrays)
    schedule = within_memory(instance, lambda arrays: place_by_list(arrays, priority, nics=nics), nics)
    if schedule is None or not is_for_smiths_rule(instance, Objective.WEIGHTED_COMPLETION):
        return schedule
    gpu, start = np.array(schedule.gpu), np.empty(instance.num_tasks, dtype=np.int64)
    order = _smiths_orders(instance)
    random = np.array([rng.integers(2**63)], dtype=np.uint64)
    shift_and_swap(arrays, order, gpu, random, KICKS_PER_TASK * instance.num_tasks)
    for k, tasks in enumerate(order):
        here = tasks[gpu[tasks] == k]
        ticks = instance.durations[here, k]
        start[here] = arrays.release[here] + ticks.cumsum() - ticks
    return DagSchedule(gpu=gpu, start=start, transfer_start=schedule.transfer_start, instance=instance)


KICKS_PER_TASK, MOST_STEPS = 100, 60_000_000
"""Descents for every task, and moves that are compared, at most."""

KICK = 4
"""Most tasks that are moved at random before the next descent."""


def _smiths_orders(instance: DagInstance) -> NDArray[np.int64]:
    """Return all tasks for each GPU by increasing duration over weight, shape (m, n)."""
    weight = instance.weight[instance.job_of_task][:, None]
    ratio = np.where(weight > 0, instance.durations / np.maximum(weight, 1), np.inf)
    return np.ascontiguousarray(ratio.argsort(axis=0, kind="stable").T)


@brief_kernel(entries=400)
def shift_and_swap(
    arrays: DagArrays, order: NDArray[np.int64], gpu: NDArray[np.int64], random: NDArray[np.uint64], kicks: int
) -> None:
    """Improve the GPU of every task, in place, by the best shift or swap each time, and by kicks from the best result.

    Parameters
    ----------
    order
        Tasks in Smith's order for each GPU, shape (m, n).
    gpu
        GPU of each task, shape (n,); memory limits hold before and after.
    random
        State of the random numbers, shape (1,).
    kicks
        Descents from changed placements; fewer where they compare more than `MOST_STEPS` moves. No clock is read.
    """
    n, m = arrays.durations.shape
    place, cost = np.empty((n, m), dtype=np.int64), np.empty((n, m), dtype=np.int64)
    for k in range(m):
        for position in range(n):
            place[order[k, position], k] = position
    here, used = gpu.copy(), np.zeros(m, dtype=np.int64)
    for task in range(n):
        used[here[task]] += arrays.task_memory[task]
    least, steps = _costs(arrays, order, here, cost), 0
    for _kick in range(kicks + 1):
        while True:  # invariant: cost[task, k] is what task adds to k, or adds to it now
            steps += n * m + n * (n - 1) // 2
            gain, task, other, target = _best_move(arrays, place, here, used, cost)
            if gain <= 0:
                break
            source = here[task]
            _move(arrays, here, used, task, target)
            if other >= 0:
                _move(arrays, here, used, other, source)
            _costs(arrays, order, here, cost)
        value = _costs(arrays, order, here, cost)
        if value <= least:
            least = value
            for task in range(n):
                gpu[task] = here[task]
        if steps >= MOST_STEPS or n < 2 or m < 2:
            return
        for task in range(n):
            if here[task] != gpu[task]:
                _move(arrays, here, used, task, gpu[task])
        for _ in range(1 + below(random, KICK)):
            task, target = below(random, n), below(random, m)
            limit = arrays.gpu_memory[target]
            fits = limit < 0 or used[target] + arrays.task_memory[task] <= limit or here[task] == target
            if arrays.allowed[task, target] and fits:
                _move(arrays, here, used, task, target)
        _costs(arrays, order, here, cost)


@inner_kernel
def _move(arrays: DagArrays, gpu: NDArray[np.int64], used: NDArray[np.int64], task: int, target: int) -> None:
    """Put a task on another GPU."""
    used[gpu[task]] -= arrays.task_memory[task]
    used[target] += arrays.task_memory[task]
    gpu[task] = target


@inner_kernel
def _costs(arrays: DagArrays, order: NDArray[np.int64], gpu: NDArray[np.int64], cost: NDArray[np.int64]) -> int:
    """Write what each task adds, or would add, to the weighted completion on each GPU; return that completion.

    A task adds its weight times its own finish, and its duration times the weight of all later tasks there.
    """
    total = 0
    for k in range(order.shape[0]):
        work, later = 0, 0
        for task in order[k]:
            if gpu[task] == k:
                later += arrays.weight[arrays.job_of_task[task]]
        for task in order[k]:
            if not arrays.allowed[task, k]:
                continue
            weight, duration = arrays.weight[arrays.job_of_task[task]], arrays.durations[task, k]
            if gpu[task] == k:
                later -= weight
                work += duration
                total += weight * work
                cost[task, k] = weight * work + duration * later
            else:
                cost[task, k] = weight * (work + duration) + duration * later
    return total


@inner_kernel
def _best_move(
    arrays: DagArrays,
    place: NDArray[np.int64],
    gpu: NDArray[np.int64],
    used: NDArray[np.int64],
    cost: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Return the largest gain of a shift or swap, the task, the other one (-1: shift), and where the task goes."""
    best, first, second, where = 0, -1, -1, -1
    memory, limit = arrays.task_memory, arrays.gpu_memory
    n, m = arrays.durations.shape
    for task in range(n):
        source = gpu[task]
        for k in range(m):
            if k != source and arrays.allowed[task, k] and (limit[k] < 0 or used[k] + memory[task] <= limit[k]):
                gain = cost[task, source] - cost[task, k]
                if gain > best:
                    best, first, second, where = gain, task, -1, k
        for other in range(task + 1, n):
            k = gpu[other]
            if k == source or not (arrays.allowed[task, k] and arrays.allowed[other, source]):
                continue
            gain = cost[task, source] + cost[other, k] - cost[task, k] - cost[other, source]
            gain += _together(arrays, place, task, other, k) + _together(arrays, place, other, task, source)
            if gain > best:
                change = memory[task] - memory[other]
                if (limit[k] < 0 or used[k] + change <= limit[k]) and (
                    limit[source] < 0 or used[source] - change <= limit[source]
                ):
                    best, first, second, where = gain, task, other, k
    return best, first, second, where


@inner_kernel
def _together(arrays: DagArrays, place: NDArray[np.int64], task: int, other: int, k: int) -> int:
    """Return what two tasks add to each other on a GPU: the weight of the later one times the duration of the other."""
    if place[other, k] < place[task, k]:
        return int(arrays.weight[arrays.job_of_task[task]] * arrays.durations[other, k])
    return int(arrays.weight[arrays.job_of_task[other]] * arrays.durations[task, k])
