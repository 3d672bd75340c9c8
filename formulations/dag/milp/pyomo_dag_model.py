"""What a Pyomo model of the DAG problem must offer to be run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective


class PyomoDagModel(Protocol):
    """A Pyomo model of one instance, and the way from schedules to its variables and back.

    Attributes
    ----------
    pyomo_model
        One active objective, to be minimised, in the units of the instance's objective; binary and continuous
        variables only, every one of them in some active row.
    """

    pyomo_model: pyo.ConcreteModel

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, and nothing done, where that is outside the windows."""
        ...

    def schedule(self) -> DagSchedule:
        """Map the values of the variables back to a schedule."""
        ...


class PyomoDagModelFactory(Protocol):
    """Builds a model: the class itself, or a `functools.partial` of it.

    Raises
    ------
    BeyondReachError
        If the instance is nothing for this model; it is then not tried.
    """

    def __call__(self, instance: DagInstance, objective: Objective, within: Windows) -> PyomoDagModel:
        """Build the model of an instance within windows that are not empty."""
        ...
