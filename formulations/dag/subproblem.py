"""A stretch of a schedule as a DAG problem of its own: the tasks around it become heads and tails."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.heads_and_tails import HeadsAndTails
from formulations.dag.join import INFINITE
from formulations.dag.left_shift import left_shift
from formulations.dag.windows import Windows, horizon
from instances.dag.graph import predecessors, successors
from instances.dag.instance import NO_LIMIT, DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.kernels import inner_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Subproblem:
    """The tasks of a stretch of a schedule, with all others fixed.

    Parameters
    ----------
    whole
        The instance that was cut.
    around
        The schedule that was cut.
    tasks
        The free tasks in the order of the schedule, shape (q,); task t of `instance` is task ``tasks[t]`` of `whole`.
    after
        Which tasks of `whole` come after the free ones, shape (n,).
    instance
        The free tasks, the edges between them, and the memory that the fixed tasks leave.
    within
        Heads, tails and limits on the cost of the whole schedule: `at_least` is a lower bound on the objective of the
        whole schedule for any change of the free tasks; it proves nothing about `whole`.
    completion_tails
        For weighted completion: ticks from the finish of task t on GPU k to the completion of job j, shape (q, m,
        jobs), negative where j does not wait for it. None for the makespan.
    """

    whole: DagInstance
    around: DagSchedule
    tasks: NDArray[np.int64]
    after: NDArray[np.bool_]
    instance: DagInstance
    within: Windows
    completion_tails: NDArray[np.int64] | None

    @property
    def schedule(self) -> DagSchedule:
        """The free tasks as they are in the schedule that was cut."""
        return DagSchedule(gpu=self.around.gpu[self.tasks], start=self.around.start[self.tasks], instance=self.instance)

    def inserted(self, schedule: DagSchedule) -> DagSchedule:
        """Return the whole schedule with the free tasks as in `schedule`, every task as early as the orders allow."""
        gpu, start = np.array(self.around.gpu), np.array(self.around.start)
        end = int(start.max(initial=0)) + 1  # orders are all that counts: before, free, after
        gpu[self.tasks], start[self.tasks] = schedule.gpu, schedule.start + end
        start[self.after] += end + int(schedule.start.max(initial=0)) + 1
        return left_shift(self.whole, gpu, start)


def order_of(instance: DagInstance, schedule: DagSchedule) -> NDArray[np.int64]:
    """Return the tasks by (start, topological position), shape (n,): predecessors first, and in order on every GPU."""
    order = instance.topological_order
    return order[np.argsort(schedule.start[order], kind="stable")]


def subproblem(
    instance: DagInstance,
    schedule: DagSchedule,
    objective: Objective,
    *,
    first: int,
    last: int,
    at_most: int,
    lower_bound: int = 0,
    most_gpus: int | None = None,
) -> Subproblem:
    """Cut the tasks at positions `first` to `last` of `order_of` out of a schedule.

    Tasks before the stretch stay where they are. Tasks after it keep their GPU and the order on it, and their starts
    follow. So a free task's head on GPU k is the largest of its release, the arrivals of fixed predecessors at k, and
    the time at which the fixed tasks before the stretch free k; its tail is the longest way from its finish on k
    through fixed tasks after the stretch, by edges with their transfers and by the order on the GPUs, including the
    first of them on k. Heads and tails are then carried along the edges between free tasks, and pairs that exceed
    `at_most` are removed. For weighted completion no job may take longer than twice the makespan plus the horizon of
    the free tasks, which is no restriction if all tasks are free.

    Parameters
    ----------
    schedule
        A verified schedule without needless waiting (`left_shift`).
    first, last
        Positions, 0 <= first < last <= n; `last` is the first one after the stretch.
    at_most
        Largest objective of the whole schedule that is of interest.
    lower_bound
        Proven for the whole instance.
    most_gpus
        Allow every free task at most so many GPUs besides its own: those with the least head plus duration plus longest
        tail. None for all. (Ours; the model shrinks with the square.)

    Raises
    ------
    ValueError
        If the stretch is empty or reaches beyond the tasks.
    """
    instance.refuse_buffers("a part of a schedule")
    if not 0 <= first < last <= instance.num_tasks:
        raise ValueError(f"first, last: expected a stretch within 0..{instance.num_tasks}, got {first} to {last}.")
    order = order_of(instance, schedule)
    tasks = order[first:last]
    allowed = instance.allowed[tasks]
    position = np.empty(instance.num_tasks, dtype=np.int64)
    position[order] = np.arange(instance.num_tasks)
    sub = part_of(instance, tasks, gpu_memory=_free_memory(instance, schedule, tasks))
    is_makespan = Objective(objective) is Objective.MAKESPAN
    sink = np.zeros(instance.num_tasks, dtype=np.int64) if is_makespan else np.array(instance.job_of_task)
    cut = Cut(
        graph=way_graph(instance),
        order=order,
        position=position,
        gpu=np.array(schedule.gpu),
        start=np.array(schedule.start),
        sink=sink,
        num_sinks=1 if is_makespan else instance.num_jobs,
        first=first,
        last=last,
    )
    heads, ways, fixed = outer_heads(cut), outer_tails(cut), fixed_completion(cut)
    if is_makespan:
        limits = np.array([at_most])
    else:
        fixed = np.maximum(fixed, instance.release)
        latest = 2 * objective_value(instance, schedule, Objective.MAKESPAN) + horizon(sub)
        limits = _completion_limits(instance, fixed, at_most, latest)
    outer = heads.copy()
    tails = carry_inside(cut, allowed, heads, ways, limits)
    if most_gpus is not None:
        way = np.where(allowed, heads + instance.durations[tasks] + tails.max(axis=2), INFINITE)
        way[np.arange(len(tasks)), schedule.gpu[tasks]] = -1
        allowed &= np.argsort(np.argsort(way, axis=1, kind="stable"), axis=1, kind="stable") <= most_gpus
        heads = outer
        tails = carry_inside(cut, allowed, heads, ways, limits)
    around = HeadsAndTails(
        heads=np.where(allowed, heads, INFINITE),
        tails=np.where(allowed, tails.max(axis=2).clip(0), INFINITE),
        job_tails=np.where(allowed, np.take_along_axis(tails, sink[tasks][:, None, None], axis=2)[..., 0], INFINITE),
        allowed=allowed,
    )
    possible = allowed.any(axis=1)  # a task without a GPU makes the windows empty
    finish = np.where(allowed, heads + sub.durations, 0)[..., None]
    reached = np.where(allowed[..., None], np.where(tails >= 0, finish + tails, 0), INFINITE).min(axis=1)
    least = np.maximum(fixed, reached[possible].max(axis=0, initial=0))
    if is_makespan:
        at_least = max(lower_bound, int(least[0]))
        bounds = np.zeros(1, dtype=np.int64), np.full(1, np.iinfo(np.int64).max)
    else:
        at_least = max(lower_bound, int(instance.weight @ least))
        bounds = least, limits
    within = Windows(
        around=around,
        latest_finish=np.where(tails >= 0, limits - tails, np.iinfo(np.int64).max).min(axis=2),
        completion_at_least=bounds[0],
        completion_at_most=bounds[1],
        at_least=at_least,
        at_most=at_most,
    )
    return Subproblem(
        whole=instance,
        around=schedule,
        tasks=tasks,
        after=position >= last,
        instance=sub,
        within=within,
        completion_tails=None if is_makespan else tails,
    )


def _completion_limits(instance: DagInstance, fixed: NDArray[np.int64], at_most: int, latest: int) -> NDArray[np.int64]:
    """Return the latest completion of every job, shape (jobs,), given the earliest ones."""
    limits = np.full(instance.num_jobs, latest)
    for job in np.flatnonzero(instance.weight > 0):
        others = int(instance.weight @ fixed) - int(instance.weight[job] * fixed[job])
        limits[job] = min(latest, (at_most - others) // int(instance.weight[job]))
    return limits


def part_of(
    instance: DagInstance, tasks: NDArray[np.int64], *, gpu_memory: NDArray[np.int64] | None = None
) -> DagInstance:
    """Return the instance of some tasks and the edges among them; jobs and their numbers stay."""
    place = np.full(instance.num_tasks, -1)
    place[tasks] = np.arange(len(tasks))
    ends = place[instance.edges]
    inside = (ends >= 0).all(axis=1)
    return replace(
        instance,
        durations=instance.durations[tasks],
        task_memory=instance.task_memory[tasks],
        job_of_task=instance.job_of_task[tasks],
        edges=ends[inside],
        edge_bytes=instance.edge_bytes[inside],
        gpu_memory=instance.gpu_memory if gpu_memory is None else gpu_memory,
        task_names=tuple(instance.task_names[task] for task in tasks.tolist()),
    )


def _free_memory(instance: DagInstance, schedule: DagSchedule, tasks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the memory that all other tasks leave on every GPU, in bytes, shape (m,)."""
    fixed = np.setdiff1d(np.arange(instance.num_tasks), tasks, assume_unique=True)
    used = np.zeros(instance.num_gpus, dtype=np.int64)
    np.add.at(used, schedule.gpu[fixed], instance.task_memory[fixed])
    return np.where(instance.gpu_memory < 0, NO_LIMIT, instance.gpu_memory - used)


