"""Running a MILP: HiGHS searches, CP-SAT confirms what it claims."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from solvers.compiled_milp import compile_milp
from solvers.highs import run_highs
from solvers.highs_worker import run_highs_in_worker
from solvers.run_pyomo import BackEndAnswer, run_pyomo
from solvers.status import Termination
from solvers.versions import version_of

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from formulations.dag.milp.pyomo_dag_model import PyomoDagModelFactory
    from instances.dag_instance import DagInstance
    from instances.objective import Objective
    from solvers.exact_run import ExactRun
    from solvers.highs import HighsAnswer
    from solvers.outcome import Outcome


def run_milp(
    build: PyomoDagModelFactory, instance: DagInstance, objective: Objective, run: ExactRun, *, worker: bool = False
) -> Outcome:
    """Solve a linear Pyomo model with HiGHS, and let CP-SAT confirm what it claims, as `run_pyomo` says.

    Parameters
    ----------
    build
        Makes the model: a class, or a `functools.partial` of one.
    instance, objective, run
        As in `run_pyomo`.
    worker
        Whether HiGHS runs in a process of its own, which is killed if it overruns the time limit.

    Returns
    -------
    Outcome
        Best schedule and bound.

    Raises
    ------
    ContradictionError
        If CP-SAT finds a schedule below what HiGHS proves, or HiGHS finds none where one is verified.
    """
    return run_pyomo(build, instance, objective, run, _Highs(worker=worker))


class _Highs:
    """HiGHS on the compiled model, in this process or in another one."""

    name = "HiGHS"

    def __init__(self, *, worker: bool) -> None:
        self.solver = f"highspy {version_of('highspy')}"
        self._run = run_highs_in_worker if worker else run_highs

    def solve(
        self, model: pyo.ConcreteModel, *, has_start: bool, time_limit: float, seed: int, **options: Any
    ) -> BackEndAnswer:
        """Compile, solve, and load the solution; where HiGHS ends with an error, once more without presolve."""
        milp, columns = compile_milp(model, has_start=has_start)
        answer = self._run(milp, time_limit=time_limit, seed=seed, **options)
        seconds = answer.seconds
        if answer.is_failed and seconds < time_limit:
            start = milp.start if answer.solution is None else answer.solution
            again = self._run(
                replace(milp, start=start), time_limit=time_limit - seconds, seed=seed + 1, presolve=False, **options
            )
            seconds += again.seconds
            answer = again if again.is_finished else _joined(answer, again)
        if answer.solution is not None:
            for column, value in zip(columns, answer.solution, strict=True):
                column.set_value(value, skip_validation=True)
        termination = Termination.FINISHED if answer.is_finished else Termination.TIME_LIMIT
        return BackEndAnswer(
            has_solution=answer.solution is not None,
            dual_bound=answer.dual_bound,
            is_infeasible=answer.is_infeasible,
            termination=Termination.FAILED if answer.is_failed else termination,
            seconds=seconds,
        )


def _joined(first: HighsAnswer, second: HighsAnswer) -> HighsAnswer:
    """Return a second answer that is none either, with the better bound, and the solution that it began with."""
    bounds = [bound for bound in (first.dual_bound, second.dual_bound) if bound is not None]
    solution = first.solution if second.solution is None else second.solution
    return replace(second, solution=solution, dual_bound=max(bounds, default=None))
