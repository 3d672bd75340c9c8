"""An instance with everything that says how badly a heuristic does on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.objective import objective_value

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.bound import Bound


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WorstCase:
    """A heuristic's schedule beside an optimal one.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    heuristic
        The heuristic's verified schedule.
    optimal
        A verified schedule that is proven optimal.
    bound
        The proof: its value is the objective of `optimal`.
    rival
        The other heuristic's verified schedule, None where the ratio is to the optimum.
    """

    instance: DagInstance
    objective: Objective
    heuristic: DagSchedule
    optimal: DagSchedule
    bound: Bound
    rival: DagSchedule | None = None

    @property
    def value(self) -> int:
        """Objective of the heuristic."""
        return objective_value(self.instance, self.heuristic, self.objective)

    @property
    def optimum(self) -> int:
        """The proven optimum."""
        return objective_value(self.instance, self.optimal, self.objective)

    @property
    def rival_value(self) -> int | None:
        """Objective of the other heuristic."""
        return None if self.rival is None else objective_value(self.instance, self.rival, self.objective)

    @property
    def ratio_to_optimum(self) -> float:
        """Objective of the heuristic over the optimum."""
        return self.value / self.optimum

    @property
    def ratio(self) -> float:
        """What is maximised: the ratio to the rival where there is one, else to the optimum."""
        rival = self.rival_value
        return self.ratio_to_optimum if rival is None else self.value / rival
