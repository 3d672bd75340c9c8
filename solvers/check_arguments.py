"""What the front door refuses before it begins: arguments that would be ignored, fail later or break a rule."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.dag.contention import Contention
from instances.dag.objective import needs_buffers
from instances.spelling import did_you_mean
from solvers.confirmation.claim import check_confirm_time_limit
from solvers.methods import KINDS_WITH_RUN, knows_contention

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heuristics.search.stop_criteria import StopCriterion
    from instances.readers.optgap_json import Schedule
    from solvers.methods import Kind
    from solvers.problem import Goal, Problem
    from solvers.run.bound import Bound


GIVEN_BY_SOLVE = ("instance", "objective", "rng", "stop", "callback", "run", "contention")
"""Parameters of methods that `solve` provides."""

MAX_THREADS = 1024
"""More threads than any back end can use."""


def check_options(problem: Problem, options: Mapping[str, object]) -> None:
    """Refuse options that mean nothing for a problem; None, False and no contention count as not given.

    Raises a `ValueError` if one was given.
    """
    for name, value in options.items():
        if name not in problem.options and not (value is None or value is False or value == Contention.NONE):
            raise ValueError(f"{name}: expected none for a {problem.name} instance, got {value!r}.")


def check_limits(time_limit: float | None, threads: int | None, seed: int) -> None:
    """Refuse a time limit, a number of threads or a seed that is out of range."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit: expected a positive number of seconds, got {time_limit}.")
    if threads is not None and not (isinstance(threads, int | np.integer) and 1 <= threads <= MAX_THREADS):
        raise ValueError(f"threads: expected an integer in 1..{MAX_THREADS}, got {threads!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: expected an integer of at least 0, got {seed!r}.")


def check_arguments(
    kind: Kind,
    function: Callable[..., Any],
    name: str,
    time_limit: float | None,
    stop: StopCriterion | None,
    threads: int | None,
    seed: int,
    start: Schedule | None,
    parameters: dict[str, Any],
) -> None:
    """Refuse what would be ignored or fail later."""
    check_limits(time_limit, threads, seed)
    if start is not None and kind not in KINDS_WITH_RUN:
        raise ValueError(f"start: expected none for {name}, which begins with nothing.")
    if stop is not None and kind != "search":
        raise ValueError(f"stop: expected none for {name}, which is no search; use time_limit.")
    check_parameters(function, name, parameters)


def check_parameters(function: Callable[..., Any], name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that a method does not have, and values that its settings refuse."""
    signature = inspect.signature(function).parameters
    bound_already = [key for key in getattr(function, "keywords", {}) if key in GIVEN_BY_SOLVE]
    if bound_already:
        raise ValueError(f"{bound_already[0]}: expected to be left to solve, got a function that binds it already.")
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.values()):
        return  # the function takes any parameter
    accepted = [key for key in signature if key not in GIVEN_BY_SOLVE]
    for given in parameters:
        if given not in accepted:
            hint = did_you_mean(given, accepted)
            raise ValueError(f"{given}: expected a parameter of {name} ({', '.join(accepted) or 'it has none'}){hint}.")
    if hasattr(function, "settings"):
        function.settings(**parameters)  # refuses a value that is out of range


def check_start(goal: Goal, start: Schedule | None) -> None:
    """Refuse a first schedule of another problem, and one that does not verify.

    Raises a `TypeError` or a `ValueError` if it is one of these.
    """
    if start is None:
        return
    expected = goal.problem.codec.schedule_type
    if not isinstance(start, expected):
        raise TypeError(f"start: expected a {expected.__name__}, got a {type(start).__name__}.")
    if violations := goal.violations(start):
        raise ValueError(f"start: expected a schedule that verifies, got {len(violations)} violations. {violations[0]}")


def check_contention(name: str, function: Callable[..., Any], contention: Contention) -> None:
    """Refuse contention for a method that does not know it: its schedules would break the rule.

    Raises a `ValueError` if there is contention and the function does not take it.
    """
    if Contention(contention) is not Contention.NONE and not knows_contention(function):
        raise ValueError(f"contention: expected none for {name}, which does not know the rule, got {contention}.")


def check_interference(problem: Problem, instance: Any, name: str) -> None:
    """Refuse an exact method that assumes that jobs run as long as they would alone, where they slow each other down.

    Raises a `ValueError` if the instance has interference and the method does not know it.
    """
    known = [name for name, method in problem.methods.items() if method.knows_interference]
    if getattr(instance, "interference", None) is not None and name not in known:
        raise ValueError(
            f"method: expected one that knows interference ({', '.join(known)}, or a policy), got {name!r}, to which "
            "jobs run as long as they would alone."
        )


def refuse_unknown_buffers(problem: Problem, instance: Any, objective: object, name: str) -> None:
    """Refuse a registered method that does not know buffers and groups, or `stage_span`, where a run has these.

    A function of your own is not refused: what it returns is verified.

    Raises a `ValueError` that names the methods that know them.
    """
    if name not in problem.methods or problem.methods[name].knows_buffers:
        return
    if needs_buffers(instance, objective):
        known = ", ".join(name for name, method in problem.methods.items() if method.knows_buffers) or "none yet"
        what = f"the objective {objective}" if not needs_buffers(instance, None) else "buffers and groups"
        reason = "which does not"
        if getattr(instance, "num_buffers", 0):
            reason = "to which memory that a task takes is never released"
        raise ValueError(f"method: expected one that knows {what} ({known}), got {name!r}, {reason}.")


def check_bounds(bounds: Sequence[Bound], contention: Contention) -> None:
    """Refuse bounds that hold under contention only, where there is none."""
    for bound in bounds:
        if bound.contention not in (Contention.NONE, contention):
            found = f"one of {bound.method} that rests on contention {bound.contention}"
            raise ValueError(f"bounds: expected those that hold without contention, got {found}.")


def check_contention_of_buffers(goal: Goal) -> None:
    """Refuse contention where there are buffers or groups or the objective is the stage span.

    Raises a `ValueError`: no model knows transfers that contend together with these.
    """
    if needs_buffers(goal.instance, goal.objective) and goal.contention != Contention.NONE:
        raise ValueError(f"contention: expected none with buffers, groups or stage_span, got {goal.contention}.")


def check_confirmation(kind: Kind, name: str, confirm: bool, time_limit: float | None) -> None:
    """Refuse to confirm what proves nothing, and time for a confirmation that is not asked for."""
    if confirm and kind != "exact":
        raise ValueError(f"confirm: expected none for {name}, which is no exact method and proves no bound.")
    check_confirm_time_limit(confirm, time_limit)
