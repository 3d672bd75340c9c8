"""Running the complete search for jobs that slow each other down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.jobs.bounds.single_machine import sets_of_kinds
from formulations.jobs.co_location_search import CoLocationSearch
from formulations.jobs.placement_patterns import TooManyPatternsError
from instances.jobs.objective import jobs_objective_value
from solvers.run.outcome import Outcome, Termination

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective
    from instances.jobs.schedule import JobsSchedule
    from solvers.run.exact_run import ExactRun


def co_location_jobs(
    instance: JobsInstance, objective: JobsObjective, run: ExactRun[JobsSchedule]
) -> Outcome[JobsSchedule]:
    """Prove the optimum of a tiny instance, offline, interference included; one thread, no solver.

    The objective is a bound after a search to the end.
    """
    bound = max(run.lower_bound, sets_of_kinds(instance, objective))
    known = None if run.start is None else jobs_objective_value(instance, run.start, objective)
    try:
        search = CoLocationSearch(instance, objective)
    except TooManyPatternsError as error:
        failed = Termination.FAILED
        return Outcome(schedule=run.start, lower_bound=bound, termination=failed, failure=str(error))
    found, is_finished = search.run(known, run.must_stop, lambda value: run.report(value, None), lower_bound=bound)
    best = run.start if found is None else found
    if is_finished and best is not None:
        value = jobs_objective_value(instance, best, objective)
        return Outcome(schedule=best, lower_bound=max(bound, value))
    ended = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
    return Outcome(schedule=best, lower_bound=bound, termination=ended)
