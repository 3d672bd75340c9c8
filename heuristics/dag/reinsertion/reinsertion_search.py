"""The reinsertion search as an object: a schedule that is made better in portions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.reinsertion.anneal import Memory, anneal
from heuristics.dag.reinsertion.graph import graph_of
from heuristics.dag.reinsertion.journal import LARGEST_SET, forget, new_journal
from heuristics.dag.reinsertion.plan import Plan, completions, copy_plan, makespan, new_plan
from heuristics.dag.reinsertion.propagate import propagate_everything
from instances.dag_schedule import DagSchedule
from instances.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance

PORTION = 200
"""Moves between two looks at whether to stop, up to 2,000 tasks; fewer above, for a move takes longer there."""


class ReinsertionSearch:
    """Simulated annealing whose moves take a set of tasks out and put each back at its best place.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    schedule
        Where to begin, one that verifies.
    waste
        What it costs in ticks to run each task on each GPU rather than where it is cheapest, shape (n, m).
    rng
        Source of the seed of the search's own generator.
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        schedule: DagSchedule,
        waste: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> None:
        self._instance = instance
        self._weighted = objective is Objective.WEIGHTED_COMPLETION
        self._graph = graph_of(instance)
        self._waste = np.ascontiguousarray(waste, dtype=np.float64)
        self._journal = new_journal(instance.num_tasks)
        self._memory = Memory(
            random=np.array([rng.integers(2**63)], dtype=np.uint64),
            value=np.zeros(2, dtype=np.int64),
            completion=np.zeros(instance.num_jobs, dtype=np.int64),
            scratch=np.zeros(instance.num_jobs, dtype=np.int64),
            members=np.zeros(LARGEST_SET, dtype=np.int64),
            key=np.zeros(LARGEST_SET),
        )
        self._plan = self._plan_of(schedule)
        self._best = self._plan_of(schedule)
        self._memory.value[:] = self._value(self._plan)

    @property
    def best_value(self) -> int:
        """Objective of the best schedule."""
        return int(self._memory.value[1])

    @property
    def best(self) -> DagSchedule:
        """The best schedule."""
        return DagSchedule(gpu=self._best.task["gpu"], start=self._best.task["head"], instance=self._instance)

    def adopt(self, schedule: DagSchedule) -> None:
        """Go on from another schedule."""
        copy_plan(self._plan_of(schedule), self._plan)
        self._memory.value[0] = self._value(self._plan)
        if self._memory.value[0] < self._memory.value[1]:
            copy_plan(self._plan, self._best)
            self._memory.value[1] = self._memory.value[0]

    def run(
        self, moves: int, temperature: float, good_enough: int, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Make moves at one temperature.

        Parameters
        ----------
        moves
            How many.
        temperature
            Ticks of the objective, of the weighted completion divided by all weights.
        good_enough
            Objective that needs not be bettered.
        should_stop
            Asked after every portion.
        """
        portion = max(10, min(PORTION, 2_000 * PORTION // max(self._instance.num_tasks, 1)))
        for first in range(0, moves, portion):
            if should_stop() or self.best_value <= good_enough:
                return
            anneal(
                self._graph,
                self._plan,
                self._best,
                self._journal,
                self._memory,
                self._waste,
                min(portion, moves - first),
                temperature,
                self._weighted,
                good_enough,
            )

    def _plan_of(self, schedule: DagSchedule) -> Plan:
        """Return a plan with the GPUs and orders of a schedule."""
        plan = new_plan(self._instance, self._graph, schedule)
        propagate_everything(self._graph, plan, self._journal)
        forget(self._journal)
        return plan

    def _value(self, plan: Plan) -> int:
        """Return the objective of a plan."""
        if self._weighted:
            return int(completions(self._graph, plan, self._memory.scratch))
        return int(makespan(plan))
