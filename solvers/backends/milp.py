"""The exact methods that are a MILP in HiGHS, confirmed by CP-SAT."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from solvers.backends.run_pyomo import run_milp

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from solvers.run.exact_run import ExactRun
    from solvers.run.outcome import Outcome


def milp_disjunctive(instance: DagInstance, objective: Objective, run: ExactRun, *, worker: bool = False) -> Outcome:
    """Solve the pairwise disjunctive MILP with HiGHS, and let CP-SAT confirm a claimed optimum.

    Parameters
    ----------
    worker
        Whether HiGHS runs in a process of its own, which is killed if it overruns the time limit.

    Returns
    -------
    Outcome
        Best schedule and bound; without any search where the horizon is beyond what HiGHS's tolerances allow, or there
        are too many pairs of tasks.

    Raises
    ------
    ContradictionError
        If CP-SAT finds a schedule below what HiGHS proves, or HiGHS finds none where one is verified.
    """
    from formulations.dag.milp.disjunctive import DisjunctiveModel

    return run_milp(DisjunctiveModel, instance, objective, run, worker=worker)


def milp_gdp(
    instance: DagInstance,
    objective: Objective,
    run: ExactRun,
    *,
    transformation: Literal["bigm", "mbigm", "hull"] = "bigm",
    worker: bool = False,
) -> Outcome:
    """Solve what Pyomo.GDP makes of the generalised disjunctive program with HiGHS; CP-SAT confirms an optimum.

    Parameters
    ----------
    transformation
        "bigm", "mbigm" or "hull"; others raise a `ValueError`. All else is as in `milp_disjunctive`.
    """
    from formulations.dag.milp.generalised_disjunctive import GeneralisedDisjunctiveModel

    build = partial(GeneralisedDisjunctiveModel, transformation=transformation)
    return run_milp(build, instance, objective, run, worker=worker)


def milp_time_indexed(instance: DagInstance, objective: Objective, run: ExactRun, *, worker: bool = False) -> Outcome:
    """Solve the time-indexed MILP with HiGHS, and let CP-SAT confirm a claimed optimum.

    As `milp_disjunctive`, but there is no search where there are too many triples of task, GPU and tick.
    """
    from formulations.dag.milp.time_indexed import TimeIndexedModel

    return run_milp(TimeIndexedModel, instance, objective, run, worker=worker)
