"""Asking a second model whether a schedule exists where a first one says that there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from heuristics.search.clock import Stopwatch
from instances.dag.contention import Contention
from instances.dag.objective import needs_buffers
from solvers.run.exact_run import cp_sat_solver
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun


MAX_PAIR_ROWS = 30_000
"""Pairs of tasks times GPUs up to which the MILP is asked: beyond, it takes longer to build than it is worth."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Answer:
    """What a second model found: that nothing can exist, or a schedule (not yet verified), or why neither is known.

    `reason` is None where the time was over.
    """

    is_refuted: bool = False
    schedule: DagSchedule | None = None
    reason: str | None = None


class SecondModel(Protocol):
    """Asks one model with one solver."""

    @property
    def name(self) -> str:
        """Model, solver and version."""
        ...

    def ask(
        self,
        instance: DagInstance,
        objective: Objective,
        within: Windows,
        run: ExactRun,
        *,
        seconds: float,
        is_plain: bool,
        contention: Contention,
    ) -> Answer:
        """Look for a schedule within windows that are not empty.

        Parameters
        ----------
        instance, objective, within, run
            What is scheduled and minimised, where to look, threads and seed.
        seconds
            Time limit; may be infinite.
        is_plain
            Whether to leave out what is derived beside the windows, such as symmetry breaking.
        contention
            What transfers share; a model that does not know the rule looks for schedules without it.
        """
        ...


class SecondCpSat:
    """The CP-SAT model, one search with its default portfolio."""

    @property
    def name(self) -> str:
        """Model, solver and version."""
        return f"CP-SAT, ortools {version_of('ortools')}"

    def ask(
        self,
        instance: DagInstance,
        objective: Objective,
        within: Windows,
        run: ExactRun,
        *,
        seconds: float,
        is_plain: bool,
        contention: Contention,
    ) -> Answer:
        """Look for a schedule."""
        from ortools.sat.python import cp_model

        from formulations.dag.cp_sat.buffers import BufferModel
        from formulations.dag.cp_sat.constraints import GaveUpError
        from formulations.dag.cp_sat.model import CpSatModel
        from formulations.dag.fixed_placement import placements
        from solvers.backends.cp_sat import solve_in_thread

        watch = Stopwatch()
        model: CpSatModel | BufferModel
        try:
            if needs_buffers(instance, objective):
                ways = None if is_plain else placements(instance, 1)
                way = ways[0] if ways else None
                model = BufferModel(instance, objective, at_most=within.at_most, gpu=way, symmetry=not is_plain)
            else:
                model = CpSatModel(
                    instance,
                    objective,
                    within,
                    lambda: run.should_stop() or watch.seconds > seconds,
                    symmetry=not is_plain,
                    contention=contention,
                )
        except GaveUpError:
            return _no_answer(run, watch, seconds)
        solver = cp_sat_solver(run.threads, run.seed, max(seconds - watch.seconds, 0.01))
        # with buffers the first schedule within the limit is an answer: nothing is minimised
        solver.parameters.stop_after_first_solution = isinstance(model, BufferModel)
        status = solve_in_thread(solver, model.proto_model, run, reports=False)
        if status == cp_model.INFEASIBLE:
            return Answer(is_refuted=True)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(schedule=model.schedule(solver.value))
        if status == cp_model.MODEL_INVALID:
            return Answer(reason="numbers beyond the range of the solver")
        return _no_answer(run, watch, seconds)


class SecondHighs:
    """The disjunctive MILP in HiGHS, in a process of its own, which is killed where it overruns its time.

    HiGHS's word that nothing exists is no proof by itself; here it stands beside one.
    """

    @property
    def name(self) -> str:
        """Model, solver and version."""
        return f"disjunctive MILP, highspy {version_of('highspy')}"

    def ask(
        self,
        instance: DagInstance,
        objective: Objective,
        within: Windows,
        run: ExactRun,
        *,
        seconds: float,
        is_plain: bool,
        contention: Contention,
    ) -> Answer:
        """Look for a schedule."""
        import pyomo.environ as pyo

        from formulations.dag.milp.disjunctive import DisjunctiveModel
        from formulations.dag.milp.interface import check_model_size
        from formulations.model_too_large import ModelTooLargeError
        from solvers.backends.highs import compile_milp
        from solvers.backends.highs_worker import run_highs_in_worker

        watch = Stopwatch()
        try:
            check_model_size(instance, within, max_pair_rows=MAX_PAIR_ROWS)
            model = DisjunctiveModel(instance, objective, within, symmetry=not is_plain)
        except ModelTooLargeError as error:
            return Answer(reason=f"beyond the reach of the MILP ({str(error).rstrip('.')})")
        cost = next(model.pyomo_model.component_data_objects(pyo.Objective, active=True))
        # Half a tick more than asked: no schedule lies in between, and no tolerance decides.
        model.pyomo_model.cost_at_most = pyo.Constraint(expr=cost.expr <= within.at_most + 0.5)
        milp, columns = compile_milp(model.pyomo_model, has_start=False)
        answer = run_highs_in_worker(
            milp,
            absolute_gap=0.5,
            time_limit=max(seconds - watch.seconds, 0.01),
            threads=run.threads,
            seed=run.seed,
            should_stop=run.should_stop,
        )
        if answer.is_infeasible:
            return Answer(is_refuted=True)
        if answer.solution is None:
            return _no_answer(run, watch, seconds)
        for column, value in zip(columns, answer.solution, strict=True):
            column.set_value(value, skip_validation=True)
        return Answer(schedule=model.schedule())