class WayGraph(NamedTuple):
    """The whole instance as arrays for the kernels."""

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
    """Lay out an instance."""
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


class Cut(NamedTuple):
    """A schedule with a stretch of free tasks, those at positions `first` to `last` - 1 of its order."""

    graph: WayGraph
    order: NDArray[np.int64]  # (n,), tasks
    position: NDArray[np.int64]  # (n,), place of every task in the order
    gpu: NDArray[np.int64]  # (n,)
    start: NDArray[np.int64]  # (n,)
    sink: NDArray[np.int64]  # (n,), what ends with the task: the makespan (0), or its job
    num_sinks: int
    first: int
    last: int


@inner_kernel
def _delay(graph: WayGraph, data: int, k: int, l: int) -> int:
    """Return the transfer delay of some data from GPU k to GPU l."""
    if k == l or data == 0:
        return 0
    return int(graph.latency[k, l] + math.ceil(data / graph.bytes_per_tick[k, l]))


@kernel
def outer_heads(cut: Cut) -> NDArray[np.int64]:
    """Return the earliest start of each free task by its release and the fixed tasks before it, shape (q, m)."""
    graph, order, position, gpu, start = cut.graph, cut.order, cut.position, cut.gpu, cut.start
    first, last = cut.first, cut.last
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


