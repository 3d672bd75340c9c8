"""The exact methods that are the nonlinear integer program: as it stands in SCIP, exactly linearised in HiGHS."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from solvers.backends.run_pyomo import BackEndAnswer, run_milp, run_pyomo
from solvers.run.exact_run import in_second_thread
from solvers.run.outcome import Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyomo.environ as pyo
    import pyscipopt
    from pyomo.contrib.solver.common.results import Results

    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from solvers.run.exact_run import ExactRun
    from solvers.run.outcome import Outcome


class Scip:
    """SCIP through `scip_direct` of `pyomo.contrib.solver`, which hands Pyomo's expressions to PySCIPOpt.

    Attributes
    ----------
    name, solver
        Name without and with versions.

    Raises
    ------
    ValueError
        If PySCIPOpt is not installed.
    """

    name = "SCIP"

    def __init__(self) -> None:
        if find_spec("pyscipopt") is None:
            raise ValueError(
                "pyscipopt: expected the package of the extra scip (pip install 'optgap[scip]'), got none."
            )
        import pyscipopt

        scip = pyscipopt.Model()
        version = f"{scip.getMajorVersion()}.{scip.getMinorVersion()}.{scip.getTechVersion()}"
        self.solver = f"SCIP {version} (pyscipopt {version_of('pyscipopt')})"

    def solve(
        self,
        model: pyo.ConcreteModel,
        *,
        has_start: bool,
        absolute_gap: float,
        time_limit: float,
        threads: int,
        seed: int,
        report: Callable[[float | None, float | None], None],
        should_stop: Callable[[], bool],
        max_nodes: int | None = None,
    ) -> BackEndAnswer:
        """Solve, and load the best solution into the variables; with at most some nodes of the search tree."""
        watched = _Watched(has_start=has_start, report=report, should_stop=should_stop)
        results = _direct(watched).solve(
            model,
            load_solutions=False,
            raise_exception_on_nonoptimal_result=False,
            rel_gap=0.0,
            abs_gap=absolute_gap,
            time_limit=time_limit if math.isfinite(time_limit) else None,
            threads=threads,
            solver_options={
                "display/verblevel": 0,
                "misc/catchctrlc": False,  # Ctrl-C is heard by `Interrupt`, which lets the run end in order
                "randomization/randomseedshift": seed % 2**31,
                "limits/nodes": -1 if max_nodes is None else max_nodes,
            },
        )
        return _answer(results)


class _Watched:
    """A SCIP model that solves in a second thread, so that the first one can hear Ctrl-C and stop the search."""

    def __init__(
        self, *, has_start: bool, report: Callable[[float | None, float | None], None], should_stop: Callable[[], bool]
    ) -> None:
        self.has_start = has_start
        self._report = report
        self._should_stop = should_stop
        self._model: pyscipopt.Model | None = None

    def watch(self, model: pyscipopt.Model) -> None:
        """Stand for a model from now on."""
        import pyscipopt

        report, improved = self._report, pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND

        class Ear(pyscipopt.Eventhdlr):
            """Receives better solutions."""

            def eventinit(self) -> None:
                """Listen."""
                self.model.catchEvent(improved, self)

            def eventexec(self, event: object) -> None:
                """Pass the objective on."""
                report(self.model.getSolObjVal(self.model.getBestSol()), None)

        model.includeEventhdlr(Ear(), "improvements", "hears of better solutions")
        self._model = model

    def __getattr__(self, name: str) -> Any:
        """Be the model in everything else."""
        return getattr(self._model, name)

    def optimize(self) -> None:
        """Solve; an exception, a second Ctrl-C say, ends the search before it goes on its way."""
        model = self._model
        assert model is not None
        in_second_thread(model.optimizeNogil, self._should_stop, partial(_interrupt, model))


def _interrupt(model: pyscipopt.Model) -> None:
    """Ask for an end of the search; SCIP refuses in between its stages and is asked again."""
    with suppress(Exception):
        model.interruptSolve()


def _direct(watched: _Watched) -> Any:
    """Return Pyomo's interface, which builds a model that is watched and begins with a complete start."""
    from pyomo.contrib.solver.solvers.scip.scip_direct import ScipDirect
    from pyomo.core.expr import value

    class Direct(ScipDirect):
        """Pyomo's own start leaves the continuous variables out, and its solve cannot be stopped."""

        def _create_solver_model(self, model: pyo.ConcreteModel, config: object) -> tuple[Any, Any, bool]:
            """Build the model, hand over the start, and let it be watched."""
            scip, loader, has_objective = super()._create_solver_model(model, config)
            if watched.has_start:
                start = scip.createSol()
                for variable, column in self._pyomo_var_to_solver_var_map.items():
                    start[column] = variable.value
                start[self._obj_var] = value(self._objective.expr)
                scip.addSol(start)
            watched.watch(scip)
            return watched, loader, has_objective

    return Direct()


def _answer(results: Results) -> BackEndAnswer:
    """Load the solution, if there is one, and map every status."""
    from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

    has_solution = results.solution_status in (SolutionStatus.feasible, SolutionStatus.optimal)
    if has_solution:
        results.solution_loader.load_vars()
    infeasible = (  # every variable is bounded, so "infeasible or unbounded" is infeasible
        TerminationCondition.provenInfeasible,
        TerminationCondition.infeasibleOrUnbounded,
    )
    finished = (TerminationCondition.convergenceCriteriaSatisfied, *infeasible)
    condition, bound = results.termination_condition, results.objective_bound
    termination = Termination.FAILED  # out of memory, unbounded: nothing to build on
    if condition in finished:
        termination = Termination.FINISHED
    elif condition is TerminationCondition.maxTimeLimit:
        termination = Termination.TIME_LIMIT
    elif condition is TerminationCondition.interrupted:
        termination = Termination.INTERRUPTED
    return BackEndAnswer(
        has_solution=has_solution,
        dual_bound=bound if bound is not None and math.isfinite(bound) else None,
        is_infeasible=condition in infeasible and not has_solution,
        termination=termination,
        seconds=results.timing_info.scip_time,
        failure=f"SCIP: expected a proof or a limit, got the status {condition.name}."
        if termination is Termination.FAILED
        else None,
    )


def nip(
    instance: DagInstance, objective: Objective, run: ExactRun, *, form: Literal["order", "product"] = "order"
) -> Outcome:
    """Solve the nonlinear integer program with SCIP as it stands, and let CP-SAT confirm a claimed optimum.

    Parameters
    ----------
    form
        Non-overlap by "order" binaries, or by a "product" of two differences and no further variables.

    Returns
    -------
    Outcome
        Best schedule and bound; without any search where the model would be too large.

    Raises
    ------
    ContradictionError
        If CP-SAT finds a schedule below what SCIP proves, or SCIP finds none where one is verified.
    ValueError
        If PySCIPOpt (extra ``scip``) is not installed, or there is no such form.
    """
    from formulations.dag.milp.nip import Nip

    return run_pyomo(partial(Nip, form=form), instance, objective, run, Scip())


def nip_linearised(instance: DagInstance, objective: Objective, run: ExactRun, *, worker: bool = False) -> Outcome:
    """Solve the order form of the nonlinear integer program, exactly linearised, with HiGHS.

    As `milp_disjunctive`, but there is no search where the model would be too large.
    """
    from formulations.dag.milp.linearised_nip import LinearisedNip

    return run_milp(LinearisedNip, instance, objective, run, worker=worker)
