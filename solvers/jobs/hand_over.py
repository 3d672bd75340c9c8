"""From `solve` to `solve_jobs`: what only DAG instances have is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.jobs.jobs_objective import JobsObjective
from solvers.jobs.solve_jobs import solve_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from instances.jobs.jobs_instance import JobsInstance
    from solvers.jobs.jobs_result import JobsResult


def hand_over(
    instance: JobsInstance,
    method: str | Callable[..., Any],
    *,
    for_dags: Mapping[str, object],
    objective: object,
    parameters: Mapping[str, Any],
    **options: Any,
) -> JobsResult:
    """Run `solve_jobs` with the arguments of `solve`.

    Parameters
    ----------
    instance, method, options
        As there.
    for_dags
        Arguments that mean nothing for jobs, by name; None where one was not given.
    objective
        None for the default.
    parameters
        Of the method.

    Raises
    ------
    ValueError
        If an argument for DAGs was given, and as `solve_jobs`.
    """
    for name, value in for_dags.items():
        if value is not None:
            raise ValueError(f"{name}: expected none for a jobs instance, got {value!r}.")
    wanted: Any = JobsObjective.TOTAL_COMPLETION if objective is None else objective
    return solve_jobs(instance, method, objective=wanted, **options, **parameters)