@kernel
def outer_tails(cut: Cut) -> NDArray[np.int64]:
    """Return the longest way from each free task's finish through fixed tasks to every sink, shape (q, m, sinks).

    It is negative if the sink does not wait for the task. A task's own sink waits for it directly.
    """
    graph, order, position, gpu, sink = cut.graph, cut.order, cut.position, cut.gpu, cut.sink
    first, last, num_sinks = cut.first, cut.last, cut.num_sinks
    n, m = graph.durations.shape
    level = np.full((n, num_sinks), -INFINITE, dtype=np.int64)  # from the start of a fixed task after the stretch
    on_gpu = np.full((m, num_sinks), -INFINITE, dtype=np.int64)  # from the start of the first of them on each GPU
    for place in range(n - 1, last - 1, -1):  # invariant: level and on_gpu are final for all later places
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


@kernel
def fixed_completion(cut: Cut) -> NDArray[np.int64]:
    """Return the completion time of every sink without the free tasks, shape (sinks,)."""
    graph, order, position, gpu, start = cut.graph, cut.order, cut.position, cut.gpu, cut.start
    first, last, sink = cut.first, cut.last, cut.sink
    n, m = graph.durations.shape
    completion = np.zeros(cut.num_sinks, dtype=np.int64)
    finish = np.zeros(n, dtype=np.int64)
    free_at = np.zeros(m, dtype=np.int64)
    for place in range(n):  # invariant: finish and free_at are those of the fixed tasks before this place
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


@kernel
def carry_inside(
    cut: Cut,
    allowed: NDArray[np.bool_],
    heads: NDArray[np.int64],
    outer_tails: NDArray[np.int64],
    limits: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Carry heads (in place) and tails along the edges between free tasks; remove pairs beyond the limits.

    Transfer-aware: H[i,k] = max over predecessors h of min over l of (H[h,l] + p[h,l] + c[h,i](l,k)), and the mirror
    image for the way to every sink. This is repeated until no more pair is removed.
    """
    graph, order, position, first = cut.graph, cut.order, cut.position, cut.first
    q, m, num_sinks = outer_tails.shape
    while True:  # invariant: heads never fall, and no removed pair is in a schedule within the limits
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
