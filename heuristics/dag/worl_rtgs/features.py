"""The features of each GPU that the network receives when a task is placed, and constants of an instance (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.priorities import placement_order, upward_ranks
from heuristics.dag.timeline import transfer_delay
from instances.dag.objective import Objective
from instances.kernels import inlined_kernel, inner_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from heuristics.dag.timeline import Timeline
    from instances.dag.instance import DagInstance

NUM_FEATURES = 12
"""Features of a GPU."""

NUM_INPUTS = 3 * NUM_FEATURES
"""Inputs of the network: a GPU's own features, then their means and maxima over the GPUs that fit."""


class EpisodeData(NamedTuple):
    """Constants of an instance while its tasks are placed; n tasks, m GPUs."""

    rank: NDArray[np.float64]  # (n,), upward rank in ticks: the priority of list scheduling
    order: NDArray[np.int64]  # (n,), tasks in the order of list scheduling by that priority
    unit: NDArray[np.float64]  # (n,), max(1, mean of allowed durations): ticks that count as 1 for the task
    longest_duration: NDArray[np.int64]  # (n,), over allowed GPUs
    onward: NDArray[np.int64]  # (n, m), O: optimistic ticks from the task's finish on GPU k to the end
    max_rank: float
    lower_bound: float  # LB of the objective, at least 1: the unit of rewards
    makespan_bound: float  # LB of the makespan in ticks, at least 1: the unit of lateness
    weighted: bool  # whether the objective is the weighted completion


_KNOWN: WeakKeyDictionary[DagInstance, dict[Objective, EpisodeData]] = WeakKeyDictionary()