def _no_answer(run: ExactRun, watch: Stopwatch, seconds: float) -> Answer:
    """Return why a search ended without an answer; no reason where its time was over."""
    if run.should_stop():
        return Answer(reason="interrupted")
    return Answer(reason=None if watch.seconds >= 0.9 * seconds else "the solver ended without an answer")


PLAIN_SHARE = 0.5
"""Share of the time for windows of the second model's own, where it may fall back on those that the first one used."""

PLAIN_SECONDS = 60.0
"""The same where there is no time limit."""

LEAST_SECONDS = 0.01
"""Given to every question, however little time is left: tiny instances need no more."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Opinion:
    """What a second model says: what confirms the claim, or a schedule (not yet verified), or why it says nothing."""

    confirmed_by: str | None = None
    schedule: DagSchedule | None = None
    reason: str | None = None


def second_model(solver: str | None) -> SecondModel:
    """Return the model that is asked about what a solver proves: the MILP about CP-SAT, CP-SAT about all others."""
    return SecondHighs() if solver is not None and solver.startswith("ortools") else SecondCpSat()


def second_opinion(
    second: SecondModel,
    instance: DagInstance,
    objective: Objective,
    bound: int | None,
    run: ExactRun,
    *,
    own_windows_only: bool,
    contention: Contention = Contention.NONE,
) -> Opinion:
    """Ask whether a schedule with an objective below a bound exists.

    The second model is built from releases and durations alone (`plain_windows`, no symmetry breaking), so that no
    error in a bound, in heads and tails or in what follows from them can be in both.

    Parameters
    ----------
    bound
        Claimed lower bound, None where the claim is that there is no schedule at all.
    run
        Time, threads, seed; nothing that was proved before is handed over.
    own_windows_only
        Where False and half of the time is over without an answer, the second model is given the windows from
        join-aware heads and tails, from which the first one's came: it then confirms the search, not these windows, and
        `Opinion.confirmed_by` says so. Where these windows are empty no search is needed, and that is what it says.
    contention
        What transfers share; a second model that does not know the rule can only refute, for what has no schedule
        without it has none with it.
    """
    from formulations.dag.probing.windows import windows
    from formulations.dag.windows import plain_windows  # Numba, which takes time to import

    if bound is not None and bound <= 0:
        return Opinion(confirmed_by="times of at least 0")
    at_most, reason = None if bound is None else bound - 1, None
    for is_shared in (False,) if own_windows_only else (False, True):
        if run.should_stop():
            return Opinion(reason="interrupted")
        if is_shared:
            within = windows(instance, objective, lower_bound=0, objective_at_most=at_most, is_far=False)
        else:
            within = plain_windows(instance, objective, objective_at_most=at_most)
        if within.is_empty:
            return Opinion(confirmed_by="heads and tails" if is_shared else "releases and durations")
        seconds = run.seconds_left()
        if not own_windows_only and not is_shared:
            seconds = PLAIN_SECONDS if math.isinf(seconds) else PLAIN_SHARE * seconds
        answer = second.ask(
            instance,
            objective,
            within,
            run,
            seconds=max(seconds, LEAST_SECONDS),
            is_plain=not is_shared,
            contention=contention,
        )
        if answer.is_refuted:
            return Opinion(confirmed_by=f"{second.name}, windows shared" if is_shared else second.name)
        if answer.schedule is not None:
            return Opinion(schedule=answer.schedule)
        reason = answer.reason
    return Opinion(reason=reason or f"not reached in {run.watch.seconds:.3g} s")


def asked_of_cp_sat(
    instance: DagInstance, objective: Objective, bound: int, run: ExactRun
) -> tuple[str | None, DagSchedule | None]:
    """Ask CP-SAT to refute that a schedule with an objective below a bound exists, for a solver that claims the bound.

    `run` has threads, seed and the time that is left; nothing that was proved before is handed over. Returns what
    confirms the bound (None: nothing), and a schedule that may contradict it (None: none was found).
    """
    opinion = second_opinion(SecondCpSat(), instance, objective, bound, run, own_windows_only=False)
    return opinion.confirmed_by, opinion.schedule
