"""What the front door refuses before it begins: arguments that would be ignored, fail later or break a rule."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.dag.contention import Contention
from solvers.confirmation.claim import check_confirm_time_limit
from solvers.methods import KINDS_WITH_RUN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from solvers.methods import Kind
    from solvers.run.bound import Bound


def knows_contention(function: Callable[..., Any]) -> bool:
    """Say whether a method or bound takes the rule, that is whether its signature names `contention`."""
    return "contention" in inspect.signature(function).parameters


def check_contention(name: str, function: Callable[..., Any], contention: Contention) -> None:
    """Refuse contention for a method that does not know it: its schedules would break the rule.

    Raises
    ------
    ValueError
        If there is contention and the function does not take it.
    """
    if contention is not Contention.NONE and not knows_contention(function):
        raise ValueError(f"contention: expected none for {name}, which does not know the rule, got {contention}.")


KNOW_INTERFERENCE = ("co-location-search",)
"""Exact methods for jobs that slow each other down."""


def refuse_interference(instance: JobsInstance, name: str) -> None:
    """Refuse an exact method to which a job runs as long as it would alone; policies need not know.

    Raises
    ------
    ValueError
        If the instance has interference and the method does not know it.
    """
    if instance.interference is not None and name not in KNOW_INTERFERENCE:
        known = ", ".join(KNOW_INTERFERENCE)
        raise ValueError(
            f"method: expected one that knows interference ({known}, or a policy), got {name!r}, to which jobs run as "
            "long as they would alone."
        )


MAX_THREADS = 1024
"""More threads than any back end can use."""


def check_arguments(
    kind: Kind,
    function: Callable[..., Any],
    name: str,
    time_limit: float | None,
    stop: StopCriterion | None,
    threads: int | None,
    seed: int,
    start: DagSchedule | JobsSchedule | None,
    parameters: dict[str, Any],
) -> None:
    """Refuse what would be ignored or fail later."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit: expected a positive number of seconds, got {time_limit}.")
    if threads is not None and not (isinstance(threads, int | np.integer) and 1 <= threads <= MAX_THREADS):
        raise ValueError(f"threads: expected an integer in 1..{MAX_THREADS}, got {threads!r}.")
    if start is not None and kind not in KINDS_WITH_RUN:
        raise ValueError(f"start: expected none for {name}, which begins with nothing.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: expected an integer of at least 0, got {seed!r}.")
    if stop is not None and kind != "search":
        raise ValueError(f"stop: expected none for {name}, which is no search; use time_limit.")
    ours = ("instance", "objective", "rng", "stop", "callback", "run", "contention")
    signature = inspect.signature(function).parameters
    bound_already = [key for key in getattr(function, "keywords", {}) if key in ours]
    if bound_already:
        raise ValueError(f"{bound_already[0]}: expected to be left to solve, got a function that binds it already.")
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.values()):
        return  # the function takes what it likes
    accepted = [key for key in signature if key not in ours]
    for given in parameters:
        if given not in accepted:
            raise ValueError(f"{given}: expected a parameter of {name} ({', '.join(accepted) or 'it has none'}).")


def check_bounds(bounds: Sequence[Bound], contention: Contention) -> None:
    """Refuse bounds that hold under contention only, where there is none."""
    for bound in bounds:
        if bound.contention not in (Contention.NONE, contention):
            found = f"one of {bound.method} that rests on contention {bound.contention}"
            raise ValueError(f"bounds: expected those that hold without contention, got {found}.")


def check_confirmation(kind: Kind, name: str, confirm: bool, time_limit: float | None) -> None:
    """Refuse to confirm what proves nothing, and time for nothing."""
    if confirm and kind != "exact":
        raise ValueError(f"confirm: expected none for {name}, which is no exact method and proves no bound.")
    check_confirm_time_limit(confirm, time_limit)
