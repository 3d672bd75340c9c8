"""The gap of a schedule, and the alarm where it would be negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sized


def gap_to_bound(objective: float, bound: float | None, *, method: str, instance: str) -> float | None:
    """Return (objective - bound) / bound.

    Parameters
    ----------
    objective
        Of a verified schedule, in ticks.
    bound
        The best proven one; None where nothing is proven.
    method, instance
        Names, for the message.

    Returns
    -------
    float or None
        None without a bound above 0, against which no gap is defined.

    Raises
    ------
    ValueError
        If the bound is above the objective: a negative gap is an error in this software, never a result.
    """
    if bound is None:
        return None
    if objective < bound:
        raise ValueError(
            f"gap: expected at least 0, got objective {objective:.0f} of {method} on {instance!r} below the proven "
            f"bound {bound:.0f}."
        )
    return (objective - bound) / bound if bound > 0 else None


def denominators_text(num_proven: int, instances: Sized, num_without_bound: int = 0) -> str:
    """Say in one or two sentences what gaps on some instances are measured against.

    Parameters
    ----------
    num_proven
        Of the instances, those whose optimum is proven.
    instances
        All of them.
    num_without_bound
        Of them, those without a proven bound above 0.
    """
    if num_proven == len(instances):
        text = f"All gaps are optimality gaps: the optima of all {len(instances)} instances are proven."
        return f"{text} On {num_without_bound} the optimum is 0: no gap there." if num_without_bound else text
    text = (
        f"The optimum is proven for {num_proven} of {len(instances)} instances; on the others the gap is "
        "to the best proven lower bound, and the optimality gap is at most that."
    )
    if num_without_bound:
        text += f" On {num_without_bound} no bound above 0 is proven: no gap there."
    return text
