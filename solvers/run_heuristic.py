"""Running a heuristic: whatever its signature names, within its budget."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.stop.any_of import AnyOf
from heuristics.stop.max_evaluations import MaxEvaluations
from heuristics.stop.max_seconds import MaxSeconds
from instances.dag_schedule import DagSchedule
from solvers.outcome import Outcome
from solvers.status import Termination

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heuristics.progress import Progress
    from heuristics.stop.stop_criterion import StopCriterion
    from heuristics.stopwatch import Stopwatch
    from instances.contention import Contention
    from instances.dag_instance import DagInstance
    from instances.objective import Objective
    from solvers.interrupt import Interrupt
    from solvers.methods import Kind
    from solvers.recorder import Recorder

DEFAULT_EVALUATIONS = 2000
"""Budget of a search that was given neither a stop criterion nor a time limit."""


def run_heuristic(
    instance: DagInstance,
    objective: Objective,
    contention: Contention,
    function: Callable[..., Any],
    kind: Kind,
    time_limit: float | None,
    stop: StopCriterion | None,
    seed: int,
    watch: Stopwatch,
    recorder: Recorder,
    interrupt: Interrupt,
    parameters: dict[str, Any],
) -> Outcome:
    """Call a heuristic with whatever its signature names."""
    budgets: list[StopCriterion] = [] if stop is None else [stop]
    if time_limit is not None:
        budgets.append(MaxSeconds(time_limit))
    if not budgets:
        budgets.append(MaxEvaluations(DEFAULT_EVALUATIONS))
    offered = {
        "objective": objective,
        "rng": np.random.default_rng(seed),
        "stop": AnyOf([interrupt, *budgets]),
        "callback": recorder,
        "contention": contention,
    }
    wanted = inspect.signature(function).parameters
    schedule = function(instance, **{key: value for key, value in offered.items() if key in wanted}, **parameters)
    if schedule is not None and not isinstance(schedule, DagSchedule):
        raise TypeError(f"method: expected a DagSchedule or None from the function, got {type(schedule).__name__}.")
    termination = Termination.FINISHED
    if interrupt.heard or recorder.wants_stop:
        termination = Termination.INTERRUPTED
    elif kind == "search":
        termination = _why(budgets, replace(recorder.progress, seconds=watch.seconds))
    return Outcome(schedule=schedule, lower_bound=None, termination=termination)


def _why(budgets: Sequence[StopCriterion], progress: Progress) -> Termination:
    """Say which budget ended a search."""
    for budget in budgets:
        if isinstance(budget, AnyOf):
            found = _why(budget.criteria, progress)
            if found is not Termination.FINISHED:
                return found
        elif isinstance(budget, MaxEvaluations) and budget(progress):
            return Termination.EVALUATIONS
        elif isinstance(budget, MaxSeconds) and budget(progress):
            return Termination.TIME_LIMIT
    return Termination.FINISHED