def episode_data(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> EpisodeData:
    """Return what the features need in addition to `DagArrays`; made once per instance and objective."""
    known = _KNOWN.setdefault(instance, {})
    if objective not in known:
        arrays, weighted = dag_arrays(instance), Objective(objective) is Objective.WEIGHTED_COMPLETION
        rank = upward_ranks(arrays)
        known[objective] = EpisodeData(
            rank=rank,
            order=placement_order(arrays, rank),
            unit=np.maximum(arrays.mean_duration, 1.0),
            longest_duration=np.where(arrays.allowed, arrays.durations, 0).max(axis=1, initial=0),
            onward=_onward_costs(arrays),
            max_rank=float(rank.max(initial=0.0)),
            lower_bound=_lower_bound(arrays, weighted),
            makespan_bound=_lower_bound(arrays, False),
            weighted=weighted,
        )
    return known[objective]


@kernel
def _onward_costs(arrays: DagArrays) -> NDArray[np.int64]:
    """Return O[i,k] = max over successors s of min over allowed l of O[s,l] + p[s,l] + c[i,s](k,l), shape (n, m).

    The optimistic cost of Arabnejad and Barbosa (2014), with the delay of each pair of GPUs instead of a mean.
    """
    n, m = arrays.durations.shape
    onward = np.zeros((n, m), dtype=np.int64)
    for position in range(n - 1, -1, -1):
        task = arrays.topological_order[position]
        for entry in range(arrays.pred_offsets[task], arrays.pred_offsets[task + 1]):
            predecessor, data = arrays.pred_tasks[entry], arrays.pred_bytes[entry]
            for k in range(m):
                least = np.int64(2**62)
                for l in range(m):
                    if arrays.allowed[task, l]:
                        delay = transfer_delay(arrays, k, arrays.link_class[k, l], data)
                        least = min(least, onward[task, l] + arrays.durations[task, l] + delay)
                onward[predecessor, k] = max(onward[predecessor, k], least)
    return onward


@kernel
def _lower_bound(arrays: DagArrays, weighted: bool) -> float:
    """Return LB in ticks, at least 1; a unit for rewards, not a bound that results report.

    Makespan: the longest path from the releases with smallest durations and free transfers, or ceil(sum of smallest
    durations / m). Weighted completion: sum over jobs of weight times the longest such path to one of its tasks.
    """
    n, m = arrays.durations.shape
    end, work = np.zeros(n, dtype=np.int64), np.int64(0)
    completion = arrays.job_release.copy()
    for task in arrays.topological_order:
        shortest = np.int64(2**62)
        for k in range(m):
            if arrays.allowed[task, k]:
                shortest = min(shortest, arrays.durations[task, k])
        end[task] = arrays.release[task]
        for entry in range(arrays.pred_offsets[task], arrays.pred_offsets[task + 1]):
            end[task] = max(end[task], end[arrays.pred_tasks[entry]])
        end[task] += shortest
        work += shortest
        job = arrays.job_of_task[task]
        completion[job] = max(completion[job], end[task])
    if weighted:
        total = 0
        for job in range(len(completion)):
            total += completion[job] * arrays.weight[job]
        return max(1.0, np.float64(total))
    longest = 0
    for task in range(n):
        longest = max(longest, end[task])
    return np.float64(max(1, longest, (work + m - 1) // m))


@inlined_kernel
def squash(value: float) -> float:
    """Return sq(z) = z / (1 + |z|), in (-1, 1)."""
    return value / (1.0 + abs(value))


@inlined_kernel
def incoming_delays(arrays: DagArrays, timeline: Timeline, task: int, incoming: NDArray[np.int64]) -> None:
    """Write the longest transfer delay from a predecessor to each GPU in ticks, shape (m,)."""
    delay = timeline.arrival  # scratch
    incoming[:] = 0
    for entry in range(arrays.pred_offsets[task], arrays.pred_offsets[task + 1]):
        data = arrays.pred_bytes[entry]
        if data == 0:
            continue
        source = timeline.gpu[arrays.pred_tasks[entry]]
        for link in range(arrays.num_link_classes[source]):
            delay[link] = transfer_delay(arrays, source, link, data)
        for k in range(len(incoming)):
            incoming[k] = max(incoming[k], delay[arrays.link_class[source, k]])


class GpuStates(NamedTuple):
    """State of the GPUs when a task is placed, changed in place; times in ticks, all of shape (m,)."""

    load: NDArray[np.int64]  # sum of durations of the tasks placed so far
    fits: NDArray[np.bool_]
    ready: NDArray[np.int64]  # when the task's data has arrived
    starts: NDArray[np.int64]  # earliest start of the task
    incoming: NDArray[np.int64]  # longest transfer delay from a predecessor of the task


@inner_kernel
def write_features(
    arrays: DagArrays,
    data: EpisodeData,
    timeline: Timeline,
    gpus: GpuStates,
    task: int,
    position: int,
    desired: NDArray[np.float64],
    lam: float,
    rows: NDArray[np.float32],
) -> None:
    """Write the features of every GPU that fits; our own.

    With i the task, k the GPU, u = `data.unit`, sq = `squash`, eft the earliest finish and all minima over the GPUs
    that fit, they are

    1. difference from the desired load sq((h[i] - load[k] - p[i,k]) / u), 0 where lambda is 0;
    2. weight lambda of the desired loads;
    3. duration ratio p[i,k] / longest allowed p[i,.], 1 where that is 0;
    4. ready time sq((ready[k] - min) / u);
    5. GPU available time sq((finish of the last task on k - ready[k]) / u);
    6. earliest finish sq((eft[k] - min) / u);
    7. upward rank rank[i] / max rank, 1 where that is 0;
    8. memory left (M[k] - used[k] - a[i]) / M[k], 1 where there is no limit, 0 where the limit is 0;
    9. transfer share cmax / (cmax + p[i,k]) of the longest incoming delay, 0 where both are 0;
    10. lateness sq(4 ((eft[k] + rank[i] - mean p[i,.]) / LB - 1)), LB that of the makespan for either objective: a
        path to the end is compared with the longest one, not with a sum over jobs;
    11. progress position / n;
    12. onward cost sq((eft[k] + O[i,k] - min) / u).

    Parameters
    ----------
    task, position
        The task to place, and the number of tasks placed already.
    desired, lam
        Desired loads h in ticks, shape (n,), and their weight in [0, 1]; with weight 0 the loads may be empty.
    rows
        Written: the features, shape (m, 12), float32; rows of GPUs that do not fit are not changed.
    """
    load, fits, ready, starts, incoming = gpus
    durations, onward, gpu_memory = arrays.durations[task], data.onward[task], arrays.gpu_memory
    slot_finish, num_slots, free_memory = timeline.slot_finish, timeline.num_slots, timeline.free_memory
    unit, longest = data.unit[task], data.longest_duration[task]
    rank = data.rank[task] / data.max_rank if data.max_rank > 0 else 1.0
    after = data.rank[task] - arrays.mean_duration[task]
    progress = position / len(data.order)
    first_ready = first_finish = first_end = np.int64(2**62)
    for k in range(len(fits)):
        if fits[k]:
            finish = starts[k] + durations[k]
            first_ready, first_finish = min(first_ready, ready[k]), min(first_finish, finish)
            first_end = min(first_end, finish + onward[k])
    for k in range(len(fits)):
        if not fits[k]:
            continue
        duration, finish = durations[k], starts[k] + durations[k]
        available = slot_finish[k, num_slots[k] - 1] if num_slots[k] else 0
        rows[k, 0] = squash((desired[task] - load[k] - duration) / unit) if lam > 0.0 else 0.0
        rows[k, 1] = lam
        rows[k, 2] = duration / longest if longest > 0 else 1.0
        rows[k, 3] = squash((ready[k] - first_ready) / unit)
        rows[k, 4] = squash((available - ready[k]) / unit)
        rows[k, 5] = squash((finish - first_finish) / unit)
        rows[k, 6] = rank
        if gpu_memory[k] < 0:
            rows[k, 7] = 1.0
        elif gpu_memory[k] == 0:
            rows[k, 7] = 0.0
        else:
            rows[k, 7] = (free_memory[k] - arrays.task_memory[task]) / gpu_memory[k]
        rows[k, 8] = incoming[k] / (incoming[k] + duration) if incoming[k] > 0 else 0.0
        rows[k, 9] = squash(4.0 * ((finish + after) / data.makespan_bound - 1.0))
        rows[k, 10] = progress
        rows[k, 11] = squash((finish + onward[k] - first_end) / unit)
