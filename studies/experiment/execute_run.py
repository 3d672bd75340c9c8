"""One run, as a worker process makes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heuristics.callback import Callback
from instances.jobs.jobs_instance import JobsInstance
from solvers.contradiction import ContradictionError
from solvers.jobs.lower_bound_jobs import lower_bound_jobs
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN
from solvers.solve import solve
from solvers.status import Termination
from studies.experiment.checked_method import method_of
from studies.experiment.network_sha256 import network_sha256
from studies.experiment.run_answer import RunAnswer
from studies.experiment.stored_schedule import schedule_text
from studies.experiment.study_plan import KINDS_WITHOUT_BUDGET
from studies.experiment.study_problem import DAG, JOBS
from studies.online.solve_with_figures import solve_with_figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heuristics.progress import Progress
    from instances.dag_instance import DagInstance
    from solvers.bound import Bound
    from solvers.bound_table import BoundTable
    from solvers.jobs.jobs_result import JobsResult
    from solvers.result import Result
    from studies.experiment.budget import Budget

ERROR_LENGTH = 1000
"""Letters that are kept of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """What a worker is asked to do.

    Parameters
    ----------
    instance_path, sha256
        File of the instance, and its content hash.
    kind, method, parameters, objective, budget, seed, threads
        As in `PlannedRun`.
    bound
        Best proven bound of the instance so far, against which the schedule is held; None where there is none.
    weights_sha256
        Content hash that the weights of the method must have, None where it has none.
    """

    instance_path: str
    sha256: str
    kind: str
    method: str
    parameters: Mapping[str, Any]
    objective: str
    budget: Budget
    seed: int
    threads: int
    bound: Bound | None = None
    weights_sha256: str | None = None


def execute_run(order: RunOrder, instance: DagInstance | JobsInstance) -> RunAnswer:
    """Make a run; whatever goes wrong becomes an answer with an error."""
    try:
        return _bounded(order, instance) if order.kind == "bound" else _solved(order, instance)
    except ContradictionError as error:
        return RunAnswer(error=_message(error), is_contradiction=True)
    except (Exception, SystemExit) as error:
        return RunAnswer(error=_message(error))


class _Last(Callback):
    """Remembers the state at the end."""

    def __init__(self) -> None:
        self.evaluations = 0

    def on_end(self, progress: Progress) -> None:
        """Remember."""
        self.evaluations = progress.evaluations


def _bounded(order: RunOrder, instance: DagInstance | JobsInstance) -> RunAnswer:
    """Compute a lower bound."""
    names = None if order.method == "default" else [order.method]
    table: BoundTable
    if isinstance(instance, JobsInstance):
        table = lower_bound_jobs(instance, objective=order.objective, methods=names)
    else:
        table = lower_bound(instance, objective=order.objective, methods=names)
    best = table.best
    return RunAnswer(
        bound=None if best is None else best.value,
        bound_method=None if best is None else best.method,
        bound_proof=None if best is None else best.proof,
        termination=str(Termination.FINISHED),
        seconds=sum(bound.seconds for bound in table),
    )


def _solved(order: RunOrder, instance: DagInstance | JobsInstance) -> RunAnswer:
    """Call a method through the front door."""
    _check_weights(order)
    last = _Last()
    takes_run = order.kind in KINDS_WITH_RUN
    is_one_schedule = order.kind in KINDS_WITHOUT_BUDGET
    # A search needs no bound to run; an exact method that was given none computes those that it begins with.
    bounds: Sequence[Bound] | None = [] if order.bound is None else [order.bound]
    if takes_run and order.bound is None:
        bounds = None
    parameters: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in order.parameters.items()
    }
    options: dict[str, Any] = {
        "objective": order.objective,
        "time_limit": order.budget.seconds if takes_run else None,
        "threads": order.threads if takes_run else None,
        "seed": order.seed,
        "callback": last,
        "bounds": bounds,
    }
    result: Result | JobsResult
    more: Mapping[str, float] = {}
    if isinstance(instance, JobsInstance):
        result, more = solve_with_figures(instance, method_of(order.method, JOBS), parameters=parameters, **options)
    else:
        stop = order.budget.stop() if order.kind == "search" else None
        result = solve(instance, method_of(order.method, DAG), stop=stop, **options, **parameters)
    if result.termination is Termination.INTERRUPTED:
        return RunAnswer(is_interrupted=True)
    proved = order.kind == "exact" and result.bound is not None
    return RunAnswer(
        objective=result.objective,
        bound=result.lower_bound if proved else None,
        bound_method=result.bound.method if proved and result.bound is not None else None,
        bound_proof=result.bound.proof if proved and result.bound is not None else None,
        is_infeasible=getattr(result, "is_infeasible", False),
        termination=str(result.termination),
        seconds=result.runtime_seconds,
        evaluations=1 if is_one_schedule else None if takes_run else last.evaluations,
        trace=_trace(result, is_one_schedule),
        schedule=schedule_text(result.schedule),
        figures=_figures(result, more),
    )


def _check_weights(order: RunOrder) -> None:
    """Refuse weights that were changed since the plan was made: the run would be stored under the hash of others."""
    if order.weights_sha256 is None:
        return
    found = network_sha256(order.method, order.parameters)
    if found != order.weights_sha256:
        expected = f"expected the planned content {order.weights_sha256[:16]}..."
        raise ValueError(f"parameters.weights: {expected}, got {found[:16]}...")


def _trace(result: Result | JobsResult, is_one_schedule: bool) -> str:
    """Return the trace as JSON."""
    points = [
        [
            round(point.seconds, 6),
            1 if is_one_schedule else point.evaluations,
            point.objective,
            point.lower_bound,
        ]
        for point in result.trace
    ]
    return json.dumps(points, separators=(",", ":"))


def _figures(result: Result | JobsResult, more: Mapping[str, float]) -> str | None:
    """Return JCT and other figures of a schedule of jobs, and what more is known of its run, as JSON."""
    if not isinstance(result.instance, JobsInstance) or result.statistics is None:
        return None
    return json.dumps(result.statistics.to_dict() | dict(more), separators=(",", ":"))


def _message(error: BaseException) -> str:
    """Return kind and text of an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:ERROR_LENGTH]
