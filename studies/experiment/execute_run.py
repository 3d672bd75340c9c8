"""One run, as a worker process makes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heuristics.callback import Callback
from solvers.contradiction import ContradictionError
from solvers.lower_bound import lower_bound
from solvers.solve import solve
from solvers.status import Termination
from studies.experiment.run_answer import RunAnswer
from studies.experiment.study_plan import method_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heuristics.progress import Progress
    from instances.dag_instance import DagInstance
    from solvers.bound import Bound
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


def execute_run(order: RunOrder, instance: DagInstance) -> RunAnswer:
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


def _bounded(order: RunOrder, instance: DagInstance) -> RunAnswer:
    """Compute a lower bound."""
    names = None if order.method == "default" else [order.method]
    table = lower_bound(instance, objective=order.objective, methods=names)
    best = table.best
    return RunAnswer(
        bound=None if best is None else best.value,
        bound_method=None if best is None else best.method,
        bound_proof=None if best is None else best.proof,
        termination=str(Termination.FINISHED),
        seconds=sum(bound.seconds for bound in table),
    )


def _solved(order: RunOrder, instance: DagInstance) -> RunAnswer:
    """Call a method through the front door."""
    last = _Last()
    takes_run = order.kind in ("exact", "improvement")
    # A search needs no bound to run; an exact method that was given none computes those that it begins with.
    bounds: Sequence[Bound] | None = [] if order.bound is None else [order.bound]
    if takes_run and order.bound is None:
        bounds = None
    parameters: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in order.parameters.items()
    }
    result = solve(
        instance,
        method_of(order.method),
        objective=order.objective,
        time_limit=order.budget.seconds if takes_run else None,
        stop=order.budget.stop() if order.kind == "search" else None,
        threads=order.threads if takes_run else None,
        seed=order.seed,
        callback=last,
        bounds=bounds,
        **parameters,
    )
    if result.termination is Termination.INTERRUPTED:
        return RunAnswer(is_interrupted=True)
    proved = order.kind == "exact" and result.bound is not None
    is_one_schedule = order.kind == "construction"
    return RunAnswer(
        objective=result.objective,
        bound=result.lower_bound if proved else None,
        bound_method=result.bound.method if proved and result.bound is not None else None,
        bound_proof=result.bound.proof if proved and result.bound is not None else None,
        is_infeasible=result.is_infeasible,
        termination=str(result.termination),
        seconds=result.runtime_seconds,
        evaluations=1 if is_one_schedule else None if takes_run else last.evaluations,
        trace=_trace(result, is_one_schedule),
        schedule=_schedule(result),
    )


def _trace(result: Result, is_one_schedule: bool) -> str:
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


def _schedule(result: Result) -> str | None:
    """Return the schedule as JSON, None without one."""
    if result.schedule is None:
        return None
    content = {"gpu": result.schedule.gpu.tolist(), "start": result.schedule.start.tolist()}
    return json.dumps(content, separators=(",", ":"))


def _message(error: BaseException) -> str:
    """Return kind and text of an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:ERROR_LENGTH]
