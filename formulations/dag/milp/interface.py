"""What a Pyomo model of the DAG problem must offer to be run, and the sizes up to which one is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from formulations.model_too_large import ModelTooLargeError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


class PyomoDagModel(Protocol):
    """A Pyomo model of one instance, and the way from schedules to its variables and back.

    Attributes
    ----------
    pyomo_model
        One active objective, to be minimised, in the units of the instance's objective; binary and continuous variables
        only, every one of them in some active row.
    """

    pyomo_model: pyo.ConcreteModel

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if it lies outside the windows."""
        ...

    def schedule(self) -> DagSchedule:
        """Map the values of the variables back to a schedule."""
        ...


class PyomoDagModelFactory(Protocol):
    """A function that builds a model: the class itself, or a `functools.partial` of it.

    Raises a `ModelTooLargeError` if the instance is too large for this model, which is then not tried.
    """

    def __call__(self, instance: DagInstance, objective: Objective, within: Windows) -> PyomoDagModel:
        """Build the model of an instance within windows that are not empty."""
        ...


MAX_HORIZON = 500_000
"""Ticks up to which a solver's tolerance of 1e-6 cannot switch off rows with constants of this size."""

MAX_PAIR_ROWS = 150_000
"""Pairs of tasks times GPUs up to which a model with rows per pair and GPU is worth building."""

MAX_BUFFER_ROWS = 30_000
"""The same of pairs of buffers and tasks that begin one; seconds to build."""


def check_model_size(
    instance: DagInstance, within: Windows, *, max_horizon: int = MAX_HORIZON, max_pair_rows: int = MAX_PAIR_ROWS
) -> None:
    """Refuse instances where tolerances could switch rows off, or where the model would have too many rows.

    The windows are not all empty. Raises a `ModelTooLargeError` if a limit is exceeded.
    """
    horizon = int(within.latest_finish[within.around.allowed].max(initial=0))
    if horizon > max_horizon:
        raise ModelTooLargeError(f"horizon: expected at most {max_horizon} ticks, got {horizon}.")
    rows = instance.num_tasks * (instance.num_tasks - 1) // 2 * instance.num_gpus
    if rows > max_pair_rows:
        raise ModelTooLargeError(f"tasks: expected at most {max_pair_rows} pairs of tasks times GPUs, got {rows}.")
    buffers = instance.buffers
    rows = len(buffers) * len({buffer.task for buffer in buffers}) * instance.num_gpus
    if rows > MAX_BUFFER_ROWS:
        expected = f"expected at most {MAX_BUFFER_ROWS} pairs of buffers and tasks that begin one, times GPUs"
        raise ModelTooLargeError(f"buffers: {expected}, got {rows}.")
