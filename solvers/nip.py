"""The exact methods that are the nonlinear integer program: as it stands in SCIP, exactly linearised in HiGHS."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from solvers.run_milp import run_milp
from solvers.run_pyomo import run_pyomo

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective
    from solvers.exact_run import ExactRun
    from solvers.outcome import Outcome


def nip(
    instance: DagInstance, objective: Objective, run: ExactRun, *, form: Literal["order", "product"] = "order"
) -> Outcome:
    """Solve the nonlinear integer program with SCIP as it stands, and let CP-SAT confirm a claimed optimum.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    run
        Limits and start.
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
    from formulations.dag.nip import Nip
    from solvers.scip import Scip

    return run_pyomo(partial(Nip, form=form), instance, objective, run, Scip())


def nip_linearised(instance: DagInstance, objective: Objective, run: ExactRun, *, worker: bool = False) -> Outcome:
    """Solve the order form of the nonlinear integer program, exactly linearised, with HiGHS.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    run
        Limits and start.
    worker
        Whether HiGHS runs in a process of its own, which is killed if it overruns the time limit.

    Returns
    -------
    Outcome
        Best schedule and bound, confirmed by CP-SAT; without any search where the model would be too large.

    Raises
    ------
    ContradictionError
        If CP-SAT finds a schedule below what HiGHS proves, or HiGHS finds none where one is verified.
    """
    from formulations.dag.milp.linearised_nip import LinearisedNip

    return run_milp(LinearisedNip, instance, objective, run, worker=worker)
