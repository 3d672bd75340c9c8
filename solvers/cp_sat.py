"""Running the CP-SAT model: two phases, interrupts, incumbents and bounds as they come."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formulations.dag.cp_sat.constraints import GaveUpError
from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.windows import Windows, windows
from instances.objective import Objective, objective_value
from solvers.contradiction import raise_contradiction
from solvers.outcome import Outcome
from solvers.status import Termination
from solvers.versions import version_of

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.exact_run import ExactRun

MANY_THREADS = 8
"""From here on CP-SAT's own portfolio searches and proves at the same time, and one phase is enough."""

FIRST_PHASE_SHARE = 0.2
"""Largest share of the time limit for the first phase."""

LARGE_MODEL = 5_000
"""From this many literals on nothing is probed: probing takes many times what the time limit leaves, heedless of it."""

PROVING_SUBSOLVERS = ("no_lp", "objective_lb_search_no_lp")
"""The two subsolvers that prove most on two cores (measured: 4 of 4 proofs at 60 tasks, 3 of 4 with the default)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """What one phase found: schedule, bound, whether it is infeasible, seconds in the solver."""

    schedule: DagSchedule | None
    lower_bound: int | None
    is_infeasible: bool
    is_finished: bool
    seconds: float


def cp_sat(instance: DagInstance, objective: Objective, run: ExactRun) -> Outcome:
    """Solve an instance with CP-SAT.

    With few threads a short first phase (default search with neighbourhoods, complete hint) finds a good schedule, its
    objective narrows all windows, and a second phase proves. With 8 threads or more one phase does both.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    run
        Limits and start. With one thread and a time limit that does not strike the run can be repeated bit for bit.

    Returns
    -------
    Outcome
        Best schedule and bound.

    Raises
    ------
    ContradictionError
        If the solver claims that no schedule exists although one is verified.
    RuntimeError
        If the solver refuses the model.
    """
    schedule, bound, seconds, asked = run.start, run.lower_bound, 0.0, None
    for is_last in (True,) if run.threads >= MANY_THREADS else (False, True):
        at_most = None if schedule is None else objective_value(instance, schedule, objective)
        if at_most is not None and at_most <= bound:
            return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, solver=asked)
        within = windows(instance, objective, lower_bound=bound, objective_at_most=at_most)
        if within.is_empty:
            _refuse_infeasible(instance, schedule, bound)
            return Outcome(schedule=None, lower_bound=None, is_infeasible=True, backend_seconds=seconds, solver=asked)
        if run.should_stop():
            return Outcome(
                schedule=schedule,
                lower_bound=bound,
                termination=Termination.INTERRUPTED,
                backend_seconds=seconds,
                solver=asked,
            )
        if run.seconds_left() <= 0:
            break
        try:
            answer = _solve_phase(instance, objective, within, schedule, run, is_last=is_last)
        except GaveUpError:
            break
        seconds += answer.seconds
        asked = f"ortools {version_of('ortools')}"
        if answer.is_infeasible:
            _refuse_infeasible(instance, schedule, bound)
            return Outcome(schedule=None, lower_bound=None, is_infeasible=True, backend_seconds=seconds, solver=asked)
        schedule = _better(instance, objective, schedule, answer.schedule)
        bound = max(bound, answer.lower_bound or 0)
        if answer.is_finished:
            return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, solver=asked)
    termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
    return Outcome(schedule=schedule, lower_bound=bound, termination=termination, backend_seconds=seconds, solver=asked)


def _better(
    instance: DagInstance, objective: Objective, old: DagSchedule | None, new: DagSchedule | None
) -> DagSchedule | None:
    """Return the better of two schedules; the solver may lose its hint."""
    if old is None or new is None:
        return new if old is None else old
    return min(new, old, key=lambda schedule: objective_value(instance, schedule, objective))


def _refuse_infeasible(instance: DagInstance, schedule: DagSchedule | None, bound: int) -> None:
    """Raise if there is a schedule after all."""
    if schedule is not None:
        claim = "CP-SAT claims that no schedule exists within the objective of a verified one."
        raise_contradiction(instance, claim, schedule=schedule, evidence={"lower_bound": bound})


def _solve_phase(
    instance: DagInstance,
    objective: Objective,
    within: Windows,
    schedule: DagSchedule | None,
    run: ExactRun,
    *,
    is_last: bool,
) -> _Answer:
    """Build the model within its windows and solve it."""
    from ortools.sat.python import cp_model

    model = CpSatModel(instance, objective, within, should_give_up=lambda: run.should_stop() or run.seconds_left() <= 0)
    if schedule is not None:
        model.hint(schedule)
    solver = cp_model.CpSolver()
    _set_parameters(solver, instance, run, is_last=is_last)
    if model.num_literals >= LARGE_MODEL:
        solver.parameters.cp_model_probing_level = 0
    status = solve_in_thread(solver, model.proto_model, run)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"cp-sat: expected a valid model, got: {model.proto_model.validate()}")
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return _Answer(
        schedule=model.schedule(solver.value) if found else None,
        # The integer bound of the model as it stands: the float beside it is off by one from about 2**32 on.
        lower_bound=None if status == cp_model.INFEASIBLE else solver.response_proto.inner_objective_lower_bound,
        is_infeasible=status == cp_model.INFEASIBLE,
        is_finished=status == cp_model.OPTIMAL,
        seconds=solver.wall_time,
    )


def _set_parameters(solver: cp_model.CpSolver, instance: DagInstance, run: ExactRun, *, is_last: bool) -> None:
    """Set limits, threads and what searches."""
    parameters = solver.parameters
    parameters.num_workers = run.threads
    parameters.random_seed = run.seed % 2**31
    parameters.catch_sigint_signal = False  # Ctrl-C is heard by `Interrupt`, which lets the run end in order
    limit = run.seconds_left()
    if not is_last:
        limit *= FIRST_PHASE_SHARE
        # Deterministic time, so that the switch to the second phase does not depend on the clock.
        parameters.max_deterministic_time = 1.0 + 0.02 * instance.num_tasks * min(run.threads, 2)
    elif run.threads == 1:
        parameters.linearization_level = 0
    elif run.threads < MANY_THREADS:
        parameters.num_workers = 2
        parameters.subsolvers.extend(PROVING_SUBSOLVERS)
        parameters.use_lns = False
    if math.isfinite(limit):
        parameters.max_time_in_seconds = limit


def solve_in_thread(
    solver: cp_model.CpSolver, model: cp_model.CpModel, run: ExactRun, *, reports: bool = True
) -> cp_model.CpSolverStatus:
    """Solve in a second thread, so that the first one can hear Ctrl-C and stop the search.

    Parameters
    ----------
    solver, model
        With limits and threads set.
    run
        Asked whether to stop, told of incumbents and bounds.
    reports
        Whether to tell; not where the model answers another question than the run's.
    """
    from ortools.sat.python import cp_model

    class Incumbents(cp_model.CpSolverSolutionCallback):
        """Passes every better objective on."""

        def on_solution_callback(self) -> None:
            """Report the objective of a new solution."""
            run.report(round(self.objective_value), None)

    if reports:
        solver.best_bound_callback = lambda bound: run.report(None, _rounded_up(bound))
    statuses: list[cp_model.CpSolverStatus] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            statuses.append(solver.solve(model, Incumbents() if reports else None))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="cp-sat", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
            if run.should_stop():
                solver.stop_search()
    except BaseException:  # a second Ctrl-C, say: no search goes on unseen
        while thread.is_alive():
            solver.stop_search()
            thread.join(0.05)
        raise
    if errors:
        raise errors[0]
    return statuses[0]


def _rounded_up(bound: float) -> int | None:
    """Round a bound that CP-SAT reports as a float up to the integer grid, less its error; None where there is none."""
    return math.ceil(bound - max(1e-6, 4 * math.ulp(bound))) if math.isfinite(bound) else None
