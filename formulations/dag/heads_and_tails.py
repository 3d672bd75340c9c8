"""Heads and tails, the least time before and after every task on every GPU, and the path bound that follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.join import INFINITE, JoinItems, earliest_start, nic_join
from instances.dag.contention import Contention, server_of_gpu
from instances.dag.graph import predecessors, successors, within_jobs
from instances.dag.objective import Objective
from instances.kernels import brief_kernel, inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeadsAndTails:
    """Lower bounds around every task i on every GPU k, ticks, shape (n, m); ``INFINITE`` where it cannot sit there.

    Parameters
    ----------
    heads
        Lower bound on the start of i if it sits on k, release included.
    tails
        Lower bound on the time from the finish of i on k to the makespan.
    job_tails
        Lower bound on the time from the finish of i on k to the completion time of its own job.
    allowed
        Whether i can sit on k, shape (n, m); with an upper bound this is conditional on schedules that keep it.
    """

    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    job_tails: NDArray[np.int64]
    allowed: NDArray[np.bool_]


def heads_and_tails(
    instance: DagInstance,
    *,
    join_aware: bool = True,
    makespan_at_most: int | None = None,
    contention: Contention = Contention.NONE,
    among: NDArray[np.bool_] | None = None,
) -> HeadsAndTails:
    """Compute heads and tails.

    Transfer-aware: H[i,k] = max(r, max over predecessors h of min over l of (H[h,l] + p[h,l] + c[h,i](l,k))). The
    join-aware form also uses that predecessors on its own GPU cannot overlap there while all others must cross a link:
    for each split of the predecessors into local and remote ones the start is at least the larger of the remote
    arrivals and the one-GPU makespan of the local ones; the least over the splits "local = all that arrive after theta"
    is a bound. Tails are the mirror image (docs/bounds.md, sections 2.1 to 2.4; the join-aware form is ours).

    All of it holds under contention too, which only removes schedules. If contention is given, data from other servers
    also arrives one after the other (`nic_join`); the results then hold only under it.

    Parameters
    ----------
    join_aware
        Whether to use the stronger form; it is never below the other one.
    makespan_at_most
        Exclude pairs with head + duration + tail above it, until nothing changes: bounds that follow hold for schedules
        within that makespan only.
    among
        Pairs of task and GPU to choose from, shape (n, m); default all that are allowed.
    """
    forward, backward = path_sides(instance)
    durations, task_memory, gpu_memory = instance.durations, instance.task_memory, instance.gpu_memory
    allowed = instance.allowed if among is None else among
    servers = server_of_gpu(instance) if Contention(contention) is Contention.NIC else None
    while True:
        heads = _heads(forward, durations, task_memory, gpu_memory, allowed, join_aware, servers)
        tails = _heads(backward, durations, task_memory, gpu_memory, allowed, join_aware, servers)
        possible = allowed & (heads < INFINITE) & (tails < INFINITE)
        if makespan_at_most is not None:
            possible &= heads + np.maximum(durations, 0) + tails <= makespan_at_most
        if (possible == allowed).all():
            break
        allowed = possible
    within_job = backward._replace(counts=within_jobs(instance)[successors(instance).edges])
    job_tails = _heads(within_job, durations, task_memory, gpu_memory, allowed, join_aware, servers)
    return HeadsAndTails(heads=heads, tails=tails, job_tails=job_tails, allowed=allowed)


class PathSide(NamedTuple):
    """The inputs in which heads and tails differ: successors, transposed links and no releases give tails."""

    order: NDArray[np.int64]  # (n,), every task after its neighbours
    offsets: NDArray[np.int64]  # (n + 1,)
    neighbours: NDArray[np.int64]  # (edges,), predecessors (or successors)
    edge_bytes: NDArray[np.int64]  # (edges,)
    counts: NDArray[np.bool_]  # (edges,), whether that edge counts
    latency: NDArray[np.int64]  # (m, m), from the neighbour's GPU
    bytes_per_tick: NDArray[np.float64]  # (m, m)
    release: NDArray[np.int64]  # (n,)


def path_sides(instance: DagInstance) -> tuple[PathSide, PathSide]:
    """Return what gives heads, and what gives tails: successors, transposed links and no releases."""
    before, after = predecessors(instance), successors(instance)
    forward = PathSide(
        order=np.array(instance.topological_order),
        offsets=before.offsets,
        neighbours=before.tasks,
        edge_bytes=instance.edge_bytes[before.edges],
        counts=np.ones(instance.num_edges, dtype=np.bool_),
        latency=np.array(instance.latency),
        bytes_per_tick=np.array(instance.bytes_per_tick),
        release=instance.release[instance.job_of_task],
    )
    backward = PathSide(
        order=instance.topological_order[::-1].copy(),
        offsets=after.offsets,
        neighbours=after.tasks,
        edge_bytes=instance.edge_bytes[after.edges],
        counts=np.ones(instance.num_edges, dtype=np.bool_),
        latency=np.array(instance.latency.T, order="C"),
        bytes_per_tick=np.array(instance.bytes_per_tick.T, order="C"),
        release=np.zeros(instance.num_tasks, dtype=np.int64),
    )
    return forward, backward


@brief_kernel()
def _heads(
    side: PathSide,
    durations: NDArray[np.int64],
    task_memory: NDArray[np.int64],
    gpu_memory: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    join_aware: bool,
    servers: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """Compute heads along the order of one direction, shape (n, m); without contention `servers` is None."""
    n, m = durations.shape
    heads = np.full((n, m), INFINITE, dtype=np.int64)
    sizes, everything = (durations, task_memory, gpu_memory), np.ones(n, dtype=np.bool_)
    scratch = room_for_neighbours(side)
    for task in side.order:  # invariant: the heads of all neighbours of the task are final
        for k in range(m):
            if allowed[task, k]:
                start = start_behind(side, sizes, heads, everything, task, k, join_aware, servers, scratch)
                heads[task, k] = min(max(start, side.release[task]), INFINITE)
    return heads


@inner_kernel
def room_for_neighbours(side: PathSide) -> NDArray[np.int64]:
    """Return room for what is known of the neighbours of one task."""
    most = 0
    for task in range(len(side.order)):
        most = max(most, side.offsets[task + 1] - side.offsets[task])
    return np.empty((8, most), dtype=np.int64)


@inner_kernel
def start_behind(
    side: PathSide,
    sizes: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    heads: NDArray[np.int64],
    inside: NDArray[np.bool_],
    task: int,
    k: int,
    join_aware: bool,
    servers: NDArray[np.int64] | None,
    scratch: NDArray[np.int64],
) -> int:
    """Return the least start of a task on a GPU behind those of its neighbours that are inside, without its release.

    `sizes` are durations, memory of tasks, and memory of GPUs.
    """
    durations, task_memory, gpu_memory = sizes
    remote, local, work, memory = scratch[0], scratch[1], scratch[2], scratch[3]
    beside, away_ready, away_work, away = scratch[4], scratch[5], scratch[6], scratch[7]
    size = 0  # neighbours that count so far; the arrays describe the first `size` of them
    for entry in range(side.offsets[task], side.offsets[task + 1]):
        other, data = side.neighbours[entry], side.edge_bytes[entry]
        if not side.counts[entry] or not inside[other]:
            continue
        remote[size] = local[size] = beside[size] = INFINITE
        away_ready[size] = away_work[size] = away[size] = INFINITE
        work[size] = 0
        for l in range(heads.shape[1]):
            if heads[other, l] >= INFINITE:
                continue
            arrival = heads[other, l] + durations[other, l]
            if l == k:
                local[size], work[size] = heads[other, l], durations[other, l]
            else:
                delay = np.int64(0)
                if data > 0:
                    delay = side.latency[l, k] + np.int64(math.ceil(data / side.bytes_per_tick[l, k]))
                remote[size] = min(remote[size], arrival + delay)
                if servers is not None:
                    if servers[l] == servers[k]:
                        beside[size] = min(beside[size], arrival + delay)
                    else:
                        away_ready[size] = min(away_ready[size], arrival)
                        away_work[size] = min(away_work[size], delay)
                        away[size] = min(away[size], arrival + delay)
        memory[size] = task_memory[other]
        size += 1
    free = INFINITE if gpu_memory[k] < 0 else gpu_memory[k] - task_memory[task]
    if join_aware:
        start = earliest_start(size, remote, local, work, memory, free)
    else:
        start = 0
        for item in range(size):
            here = local[item] + work[item] if local[item] < INFINITE else INFINITE
            start = max(start, min(here, remote[item]))
    if servers is not None:
        items = JoinItems(local[:size], work[:size], beside[:size], away_ready[:size], away_work[:size], away[:size])
        start = nic_join(items, start, INFINITE)
    return start


def path_bound(instance: DagInstance, objective: Objective, around: HeadsAndTails) -> int:
    """Return max over i of min over k of (H + p + T); for weighted completion the same per job, weighted and summed."""
    if Objective(objective) is Objective.MAKESPAN:
        return int(_through_each_task(instance, around, around.tails).max(initial=0))
    return int(instance.weight @ job_path_bounds(instance, around))


def job_path_bounds(instance: DagInstance, around: HeadsAndTails) -> NDArray[np.int64]:
    """Return a lower bound on the completion time of every job, shape (jobs,)."""
    completion = np.array(instance.release)
    np.maximum.at(completion, instance.job_of_task, _through_each_task(instance, around, around.job_tails))
    return completion


def _through_each_task(instance: DagInstance, around: HeadsAndTails, tails: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return min over k of (H + p + T) for every task, shape (n,); 0 where no GPU is left (infeasible)."""
    through = np.where(around.allowed, around.heads + instance.durations + tails, np.iinfo(np.int64).max)
    least = through.min(axis=1, initial=np.iinfo(np.int64).max)
    return np.where(around.allowed.any(axis=1), least, 0)
