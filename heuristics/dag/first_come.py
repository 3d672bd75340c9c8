"""First come, first served: the rule under which a placement fixes the schedule, as DOPPLER's simulator has it."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.list_scheduling import heft
from heuristics.search.run import SearchRun
from instances.dag.graph import predecessors, successors
from instances.dag.instance import NO_LIMIT
from instances.dag.objective import objective_value
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective


class FirstCome:
    """The rule on one instance: a task asks for its GPU when its last input has arrived; a GPU serves in that order.

    Tasks that ask at the same time are served in their order in the instance. Transfers share nothing.
    """

    def __init__(self, instance: DagInstance) -> None:
        self._instance = instance
        before, after = predecessors(instance), successors(instance)
        delays = [instance.transfer_delays(edge).tolist() for edge in range(instance.num_edges)]
        offsets = after.offsets.tolist()
        heads = [(int(head), delays[edge]) for head, edge in zip(after.tasks, after.edges, strict=True)]
        self._after = [heads[begin:end] for begin, end in pairwise(offsets)]
        self._missing = np.diff(before.offsets).tolist()
        self._durations, self._release = instance.durations.tolist(), instance.release[instance.job_of_task].tolist()

    def schedule(self, gpu: NDArray[np.int64]) -> DagSchedule:
        """Return the schedule of a placement, one GPU per task; memory is not looked at."""
        place, ready, missing = gpu.tolist(), list(self._release), list(self._missing)
        free, start = [0] * self._instance.num_gpus, [0] * len(place)
        asking = [(ready[task], task) for task, count in enumerate(missing) if count == 0]
        heapq.heapify(asking)
        while asking:  # whoever asks later in time asks later here, because nobody asks before its inputs have ended
            time, task = heapq.heappop(asking)
            k = place[task]
            start[task] = max(time, free[k])
            free[k] = finish = start[task] + self._durations[task][k]
            for head, delay in self._after[task]:
                ready[head] = max(ready[head], finish + delay[k][place[head]])
                missing[head] -= 1
                if missing[head] == 0:
                    heapq.heappush(asking, (ready[head], head))
        return DagSchedule(gpu=gpu, start=np.array(start, dtype=np.int64), instance=self._instance)


def first_come(instance: DagInstance) -> DagSchedule | None:
    """Put every task on the GPU that HEFT chooses, and serve first come, first served; None where HEFT has no schedule.

    References
    ----------
    Yao and others (2026), DOPPLER: Dual-Policy Learning for Device Assignment in Asynchronous Dataflow Graphs, ICLR:
    the rule of their simulator. The placement is HEFT's, theirs come from learned policies.
    """
    found = heft(instance)
    return None if found is None else FirstCome(instance).schedule(found.gpu)


def first_come_search(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
) -> DagSchedule | None:
    """Improve HEFT's placement under the rule: one task moves to another GPU at random, and stays if that is no worse.

    A GPU with too little memory left is no choice. The search is ours; DOPPLER learns placements for the same rule.
    """
    found, rule = heft(instance), FirstCome(instance)
    if found is None:
        return None
    gpu, allowed = found.gpu.copy(), instance.allowed
    used = np.bincount(gpu, weights=instance.task_memory, minlength=instance.num_gpus).astype(np.int64)
    limit = np.where(instance.gpu_memory == NO_LIMIT, np.iinfo(np.int64).max, instance.gpu_memory)
    run: SearchRun[DagSchedule] = SearchRun(stop, callback)
    schedule = rule.schedule(gpu)
    value = objective_value(instance, schedule, objective)
    run.record((0, value), schedule)
    while not run.stopped:
        task = int(rng.integers(max(instance.num_tasks, 1)))
        there = np.flatnonzero(allowed[task] & (used + instance.task_memory[task] <= limit)) if len(gpu) else gpu
        old, new = (0, 0) if not len(there) else (int(gpu[task]), int(rng.choice(there)))
        if old != new:
            gpu[task] = new
            schedule = rule.schedule(gpu)
            moved = objective_value(instance, schedule, objective)
            if moved <= value:
                value = moved
                used[old], used[new] = used[old] - instance.task_memory[task], used[new] + instance.task_memory[task]
            else:
                gpu[task] = old
            run.record((0, moved), schedule)
        else:
            run.record((0, value), schedule)  # the task stays where it is: a schedule all the same
    return run.best_solution
