"""Running the time-indexed MILP of the jobs problem: HiGHS searches, CP-SAT confirms what it claims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from formulations.jobs.bounds.single_machine import sets_of_kinds
from formulations.jobs.cp_sat.model import JobsCpSatModel
from formulations.jobs.left_shift import latest_completions, list_schedule, shift_jobs_left
from formulations.jobs.pattern_table import pattern_schedule, pattern_table
from instances.jobs.objective import jobs_objective_value, objective_weights
from instances.jobs.verify import verify_jobs_schedule
from solvers.backends.cp_sat_jobs import LARGEST_SUM, run_jobs_model
from solvers.run.contradiction import raise_contradiction
from solvers.run.outcome import Outcome, Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from formulations.jobs.pattern_table import PatternTable
    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective
    from instances.jobs.schedule import JobsSchedule
    from solvers.run.exact_run import ExactRun


CONFIRMATION_SHARE = 0.3
"""Share of the time limit that is kept for the second opinion."""


def milp_jobs(instance: JobsInstance, objective: JobsObjective, run: ExactRun[JobsSchedule]) -> Outcome[JobsSchedule]:
    """Solve a jobs instance with the time-indexed MILP and HiGHS, offline.

    No bound rests on HiGHS alone: released versions have returned wrong optima. What it claims is given to CP-SAT as
    the question whether a schedule below it exists, without symmetry breaking and without the list of possible starts;
    what CP-SAT cannot confirm in the time that is left is not claimed. Both models share the table of patterns and
    `latest_completions`, so these are not confirmed by it. Instances beyond the reach of the model are not tried: the
    run ends as failed, with the best schedule known and the bound without search.

    Raises a `ContradictionError` if CP-SAT finds a schedule below what HiGHS claims to be the least.
    """
    from formulations.jobs.milp.time_indexed import TimeIndexedJobsModel
    from formulations.model_too_large import ModelTooLargeError
    from solvers.backends.highs import compile_milp, run_highs
    from solvers.backends.run_pyomo import HIGHS_ERROR, next_multiple, not_confirmed, whole_ticks

    weights = objective_weights(instance, objective).tolist()
    bound = max(run.lower_bound, sets_of_kinds(instance, objective))
    best = run.start
    if best is not None and jobs_objective_value(instance, best, objective) <= bound:
        return Outcome(schedule=best, lower_bound=bound)
    table = pattern_table(instance)
    if not table.is_exact:
        reason = f"jobs: expected placements that can be listed and no interference, got {table.proof} only."
        return Outcome(schedule=best, lower_bound=bound, termination=Termination.FAILED, failure=reason)
    made = list_schedule(table, instance.release.tolist(), weights).jobs_schedule(instance, table)
    best = _better(instance, objective, best, made)
    first = shift_jobs_left(table, instance.release.tolist(), pattern_schedule(instance, table, best))
    best = first.jobs_schedule(instance, table)
    at_most = first.objective(table, weights)
    if at_most <= bound:
        return Outcome(schedule=best, lower_bound=bound)
    latest = latest_completions(table, instance.release.tolist(), weights, at_most=at_most)
    try:
        model = TimeIndexedJobsModel(instance, table, weights, latest)
    except ModelTooLargeError as error:
        return Outcome(schedule=best, lower_bound=bound, termination=Termination.FAILED, failure=str(error))
    if run.must_stop():
        ended = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
        return Outcome(schedule=best, lower_bound=bound, termination=ended)
    has_start = model.set_start(first)
    milp, columns = compile_milp(model.pyomo_model, has_start=has_start)
    step = max(math.gcd(*weights), 1)
    answer = run_highs(
        milp,
        absolute_gap=0.999 * step,
        time_limit=run.seconds_left() * (1.0 - CONFIRMATION_SHARE),
        threads=run.threads,
        seed=run.seed,
        report=lambda value, _: run.report(whole_ticks(value), None),  # a bound counts once it is confirmed
        should_stop=run.should_stop,
    )
    if answer.solution is not None:
        for column, value in zip(columns, answer.solution, strict=True):
            column.set_value(value, skip_validation=True)
        best = _better(instance, objective, best, model.schedule().jobs_schedule(instance, table))
    value = jobs_objective_value(instance, best, objective)
    claimed = min(next_multiple(answer.dual_bound, value, step), value)
    if answer.is_infeasible:
        claimed = value  # the start is within the limits, so this is wrong, or nothing but the start is left
    confirmed_by = None
    if claimed > bound and not run.should_stop():
        confirmed_by = _confirmed(instance, objective, table, weights, claimed, run)
        if confirmed_by is not None:
            bound = claimed
    termination, failure = Termination.FINISHED if value <= bound else Termination.TIME_LIMIT, None
    if run.should_stop():
        termination = Termination.INTERRUPTED
    elif value > bound and (answer.is_failed or answer.is_finished) and run.seconds_left() > 0:
        # It believes itself done, or gave up; nothing of it is proved.
        termination, failure = Termination.FAILED, HIGHS_ERROR if answer.is_failed else not_confirmed("HiGHS")
    return Outcome(
        schedule=best,
        lower_bound=bound,
        termination=termination,
        backend_seconds=answer.seconds,
        solver=f"highspy {version_of('highspy')}",
        confirmed_by=confirmed_by,
        failure=failure,
    )


def _confirmed(
    instance: JobsInstance,
    objective: JobsObjective,
    table: PatternTable,
    weights: list[int],
    claimed: int,
    run: ExactRun[JobsSchedule],
) -> str | None:
    """Ask CP-SAT to refute that a schedule below a claimed bound exists; return what confirms it, None for nothing."""
    release = instance.release.tolist()
    latest = latest_completions(table, release, weights, at_most=claimed - 1)
    least = table.least_durations.tolist()
    if any(end < begin + ticks for end, begin, ticks in zip(latest, release, least, strict=True)):
        return "releases and durations"
    if sum(weight * end for weight, end in zip(weights, latest, strict=True)) > LARGEST_SUM:
        return None
    second = JobsCpSatModel(instance, table, weights, latest, at_most=claimed - 1, symmetry=False)
    answer = run_jobs_model(second, run, seconds=max(run.seconds_left(), 0.01), reports=False)
    if answer.schedule is not None:
        found = answer.schedule.jobs_schedule(instance, table)
        if not verify_jobs_schedule(instance, found):
            value = jobs_objective_value(instance, found, objective)
            raise_contradiction(
                instance,
                f"HiGHS proves {claimed}, CP-SAT finds {value}.",
                schedule=found,
                claims={
                    f"highspy {version_of('highspy')}": f"a bound of {claimed}",
                    f"ortools {version_of('ortools')}": f"a schedule of {value}",
                },
                evidence={"objective": str(objective), "seed": run.seed},
            )
    return f"ortools {version_of('ortools')}" if answer.is_infeasible else None


def _better(
    instance: JobsInstance, objective: JobsObjective, old: JobsSchedule | None, new: JobsSchedule
) -> JobsSchedule:
    """Return the better of two schedules; one that does not verify (a tolerance too far) counts as none."""
    if old is None:
        return new
    if verify_jobs_schedule(instance, new):
        return old
    return min(old, new, key=lambda one: jobs_objective_value(instance, one, objective))
