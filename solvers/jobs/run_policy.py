"""Running a policy: whatever its signature names, until it is done or told to stop."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.callback import Callback
from instances.jobs.jobs_schedule import JobsSchedule
from solvers.outcome import Outcome
from solvers.status import Termination

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heuristics.progress import Progress
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from solvers.exact_run import ExactRun
    from solvers.recorder import Recorder


def run_policy(
    instance: JobsInstance,
    objective: JobsObjective,
    function: Callable[..., Any],
    run: ExactRun[JobsSchedule],
    recorder: Recorder,
    parameters: Mapping[str, Any],
) -> Outcome[JobsSchedule]:
    """Call a policy with whatever its signature names.

    A replay that was told to stop has placed some jobs only: it has no schedule.

    Raises
    ------
    TypeError
        If it returned something else than a schedule or None.
    """
    offered = {
        "objective": objective,
        "rng": np.random.default_rng(run.seed),
        "callback": PolicyCallback(recorder, run),
    }
    wanted = inspect.signature(function).parameters
    schedule = function(instance, **{key: value for key, value in offered.items() if key in wanted}, **parameters)
    if schedule is not None and not isinstance(schedule, JobsSchedule):
        raise TypeError(f"method: expected a JobsSchedule or None from the function, got {type(schedule).__name__}.")
    termination = Termination.FINISHED
    if schedule is None:
        is_out_of_time = run.seconds_left() == 0.0 and not run.should_stop()
        termination = Termination.TIME_LIMIT if is_out_of_time else Termination.INTERRUPTED
    return Outcome(schedule=schedule, lower_bound=None, termination=termination)


class PolicyCallback(Callback):
    """What a policy reports to, and what tells it to stop: the user's callback, Ctrl-C, or the time limit."""

    def __init__(self, recorder: Recorder, run: ExactRun[JobsSchedule]) -> None:
        self._recorder = recorder
        self._run = run

    @property
    def wants_stop(self) -> bool:  # type: ignore[override]  # a view of what may stop a run
        """Whether the replay should end now."""
        return self._run.should_stop() or self._run.seconds_left() == 0.0

    def on_evaluation(self, progress: Progress) -> None:
        """Pass on."""
        self._recorder.on_evaluation(progress)

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Pass on."""
        self._recorder.on_round(row)
