"""Models that are asked for a second opinion: is there a schedule within some windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from heuristics.stopwatch import Stopwatch
from solvers.versions import version_of

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.contention import Contention
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.exact_run import ExactRun

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
            May be infinite.
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

        from formulations.dag.cp_sat.constraints import GaveUpError
        from formulations.dag.cp_sat.model import CpSatModel
        from solvers.cp_sat import solve_in_thread

        watch, solver = Stopwatch(), cp_model.CpSolver()
        try:
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
        solver.parameters.num_workers = run.threads
        solver.parameters.random_seed = run.seed % 2**31
        solver.parameters.catch_sigint_signal = False
        if math.isfinite(seconds):
            solver.parameters.max_time_in_seconds = max(seconds - watch.seconds, 0.01)
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

        from formulations.dag.milp.beyond_reach import BeyondReachError, check_reach
        from formulations.dag.milp.disjunctive import DisjunctiveModel
        from solvers.compiled_milp import compile_milp
        from solvers.highs_worker import run_highs_in_worker

        watch = Stopwatch()
        try:
            check_reach(instance, within, max_pair_rows=MAX_PAIR_ROWS)
            model = DisjunctiveModel(instance, objective, within)
        except BeyondReachError as error:
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
