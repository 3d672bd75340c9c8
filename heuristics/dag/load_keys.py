"""Load-time positions: points of a unit cube whose keys are wished loads, for RTGS's greedy generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule, schedule_of
from heuristics.dag.load_vector import running_loads
from heuristics.dag.ranks import upward_ranks
from heuristics.dag.rtgs.greedy_generator import GreedyGenerator, place_by_wish
from heuristics.dag.timeline import Placement
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule

_NO_DRAWS = np.random.default_rng(0)  # the greedy generator takes a generator of random numbers and draws none


class LoadKeys:
    """The decoder "load" of `RandomKeys`; ours, after RTGS, whose whales are loads.

    Key i times HEFT's makespan is the wished load of the GPU of task i right after i was placed. Tasks come in order of
    their upward rank, and `place_by_wish` takes the GPU that comes nearest to the wish. No load of a schedule that is
    at most as long as HEFT's is beyond the scale.

    HEFT's own running loads stand for HEFT's schedule by definition: where two GPUs come to the same load no wish tells
    them apart, and the generator may take the other one.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """

    def __init__(self, instance: DagInstance, objective: Objective) -> None:
        arrays, tasks = dag_arrays(instance), np.arange(instance.num_tasks)
        self._instance = instance
        self._generator = GreedyGenerator(instance, objective, upward_ranks(arrays))
        self._heft = list_schedule(arrays)
        finish = self._heft.start + arrays.durations[tasks, self._heft.gpu]
        completion = arrays.job_release.copy()
        np.maximum.at(completion, arrays.job_of_task, finish)
        makespan = int(finish.max(initial=0))
        weighted = objective is Objective.WEIGHTED_COMPLETION
        self._heft_fitness = (self._heft.overflow, int((completion * arrays.weight).sum()) if weighted else makespan)
        self._scale = max(1, makespan)
        loads = running_loads(instance.durations, self._heft.gpu, self._generator.order)
        self.heft_keys: NDArray[np.float64] = loads / self._scale
        """HEFT's running loads, shape (n,)."""

    def evaluate_many(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the fitness of points, (overflow bytes, objective), shape (count, 2)."""
        litter = self._generator.generate(points * self._scale, _NO_DRAWS, 0.0)
        fitness = litter.fitness
        fitness[(points == self.heft_keys).all(axis=1)] = self._heft_fitness
        return fitness

    def schedule(self, keys: NDArray[np.float64]) -> DagSchedule | None:
        """Return the schedule of a point, None where it exceeds a memory limit."""
        if np.array_equal(keys, self.heft_keys):
            return schedule_of(self._instance, self._heft)
        generator = self._generator
        timeline = place_by_wish(
            dag_arrays(self._instance), generator.order, keys * self._scale, True, True, np.empty(len(keys))
        )
        return schedule_of(self._instance, Placement(timeline.gpu, timeline.start, int(timeline.overflow[0])))
