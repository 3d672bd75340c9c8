"""Objectives of DAG schedules, recomputed from the schedule alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


class Objective(StrEnum):
    """What is minimised."""

    MAKESPAN = "makespan"
    """Largest finish of any task, in ticks; 0 without tasks."""
    WEIGHTED_COMPLETION = "weighted_completion"
    """Sum over jobs of weight times completion time, in ticks; a job without tasks completes at its release."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Name the choices."""
        raise ValueError(f"objective: expected one of {', '.join(cls)}, got {value!r}{did_you_mean(value, cls)}.")


def finish_times(instance: DagInstance, schedule: DagSchedule) -> NDArray[np.int64]:
    """Return the finish of every task in ticks, shape (n,)."""
    tasks = np.arange(instance.num_tasks)
    return schedule.start + instance.durations[tasks, schedule.gpu]


def completion_times(instance: DagInstance, schedule: DagSchedule) -> NDArray[np.int64]:
    """Return the completion time of every job in ticks, shape (jobs,): its last finish, its release without tasks."""
    completion = np.array(instance.release)
    np.maximum.at(completion, instance.job_of_task, finish_times(instance, schedule))
    return completion


def objective_value(instance: DagInstance, schedule: DagSchedule, objective: Objective | str) -> int:
    """Recompute an objective from the schedule alone.

    Parameters
    ----------
    schedule
        A schedule of it that verifies; the value of another one means nothing.
    objective
        A member of `Objective` or its name.

    Returns
    -------
    int
        Ticks (makespan) or weighted ticks (weighted completion).

    Raises
    ------
    ValueError
        If there is no such objective.
    """
    if Objective(objective) is Objective.MAKESPAN:
        return int(finish_times(instance, schedule).max(initial=0))
    return int(instance.weight @ completion_times(instance, schedule))
