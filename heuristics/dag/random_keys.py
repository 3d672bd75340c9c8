"""Random keys: points of a unit cube that the list scheduler turns into schedules."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import DagArrays, dag_arrays
from heuristics.dag.list_scheduler import DIRECT, EARLIEST, RANKED, evaluate_keys, list_schedule, schedule_of
from heuristics.dag.nics import Nics, new_nics
from heuristics.dag.ranks import upward_ranks
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule

DECODINGS = {"ranked": RANKED, "eft": EARLIEST, "direct": DIRECT}


@dataclass(frozen=True, slots=True, eq=False)
class RandomKeys:
    """The decoder of one instance; our own design.

    The first n keys are priorities: among the ready tasks the highest key goes first, ties by index, so that every
    point gives a schedule that keeps the precedences. The other n keys choose GPUs (absent with decoding "eft").

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    decoding
        "ranked": position min(c - 1, floor(c u^2)) among the c GPUs that fit, sorted by earliest finish; "eft": always
        the first of them; "direct": position min(c - 1, floor(c u)) among the GPUs that fit the task by itself, but
        earliest finish where that one is full.
    contention
        What transfers share; as in `heft`. Under contention one decoder is not for two threads at once: its
        interfaces are booked anew for every point.

    Raises
    ------
    ValueError
        If the decoding is unknown.
    """

    instance: DagInstance
    objective: Objective
    decoding: str = "ranked"
    contention: Contention = Contention.NONE
    _nics: Nics | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the decoding."""
        if self.decoding not in DECODINGS:
            raise ValueError(f"decoding: expected one of {', '.join(DECODINGS)}, got {self.decoding!r}.")
        object.__setattr__(self, "_nics", new_nics(self.instance, self.contention))

    @property
    def num_keys(self) -> int:
        """Number of keys of a point."""
        return self.instance.num_tasks * (1 if self.decoding == "eft" else 2)

    def evaluate(self, keys: NDArray[np.float64]) -> tuple[int, int]:
        """Return the fitness of a point: (overflow bytes, objective)."""
        weighted = self.objective is Objective.WEIGHTED_COMPLETION
        overflow, objective = evaluate_keys(self._arrays, keys, DECODINGS[self.decoding], True, weighted, self._nics)
        return int(overflow), int(objective)

    def schedule(self, keys: NDArray[np.float64]) -> DagSchedule | None:
        """Return the schedule of a point, None where it exceeds a memory limit."""
        n = self.instance.num_tasks
        rule, nics = DECODINGS[self.decoding], self._nics
        placement = list_schedule(self._arrays, keys[:n], rule=rule, gpu_keys=keys[n:], nics=nics)
        return schedule_of(self.instance, placement, nics)

    def heft_keys(self) -> NDArray[np.float64]:
        """Return a point that decodes to exactly HEFT's schedule."""
        arrays, n = self._arrays, self.instance.num_tasks
        rank = upward_ranks(arrays)
        keys = np.zeros(self.num_keys)
        for position, task in enumerate(_placement_order(arrays, rank)):
            keys[task] = 1.0 - (position + 0.5) / n
        if self.decoding == "direct":
            placement = list_schedule(arrays, nics=self._nics)
            for task in range(n):
                allowed = np.flatnonzero(arrays.allowed[task])
                keys[n + task] = (np.searchsorted(allowed, placement.gpu[task]) + 0.5) / len(allowed)
        return keys

    @property
    def _arrays(self) -> DagArrays:
        """The instance as the kernels want it."""
        return dag_arrays(self.instance)


def _placement_order(arrays: DagArrays, priority: NDArray[np.float64]) -> list[int]:
    """Return the tasks in the order in which the list scheduler takes them."""
    missing = np.diff(arrays.pred_offsets)
    heap = [(-priority[task], task) for task in range(len(missing)) if missing[task] == 0]
    heapq.heapify(heap)
    order = []
    while heap:
        task = heapq.heappop(heap)[1]
        order.append(task)
        for successor in arrays.succ_tasks[arrays.succ_offsets[task] : arrays.succ_offsets[task + 1]].tolist():
            missing[successor] -= 1
            if missing[successor] == 0:
                heapq.heappush(heap, (-priority[successor], successor))
    return order
