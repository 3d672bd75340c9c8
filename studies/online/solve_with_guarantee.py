"""Running a policy together with what is proved about its run, and the alarm where the run breaks the proof."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from heuristics.jobs.policies.a_srpt import a_srpt, a_srpt_simulation
from heuristics.jobs.policies.a_srpt_parameters import exact
from instances.jobs.jobs_objective import JobsObjective
from solvers.contradiction import raise_contradiction
from solvers.jobs.solve_jobs import solve_jobs
from studies.online.measured_guarantee import measured_guarantee

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heuristics.jobs.simulation import Simulation
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule
    from solvers.jobs.jobs_result import JobsResult
    from studies.online.measured_guarantee import MeasuredGuarantee


def solve_with_guarantee(
    instance: JobsInstance,
    method: str | Callable[..., JobsSchedule | None],
    *,
    objective: JobsObjective | str = JobsObjective.TOTAL_COMPLETION,
    seed: int = 0,
    parameters: Mapping[str, Any],
    **options: Any,
) -> tuple[JobsResult, MeasuredGuarantee | None]:
    """Run `solve_jobs`, and measure the guarantee of the run where there is one.

    Parameters
    ----------
    instance, method, objective, seed, options
        As of `solve_jobs`.
    parameters
        Of the method.

    Returns
    -------
    JobsResult and MeasuredGuarantee or None
        None where nothing is proved about the run.

    Raises
    ------
    ContradictionError
        If the run is above its proved upper bound, or as `solve_jobs`; a reproducer file is left.
    """
    objective = JobsObjective(objective)
    if not has_guarantee(method, parameters, objective):
        return solve_jobs(instance, method, objective=objective, seed=seed, **options, **parameters), None
    log: list[Simulation] = []

    @wraps(a_srpt)
    def with_log(*arguments: Any, **named: Any) -> JobsSchedule | None:
        simulation = a_srpt_simulation(*arguments, **named)
        if simulation is None:
            return None
        log.append(simulation)
        return simulation.schedule

    result = solve_jobs(instance, with_log, objective=objective, seed=seed, **options, **parameters)
    if result.objective is None or not log:
        return result, None
    rest = {name: parameters.get(name, default) for name, default in (("tau", "1/4"), ("phi", None))}
    tau, phi = exact("tau", rest["tau"], 0), None if rest["phi"] is None else exact("phi", rest["phi"], 1)
    guarantee = measured_guarantee(instance, log[0], tau=tau, phi=phi)
    if guarantee is not None and result.objective > guarantee.upper_bound:
        proved, found = f"at most {int(guarantee.upper_bound)}", f"a schedule of {result.objective}"
        raise_contradiction(
            instance,
            f"a-srpt on {instance.name!r}: expected {proved}, as is proved, got {found}.",
            schedule=result.schedule,
            claims={"measured_guarantee": proved, "a-srpt": found},
            evidence={"parameters": {key: str(value) for key, value in parameters.items()}, "seed": seed}
            | {name: float(value) for name, value in guarantee.to_dict().items()},
        )
    return result, guarantee


def has_guarantee(method: object, parameters: Mapping[str, Any], objective: JobsObjective) -> bool:
    """Say whether an upper bound is proved for a method: A-SRPT, provable mode, Heavy-Edge, weights 1."""
    return (
        method == "a-srpt"
        and objective is JobsObjective.TOTAL_COMPLETION
        and parameters.get("mode", "provable") == "provable"
        and parameters.get("placement", "heavy-edge") == "heavy-edge"
    )
