"""One run, as a worker process makes it, and everything a method compiles or loads before the clock runs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heuristics.dag.arrays import dag_arrays
from heuristics.jobs.placements.arrays import jobs_arrays
from heuristics.search.progress import Callback
from instances.dag.instance import DagInstance
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.instance import JobsInstance
from instances.jobs.json import jobs_instance_document, jobs_instance_from_json
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN
from solvers.problem import problem_of
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Termination
from solvers.solve import solve
from studies.experiment.checked_method import AGENTS, method_of, network_sha256
from studies.experiment.plan import KINDS_WITHOUT_BUDGET
from studies.experiment.run_answer import RunAnswer
from studies.experiment.run_measures import solve_with_figures
from studies.experiment.specification import SearchBudget
from studies.experiment.stored_documents import stored_schedule_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heuristics.search.progress import Progress
    from instances.readers.optgap_json import Instance
    from solvers.result import Result
    from solvers.run.bound import Bound


ERROR_LENGTH = 1000
"""Letters that are kept of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """What a worker is asked to do.

    Parameters
    ----------
    instance_path, sha256
        File of the instance, and its content hash.
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
    budget: SearchBudget
    seed: int
    threads: int
    bound: Bound | None = None
    weights_sha256: str | None = None


def execute_run(order: RunOrder, instance: Instance) -> RunAnswer:
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


def _bounded(order: RunOrder, instance: Instance) -> RunAnswer:
    """Compute a lower bound."""
    names = None if order.method == "default" else [order.method]
    table = lower_bound(instance, objective=order.objective, methods=names).unless_interrupted()
    best = table.best
    return RunAnswer(
        bound=None if best is None else best.value,
        bound_method=None if best is None else best.method,
        bound_proof=None if best is None else best.proof,
        termination=str(Termination.FINISHED),
        seconds=sum(bound.seconds for bound in table),
    )


def _solved(order: RunOrder, instance: Instance) -> RunAnswer:
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
    method = method_of(order.method, problem_of(instance).name)
    more: Mapping[str, float] = {}
    if isinstance(instance, JobsInstance):
        result, more = solve_with_figures(instance, method, parameters=parameters, **options)
    else:
        stop = order.budget.stop() if order.kind == "search" else None
        result = solve(instance, method, stop=stop, **options, **parameters)
    if result.termination is Termination.INTERRUPTED:
        return RunAnswer(is_interrupted=True)
    proved = order.kind == "exact" and result.bound is not None
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
        schedule=stored_schedule_text(result.schedule),
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


def _trace(result: Result[Any, Any], is_one_schedule: bool) -> str:
    """Return the trace as JSON."""
    points = [
        [round(point.seconds, 6), 1 if is_one_schedule else point.evaluations, point.objective, point.lower_bound]
        for point in result.trace
    ]
    return json.dumps(points, separators=(",", ":"))


def _figures(result: Result[Any, Any], more: Mapping[str, float]) -> str | None:
    """Return JCT and other figures of a schedule of jobs, and what more is known of its run, as JSON."""
    if result.statistics is None:
        return None
    return json.dumps(result.statistics.to_dict() | dict(more), separators=(",", ":"))


def _message(error: BaseException) -> str:
    """Return kind and text of an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:ERROR_LENGTH]


EVALUATIONS, SECONDS = 300, 2.0
"""Budget of a warm-up: several rounds of any population that is usual, on an instance that takes microseconds."""

TRAINING_JOBS, OWN_JOBS, EXACT_JOBS = 160, 40, 2
"""Jobs of a warm-up. For policies: enough that forests are trained (after 50 completions) and asked, and the first jobs
of the instance itself, half of them at most, for kernels that only its features need."""


class WarmUp:
    """Remembers what was warmed up in this process."""

    def __init__(self) -> None:
        self._done: set[tuple[object, ...]] = set()

    def __call__(self, order: RunOrder, instance: Instance) -> None:
        """Run the method of an order once on a tiny instance, unless that was done; failures show in the run itself."""
        # Kept per instance: the first method on it shall not pay for the others.
        jobs_arrays(instance) if isinstance(instance, JobsInstance) else dag_arrays(instance)
        key = (order.kind, order.method, repr(sorted(order.parameters.items())), order.objective, _features(instance))
        if key in self._done:
            return
        self._done.add(key)
        budget = SearchBudget(evaluations=EVALUATIONS) if order.kind == "search" else SearchBudget(seconds=SECONDS)
        tiny = dataclasses.replace(order, budget=budget, bound=None, seed=0, threads=1)
        with contextlib.suppress(Exception):
            for small in _tiny_jobs(order, instance) if isinstance(instance, JobsInstance) else [_tiny_instance()]:
                execute_run(tiny, small)


def _tiny_instance() -> DagInstance:
    """Return three tasks on two GPUs with memory limits, a pair that is not allowed, and transfers."""
    return DagInstance.from_lists(
        [[2, 3], [3, 2], [2, None]], [(0, 1, 1), (0, 2, 1)], task_memory=[1, 1, 1], gpu_memory=[3, 3], name="warm-up"
    )


def _tiny_jobs(order: RunOrder, instance: JobsInstance) -> list[JobsInstance]:
    """Return jobs of real networks and the first ones of the instance for a policy, few for anything else.

    Agents with networks get the second ones only unless they ask forests: so many jobs are seconds of decisions, and
    there is nothing to compile for.
    """
    if order.kind != "policy":
        return [generate_jobs("jobs-small", jobs=EXACT_JOBS, seed=0, load=1.0, name="warm-up")]
    document = jobs_instance_document(instance)
    document["jobs"] = document["jobs"][: min(OWN_JOBS, instance.num_jobs // 2)]
    own = jobs_instance_from_json(json.dumps(document))
    if order.method == AGENTS and "forest" not in str(order.parameters.get("predictor")):
        return [own]
    return [generate_jobs("jobs-recurrent", jobs=TRAINING_JOBS, seed=0, load=0.9, name="warm-up"), own]


def _features(instance: Instance) -> tuple[bool, ...]:
    """Return what decides beside the method which kernels run."""
    if not isinstance(instance, JobsInstance):
        return ()
    return (instance.interference is not None, instance.racks is not None, instance.share > 1)
