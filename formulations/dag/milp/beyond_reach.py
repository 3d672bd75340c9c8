"""Instances that a model is not even built for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance

MAX_HORIZON = 500_000
"""Ticks up to which the constants that switch rows off stay meaningful beside a solver's tolerance of 1e-6."""

MAX_PAIR_ROWS = 150_000
"""Pairs of tasks times GPUs up to which a model with rows per pair and GPU is worth building."""


class BeyondReachError(RuntimeError):
    """The instance is too large for the model, or its numbers lie too far apart."""


def check_reach(
    instance: DagInstance, within: Windows, *, max_horizon: int = MAX_HORIZON, max_pair_rows: int = MAX_PAIR_ROWS
) -> None:
    """Refuse instances where tolerances could switch rows off, or the model would have too many rows.

    Parameters
    ----------
    instance
        What is scheduled.
    within
        Its windows; not all of them empty.
    max_horizon
        Largest finish in ticks.
    max_pair_rows
        Largest number of pairs of tasks times GPUs.

    Raises
    ------
    BeyondReachError
        If one of them is exceeded.
    """
    horizon = int(within.latest_finish[within.around.allowed].max(initial=0))
    if horizon > max_horizon:
        raise BeyondReachError(f"horizon: expected at most {max_horizon} ticks, got {horizon}.")
    rows = instance.num_tasks * (instance.num_tasks - 1) // 2 * instance.num_gpus
    if rows > max_pair_rows:
        raise BeyondReachError(f"tasks: expected at most {max_pair_rows} pairs of tasks times GPUs, got {rows}.")
