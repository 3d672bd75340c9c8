"""An instance as arrays for the search over down-sets, forwards or backwards in time, and how many down-sets it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.interchangeable import interchangeable
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.probing.network import Network
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance


def count_down_sets(instance: DagInstance, at_most: int) -> int:
    """Return the number of sets of tasks that contain all predecessors of their members, including the empty one.

    If there are more than `at_most`, some number above it is returned: counting takes two microseconds per set.
    """
    needs = [0] * instance.num_tasks
    opens: list[list[int]] = [[] for _ in needs]
    for tail, head in instance.edges.tolist():
        needs[head] |= 1 << tail
        opens[tail].append(head)
    layer = {0: sum(1 << task for task, need in enumerate(needs) if not need)}
    count = 0
    while layer and count <= at_most:
        count += len(layer)
        following: dict[int, int] = {}
        for members, free in layer.items():
            rest = free
            while rest:
                bit = rest & -rest
                rest ^= bit
                larger = members | bit
                if larger not in following:
                    freed = sum(1 << task for task in opens[bit.bit_length() - 1] if needs[task] & ~larger == 0)
                    following[larger] = free ^ bit | freed
            if count + len(following) > at_most:
                return count + len(following)
        layer = following
    return count


NOWHERE = 2**29
"""Earliest start where a task cannot sit on a GPU, ticks; all others are below, so that sums stay within 32 bits."""

NONE = -1
"""Stands for no task or no GPU."""


class SearchSpace(NamedTuple):
    """The instance as kernels use it. Backwards, time runs from the end: successors come first, tails are heads."""

    order: NDArray[np.int64]  # (n,), every task after its predecessors
    offsets: NDArray[np.int64]  # (n + 1,)
    predecessors: NDArray[np.int64]  # (edges,)
    successor_offsets: NDArray[np.int64]  # (n + 1,)
    successors: NDArray[np.int64]  # (edges,)
    delay: NDArray[np.int32]  # (edges, m, m), by own GPU, then the predecessor's; 0 on the diagonal
    durations: NDArray[np.int32]  # (n, m)
    heads: NDArray[np.int32]  # (n, m), NOWHERE where not allowed
    latest_start: NDArray[np.int32]  # (n, m)
    tails: NDArray[np.int64]  # (n, m), from a finish to the deadline
    deadline: int
    like_task: NDArray[np.int64]  # (n,), the task that starts before it without loss, NONE without one
    like_gpu: NDArray[np.int64]  # (m,), the one before it among interchangeable GPUs, NONE without one
    memory: NDArray[np.int64]  # (n,), bytes
    limited: NDArray[np.int64]  # (limited,), GPUs whose memory may not hold all tasks
    place_of_limit: NDArray[np.int64]  # (m,), the place of a GPU among those, NONE for others
    capacity: NDArray[np.int64]  # (limited,), bytes
    job_of_task: NDArray[np.int64]  # (n,)
    job_tail: NDArray[np.int32]  # (n, m), from a finish to the completion time of the task's job
    completion: NDArray[np.int32]  # (jobs,), lower bounds; no jobs for the makespan
    weight: NDArray[np.int64]  # (jobs,)
    most: int  # largest objective of interest


def search_space(
    instance: DagInstance, objective: Objective, within: Windows, net: Network, *, backwards: bool = False
) -> SearchSpace:
    """Lay out an instance within windows.

    Parameters
    ----------
    within
        Windows that are not empty, all of them before `NOWHERE` / 2.
    net
        In the direction of time of the search: backwards, with `before` and `after` exchanged.
    backwards
        Whether time runs from the end. Only for the makespan: a schedule within the deadline is also one if it is read
        backwards, and a release is a tail.
    """
    instance.refuse_buffers("down-sets")
    around = within.around
    deadline = int(within.latest_finish[around.allowed].max(initial=0))
    allowed, heads, tails = around.allowed.copy(), around.heads.copy(), deadline - within.latest_finish
    job_tails = around.job_tails.copy()
    if backwards:
        heads, tails = tails, heads
    m = instance.num_gpus
    delay = np.array(net.before.delay)
    delay[:, np.arange(m), np.arange(m)] = 0
    like_task, like_gpu = np.full(instance.num_tasks, NONE), np.full(m, NONE)
    classes = interchangeable(instance)
    for members in classes.tasks:  # whatever holds for one of them holds for all: schedules may be renamed
        like_task[list(members[1:])] = members[:-1]
        for least in (heads, tails, job_tails):
            least[members, :] = least[members, :].max(axis=0)
        allowed[members, :] &= allowed[members, :].all(axis=0)
    for gpus in classes.gpus:  # so it is with GPUs
        like_gpu[list(gpus[1:])] = gpus[:-1]
        for least in (heads, tails, job_tails):
            least[:, gpus] = least[:, gpus].max(axis=1, keepdims=True)
        allowed[:, gpus] &= allowed[:, gpus].all(axis=1, keepdims=True)
    needed = np.where(allowed, instance.task_memory[:, None], 0).astype(object).sum(axis=0)
    limited = np.flatnonzero((instance.gpu_memory >= 0) & (needed > instance.gpu_memory.astype(object)))
    place_of_limit = np.full(m, NONE)
    place_of_limit[limited] = np.arange(len(limited))
    jobs = 0 if Objective(objective) is Objective.MAKESPAN else instance.num_jobs
    return SearchSpace(
        order=np.array(net.before.order),
        offsets=np.array(net.before.offsets),
        predecessors=np.array(net.before.neighbours),
        successor_offsets=np.array(net.after.offsets),
        successors=np.array(net.after.neighbours),
        delay=np.minimum(delay, NOWHERE).astype(np.int32),
        durations=np.where(allowed, net.durations, 0).astype(np.int32),
        heads=np.where(allowed, heads, NOWHERE).astype(np.int32),
        latest_start=np.where(allowed, deadline - tails - net.durations, -1).astype(np.int32),
        tails=np.where(allowed, tails, 0).astype(np.int64),
        deadline=deadline,
        like_task=like_task,
        like_gpu=like_gpu,
        memory=np.array(instance.task_memory),
        limited=limited,
        place_of_limit=place_of_limit,
        capacity=instance.gpu_memory[limited],
        job_of_task=np.array(instance.job_of_task),
        job_tail=np.where(allowed, job_tails, 0).astype(np.int32),
        completion=np.minimum(within.completion_at_least[:jobs], NOWHERE).astype(np.int32),
        weight=np.array(instance.weight[:jobs]),
        most=within.at_most,
    )
