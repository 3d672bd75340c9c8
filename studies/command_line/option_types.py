"""From the text of an option to its value, with messages in the voice of the library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from studies.command_line.bad_input import BadInputError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.cluster import Cluster


def integer(option: str, *, low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a function that reads an integer of at least `low` and, where it is given, at most `high`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError as error:
            raise BadInputError(f"{option}: expected an integer, got {shortened(text)}.") from error
        if value < low:
            raise BadInputError(f"{option}: expected an integer of at least {low}, got {value}.")
        if high is not None and value > high:
            raise BadInputError(f"{option}: expected an integer of at most {high}, got {value}.")
        return value

    return parse


def number(
    option: str, *, low: float = 0.0, high: float = math.inf, low_is_allowed: bool = True
) -> Callable[[str], float]:
    """Return a function that reads a finite number from `low` to `high`."""
    expected = f"a number {'of at least' if low_is_allowed else 'above'} {low:g}"
    if high < math.inf:
        expected = f"a number in {low:g}..{high:g}"

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError as error:
            raise BadInputError(f"{option}: expected a number, got {shortened(text)}.") from error
        if not low <= value <= high or math.isinf(value) or (value == low and not low_is_allowed):
            raise BadInputError(f"{option}: expected {expected}, got {value:g}.")
        return value

    return parse


def objective(text: str) -> str:
    """Read the name of an objective of either problem; hyphens stand for underscores."""
    from instances.jobs.jobs_objective import JobsObjective
    from instances.objective import Objective

    name = text.replace("-", "_")
    if name not in [*Objective, *JobsObjective]:
        expected = f"{' or '.join(Objective)}, for jobs {' or '.join(JobsObjective)}"
        raise BadInputError(f"--objective: expected {expected}, got {shortened(text)}.")
    return name


def dag_objective(name: str | None) -> str:
    """Return the objective of DAG instances that is meant; None for the default.

    Raises
    ------
    BadInputError
        If it is one of jobs only.
    """
    from instances.objective import Objective

    if name is None:
        return str(Objective.MAKESPAN)
    if name not in list(Objective):
        raise BadInputError(f"--objective: expected {' or '.join(Objective)} for DAGs of tasks, got {name!r}.")
    return name


def contention(text: str) -> str:
    """Read the name of a rule of contention."""
    from instances.contention import Contention

    if text not in list(Contention):
        raise BadInputError(f"--contention: expected {' or '.join(Contention)}, got {shortened(text)}.")
    return text


def method(text: str) -> str:
    """Read the name of a method of either problem."""
    from solvers.jobs.jobs_methods import JOBS_METHODS

    if text in JOBS_METHODS:
        return text
    return dag_method(text)


def dag_method(text: str) -> str:
    """Read the name of a method for DAG instances.

    Raises
    ------
    BadInputError
        If there is none of that name, or it is one for jobs only.
    """
    from solvers.methods import method_named

    try:
        method_named(text)
    except ValueError as error:
        raise BadInputError(f"--{error}") from error
    return text


def exact_method(text: str) -> str:
    """Read the name of an exact method."""
    from solvers.methods import METHODS

    exact = [name for name, method in METHODS.items() if method.kind == "exact"]
    if text not in exact:
        raise BadInputError(f"--against: expected {' or '.join(exact)}, got {shortened(text)}.")
    return text


def bound_methods(text: str) -> list[str]:
    """Read names of bounds and exact methods, separated by commas."""
    from solvers.lower_bound import BOUND_METHODS
    from solvers.methods import METHODS

    known = [*BOUND_METHODS, *(name for name, method in METHODS.items() if method.kind == "exact")]
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise BadInputError(f"--methods: expected some of {', '.join(known)}, got {shortened(name)}.")
    return names


def check_confirm_time_limit(confirm: bool, time_limit: float | None) -> None:
    """Refuse time for a confirmation that is not asked for.

    Raises
    ------
    BadInputError
        If there is some.
    """
    if time_limit is not None and not confirm:
        raise BadInputError(f"--confirm-time-limit: expected none without --confirm, got {time_limit:g}.")


def cluster(text: str | None) -> Cluster | None:
    """Read a cluster: a preset or a text such as ``2xV100-16GB+1xT4,4xP100``; None stays None."""
    from instances.cluster import parse_cluster

    if text is None:
        return None
    try:
        return parse_cluster(text)
    except ValueError as error:
        _, _, message = str(error).partition(": ")
        raise BadInputError(f"--gpus: {message}") from error
