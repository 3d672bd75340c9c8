"""The cost model that the options describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from studies.command_line.bad_input import BadInputError, options

if TYPE_CHECKING:
    from instances.dag_from_graph import CostModel

MIN_TIGHTNESS = 1e-3
"""Below it no task would ever feel the limit, and capacities could leave the range of integers."""


def cost_model(
    *,
    tick_seconds: float | None,
    mean_ticks: float | None,
    heterogeneity: float | None,
    consistency: float | None,
    ccr: float | None,
    memory_tightness: float | None,
    forbidden: float | None,
) -> CostModel | None:
    """Return the cost model, None where no option was given; see `CostModel` for the parameters.

    Raises
    ------
    BadInputError
        If both the tick and the mean number of ticks are given, or a value is out of range.
    """
    if tick_seconds is not None and mean_ticks is not None:
        raise BadInputError("--mean-ticks: expected nothing beside --tick-seconds, which fixes the tick.")
    if memory_tightness is not None and 0.0 < memory_tightness < MIN_TIGHTNESS:
        expected = f"0 or a number in {MIN_TIGHTNESS:g}..1"
        raise BadInputError(f"--memory-tightness: expected {expected}, got {memory_tightness:g}.")
    given: dict[str, Any] = {
        "tick_seconds": tick_seconds,
        "mean_ticks": mean_ticks,
        "heterogeneity": heterogeneity,
        "consistency": consistency,
        "ccr": ccr,
        "memory_tightness": memory_tightness,
        "forbidden": forbidden,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    from instances.dag_from_graph import CostModel

    with options({name: f"--{name.replace('_', '-')}" for name in given}, "cost model"):
        return CostModel(**given)
