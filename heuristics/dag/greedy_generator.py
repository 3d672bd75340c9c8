"""Populations of placements, and RTGS's greedy generator (Algorithm C) of placements from desired loads (Numba)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.priorities import placement_order
from heuristics.dag.timeline import (
    Timeline,
    earliest_free_start,
    least_overflow,
    memory_left,
    new_timeline,
    objective_of,
    place,
    ready_times,
)
from instances.dag.objective import Objective
from instances.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from instances.dag.instance import DagInstance


class Population(NamedTuple):
    """Placements that were made and timed together; n tasks."""

    gpu: NDArray[np.int64]  # (count, n)
    position: NDArray[np.float64]  # (count, n), load r or rho of every task in ticks; a generator may append columns
    overflow: NDArray[np.int64]  # (count,), bytes beyond the memory limits
    objective: NDArray[np.int64]  # (count,)

    @property
    def fitness(self) -> NDArray[np.int64]:
        """(overflow bytes, objective) of each placement, shape (count, 2)."""
        return np.column_stack([self.overflow, self.objective])

    @property
    def best(self) -> int:
        """Index of the best placement by (overflow, objective); the first of several."""
        return int(np.lexsort((self.objective, self.overflow))[0])

    def only(self, index: int) -> Population:
        """Return a population of one placement."""
        row = slice(index, index + 1)
        return Population(self.gpu[row], self.position[row], self.overflow[row], self.objective[row])


@dataclass(frozen=True, slots=True, eq=False)
class GreedyGenerator:
    """Places every task on the GPU whose load then comes nearest to the desired load (Algorithm C of RTGS).

    Parameters
    ----------
    priority
        Determines the order in which tasks are placed, shape (n,); see `placement_order`.
    insertion
        Whether a task may start in an idle gap before tasks that are already placed.
    running
        Whether positions are running loads (rho), else final loads (r).
    searches_order
        Whether positions hold a list priority of every task after the loads, shape (count, 2n), instead of `priority`.
        Not in RTGS; ours.
    """

    instance: DagInstance
    objective: Objective
    priority: NDArray[np.float64]
    insertion: bool = True
    running: bool = True
    searches_order: bool = False
    order: NDArray[np.int64] = field(init=False, repr=False)
    """Tasks in the order of placing, shape (n,)."""

    def __post_init__(self) -> None:
        """Order the tasks."""
        object.__setattr__(self, "order", placement_order(dag_arrays(self.instance), self.priority))

    def generate(self, desired: NDArray[np.float64], rng: np.random.Generator, a: float) -> Population:
        """Return one placement per row of desired loads; draws nothing. See `PlacementGenerator`."""
        weighted = Objective(self.objective) is Objective.WEIGHTED_COMPLETION
        arrays, loads, orders = dag_arrays(self.instance), desired, self.order[None, :]
        if self.searches_order:
            loads, priority = (np.ascontiguousarray(half) for half in np.hsplit(desired, 2))
            orders = np.array([placement_order(arrays, row) for row in priority])
        loads = np.ascontiguousarray(loads, dtype=np.float64)
        made = Population(*_place_all(arrays, orders, loads, self.running, self.insertion, weighted))
        return made._replace(position=np.hstack([made.position, priority])) if self.searches_order else made


@kernel
def place_by_desired_load(
    arrays: DagArrays,
    order: NDArray[np.int64],
    desired: NDArray[np.float64],
    running: bool,
    insertion: bool,
    position: NDArray[np.float64],
) -> Timeline:
    """Place all tasks, each on the GPU whose load comes nearest to the desired load; start each as early as possible.

    Task i goes to the GPU k with the least abs(h[i] - (load[k] + p[i,k])) among those that fit, ties to the lowest
    index, where load[k] is the load of k so far. A task that fits nowhere goes to the GPU with the least overflow.

    Parameters
    ----------
    order
        Tasks in the order of placing, a topological one, shape (n,).
    desired
        Desired load h of every task in ticks, shape (n,).
    running, position
        Shape (n,), written: the load of every task's GPU right after the task was placed (rho) if `running`, else at
        the end (r).
    """
    m = arrays.durations.shape[1]
    timeline = new_timeline(arrays)
    slot_start, slot_finish, num_slots = timeline.slot_start, timeline.slot_finish, timeline.num_slots
    ready, load = np.empty(m, dtype=np.int64), np.zeros(m)
    for task in order:
        best, smallest = -1, np.inf
        for k in range(m):
            if arrays.allowed[task, k] and memory_left(arrays, timeline, task, k) >= 0:
                distance = abs(desired[task] - (load[k] + arrays.durations[task, k]))
                if best < 0 or distance < smallest:
                    best, smallest = k, distance
        if best < 0:
            best = least_overflow(arrays, timeline, task)
        ready_times(arrays, timeline, task, ready)
        duration = arrays.durations[task, best]
        start = earliest_free_start(
            slot_start[best], slot_finish[best], num_slots[best], ready[best], duration, insertion
        )
        place(arrays, timeline, task, best, start)
        load[best] += duration
        position[task] = load[best]
    if not running:
        for task in order:
            position[task] = load[timeline.gpu[task]]
    return timeline


@kernel
def _place_all(
    arrays: DagArrays,
    orders: NDArray[np.int64],
    desired: NDArray[np.float64],
    running: bool,
    insertion: bool,
    weighted: bool,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Call `place_by_desired_load` for every row, with one order each or one for all; return `Population`'s fields."""
    count, n = desired.shape
    gpu, position = np.empty((count, n), dtype=np.int64), np.empty((count, n))
    overflow, objective = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for row in range(count):
        timeline = place_by_desired_load(
            arrays, orders[row % len(orders)], desired[row], running, insertion, position[row]
        )
        gpu[row] = timeline.gpu
        overflow[row] = timeline.overflow[0]
        objective[row] = objective_of(arrays, timeline, weighted)
    return gpu, position, overflow, objective
