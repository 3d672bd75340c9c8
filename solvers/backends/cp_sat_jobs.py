"""Running the CP-SAT model of the jobs problem: the problem itself, or a relaxation for its bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formulations.jobs.bounds.single_machine import sets_of_kinds
from formulations.jobs.cp_sat.model import JobsCpSatModel
from formulations.jobs.left_shift import latest_completions, list_schedule, shift_jobs_left
from formulations.jobs.pattern_table import MAX_LISTED, pattern_schedule, pattern_table
from heuristics.search.clock import Stopwatch
from instances.jobs.objective import jobs_objective_value, objective_weights
from solvers.backends.cp_sat import solve_in_thread
from solvers.run.exact_run import cp_sat_solver
from solvers.run.outcome import Outcome, Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from formulations.jobs.pattern_table import PatternSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective
    from instances.jobs.schedule import JobsSchedule
    from solvers.run.exact_run import ExactRun


LARGEST_SUM = 2**60
"""Of weights times ticks: above it CP-SAT's own integers are not wide enough."""

MAX_JOBS = 300
"""Above this many jobs a model is not built: it takes long and proves no more than the solver-free bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpSatAnswer:
    """What CP-SAT found on a table: a schedule of it or None, its bound or None, whether it refutes, its seconds."""

    schedule: PatternSchedule | None
    lower_bound: int | None
    is_infeasible: bool
    is_finished: bool
    seconds: float


def cp_sat_jobs(
    instance: JobsInstance, objective: JobsObjective, run: ExactRun[JobsSchedule], *, max_patterns: int = MAX_LISTED
) -> Outcome[JobsSchedule]:
    """Solve a jobs instance with CP-SAT, offline.

    Where the patterns of all jobs on servers are at most `max_patterns`, the problem itself is solved, and the run can
    end with a proof. Otherwise a relaxation is (GPUs by kind, else one pool of GPUs), which proves a bound and finds no
    schedule: the start is handed back, and `Outcome.solver` says so.

    Parameters
    ----------
    run
        Limits and start. With one thread and a time limit that does not strike the run can be repeated bit for bit.
    max_patterns
        Largest number of patterns of all jobs together.

    Raises
    ------
    RuntimeError
        If the solver refuses the model, or claims that there is no schedule although there always is one.
    """
    weights = objective_weights(instance, objective).tolist()
    bound = max(run.lower_bound, sets_of_kinds(instance, objective))
    best = run.start
    if run.start is not None and jobs_objective_value(instance, run.start, objective) <= bound:
        return Outcome(schedule=run.start, lower_bound=bound)
    if instance.num_jobs > MAX_JOBS:
        reason = f"jobs: expected at most {MAX_JOBS}, got {instance.num_jobs}."
        return Outcome(schedule=best, lower_bound=bound, termination=Termination.FAILED, failure=reason)
    table = pattern_table(instance, max_listed=max_patterns)
    first = list_schedule(table, instance.release.tolist(), weights)
    if table.is_exact:
        made = first.jobs_schedule(instance, table)
        if best is None or jobs_objective_value(instance, made, objective) < jobs_objective_value(
            instance, best, objective
        ):
            best = made
        first = shift_jobs_left(table, instance.release.tolist(), pattern_schedule(instance, table, best))
        best = first.jobs_schedule(instance, table)
        run.report(first.objective(table, weights), bound)
    at_most = first.objective(table, weights)
    if table.is_exact and at_most <= bound:
        return Outcome(schedule=best, lower_bound=bound)
    latest = latest_completions(table, instance.release.tolist(), weights, at_most=at_most)
    if (largest := sum(weight * end for weight, end in zip(weights, latest, strict=True))) > LARGEST_SUM:
        reason = f"objective: expected at most {LARGEST_SUM} within the horizon, got up to {largest}."
        return Outcome(schedule=best, lower_bound=bound, termination=Termination.FAILED, failure=reason)
    if run.must_stop():
        ended = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
        return Outcome(schedule=best, lower_bound=bound, termination=ended)
    # A relaxation may have schedules below a bound on the problem: there the bound is no row that keeps its optimum.
    model = JobsCpSatModel(instance, table, weights, latest, lower_bound=bound if table.is_exact else 0)
    model.hint(first)
    answer = run_jobs_model(model, run, seconds=run.seconds_left(), reports=table.is_exact)
    if answer.is_infeasible:
        raise RuntimeError(f"cp-sat: expected a schedule of at most {at_most}, got none on {instance.sha256[:12]}.")
    bound = max(bound, answer.lower_bound or 0)
    if table.is_exact and answer.schedule is not None and answer.schedule.objective(table, weights) < at_most:
        best = answer.schedule.jobs_schedule(instance, table)
    termination = Termination.FINISHED
    if not answer.is_finished:
        termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
    return Outcome(
        schedule=best,
        lower_bound=bound,
        termination=termination,
        backend_seconds=answer.seconds,
        solver=f"ortools {version_of('ortools')}{'' if table.is_exact else f' (relaxation: {table.proof})'}",
    )


def run_jobs_model(model: JobsCpSatModel, run: ExactRun[JobsSchedule], *, seconds: float, reports: bool) -> CpSatAnswer:
    """Solve a model with the threads, seed and stop signal of a run.

    `reports` says whether objectives and bounds of the model are those of the run. Raises a `RuntimeError` if the
    solver refuses the model.
    """
    from ortools.sat.python import cp_model

    solver = cp_sat_solver(run.threads, run.seed, seconds)
    parameters = solver.parameters
    parameters.symmetry_level = 0  # OR-Tools 9.15 fails in looking for it (IndexError, raw_hash_map); we break our own
    watch = Stopwatch()
    try:
        status = solve_in_thread(solver, model.proto_model, run, reports=reports)
    except IndexError:  # an exception from presolve is no answer: once more without it
        parameters.cp_model_presolve = False
        if math.isfinite(seconds):
            parameters.max_time_in_seconds = max(seconds - watch.seconds, 0.0)
        status = solve_in_thread(solver, model.proto_model, run, reports=reports)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"cp-sat: expected a valid model, got: {model.proto_model.validate()}")
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    is_infeasible = status == cp_model.INFEASIBLE
    return CpSatAnswer(
        schedule=model.schedule(solver.value) if found else None,
        # The model's own integer bound: its bound as a float is off by one from about 2**32 on.
        lower_bound=None if is_infeasible else solver.response_proto.inner_objective_lower_bound,
        is_infeasible=is_infeasible,
        is_finished=status == cp_model.OPTIMAL,
        seconds=solver.wall_time,
    )
