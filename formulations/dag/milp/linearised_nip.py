"""The nonlinear integer program, exactly linearised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.milp.linearise_products import LinearisedProducts
from formulations.dag.nip import Nip

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective


class LinearisedNip(Nip):
    """The order form of the NIP as a MILP: the same rows, every product replaced by `LinearisedProducts`.

    Parameters
    ----------
    instance, objective, within
        As in `CoreModel`.

    Attributes
    ----------
    pyomo_model
        As in `Nip`, its rows with products deactivated, with the block ``linearised`` in their place.

    Raises
    ------
    BeyondReachError
        As `Nip`.
    """

    def __init__(self, instance: DagInstance, objective: Objective, within: Windows) -> None:
        super().__init__(instance, objective, within, form="order")
        self._products = LinearisedProducts(self.pyomo_model)

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, and nothing done, where that is outside the windows."""
        if not super().set_start(schedule):
            return False
        self._products.set_values()
        return True
