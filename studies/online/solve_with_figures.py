"""Running a method on jobs together with whatever more is known of its run than its schedule."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from studies.experiment.network_sha256 import AGENTS
from studies.online.agents_figures import agents_figures
from studies.online.solve_with_guarantee import solve_with_guarantee

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from heuristics.callback import Callback
    from heuristics.jobs.marl.simulate_agents import AgentsRun
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule
    from solvers.jobs.jobs_result import JobsResult


def solve_with_figures(
    instance: JobsInstance,
    method: str | Callable[..., JobsSchedule | None],
    *,
    parameters: Mapping[str, Any],
    **options: Any,
) -> tuple[JobsResult, dict[str, float]]:
    """Run `solve_jobs`, and return what is proved about the run, or what its agents did, beside the result.

    Parameters
    ----------
    instance, method, options
        As of `solve_jobs`.
    parameters
        Of the method.

    Returns
    -------
    tuple
        The result, and the fields of `MeasuredGuarantee` or `AgentsFigures`; no fields where neither is known.

    Raises
    ------
    ContradictionError
        As `solve_with_guarantee`.
    """
    if method != AGENTS:
        result, guarantee = solve_with_guarantee(instance, method, parameters=parameters, **options)
        return result, {} if guarantee is None else guarantee.to_dict()
    from heuristics.jobs.policies.marl import marl, marl_run

    log: list[AgentsRun] = []

    @wraps(marl)
    def with_log(
        instance: JobsInstance,
        objective: JobsObjective,
        rng: np.random.Generator,
        callback: Callback | None = None,
        **named: Any,
    ) -> JobsSchedule | None:
        run = marl_run(instance, rng, callback, **named)
        if run is None:
            return None
        log.append(run)
        return run.simulation.schedule

    result, _ = solve_with_guarantee(instance, with_log, parameters=parameters, **options)
    figures = agents_figures(log[0]) if log else None
    return result, {} if figures is None else figures.to_dict()
