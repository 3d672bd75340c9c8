"""List scheduling that learns from its own last schedule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.guided_pass import Guide, guided_pass
from heuristics.dag.list_scheduler import schedule_of
from heuristics.dag.timeline import Placement, objective_of
from instances.adjacency import successors
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.dag_arrays import DagArrays
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def iterated_lists(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule,
    waste: NDArray[np.float64],
    *,
    passes: int,
    company: float = 0.0,
    price: float = 0.0,
) -> DagSchedule | None:
    """Schedule again and again, each time with the levels and GPUs of the schedule before; return the best one.

    A task goes to the GPU with the least sum of its earliest finish and the longest way from there to the end: over all
    successors the delay to the GPU that the successor had, plus its level; where the successor would be better off
    on the task's own GPU, `company` says how far that counts. Priorities are the levels.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What the best one is judged by.
    schedule
        Where to begin.
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    passes
        How many schedules are made.
    company, price
        As in `Guide`.

    Returns
    -------
    DagSchedule
        None where all exceeded a memory limit.

    References
    ----------
    Levels from the last schedule: Liu, Poh and Xie (2005), Iterative list scheduling for heterogeneous computing,
    J. Parallel Distrib. Comput. 65(5). Ways to the GPUs that successors had, company and waste are ours.
    """
    after, arrays = successors(instance), dag_arrays(instance)
    n, m = instance.num_tasks, instance.num_gpus
    guide = Guide(
        priority=np.zeros(n),
        gpu=np.array(schedule.gpu),
        level=np.zeros(n, dtype=np.int64),
        company=company,
        waste=waste,
        price=price,
        cluster=np.arange(n),
        work=np.zeros((n, m)),
        reserve=0.0,
        commitment=0.0,
    )
    weighted = objective is Objective.WEIGHTED_COMPLETION
    return schedule_of(instance, _iterate(arrays, instance.edge_bytes[after.edges], guide, passes, weighted))


@njit(cache=True)
def _delay(arrays: DagArrays, data: int, k: int, l: int) -> int:
    """Return the transfer delay of some data from GPU k to GPU l."""
    if data == 0:
        return 0
    link = arrays.link_class[k, l]
    return int(arrays.class_latency[k, link] + math.ceil(data / arrays.class_bytes_per_tick[k, link]))


@njit(cache=True)
def _levels(arrays: DagArrays, succ_bytes: NDArray[np.int64], gpu: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the longest way from each task's start to the end, shape (n,)."""
    level = np.zeros(len(gpu), dtype=np.int64)
    for position in range(len(gpu) - 1, -1, -1):
        task = arrays.topological_order[position]
        longest = 0
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            other = arrays.succ_tasks[entry]
            longest = max(longest, level[other] + _delay(arrays, succ_bytes[entry], gpu[task], gpu[other]))
        level[task] = longest + arrays.durations[task, gpu[task]]
    return level


@njit(cache=True)
def _iterate(arrays: DagArrays, succ_bytes: NDArray[np.int64], guide: Guide, passes: int, weighted: bool) -> Placement:
    """Make passes, each guided by the one before; return the best by (overflow, objective)."""
    gpu, best = guide.gpu, Placement(guide.gpu, guide.level, 2**62)
    best_value = 2**62
    for _ in range(passes):
        level = _levels(arrays, succ_bytes, gpu)
        now = Guide(
            level.astype(np.float64),
            gpu,
            level,
            guide.company,
            guide.waste,
            guide.price,
            guide.cluster,
            guide.work,
            guide.reserve,
            guide.commitment,
        )
        made = guided_pass(arrays, succ_bytes, now)
        overflow, value = made.overflow[0], objective_of(arrays, made, weighted)
        if overflow < best.overflow or (overflow == best.overflow and value < best_value):
            best, best_value = Placement(made.gpu, made.start, overflow), value
        gpu = made.gpu
    return best
