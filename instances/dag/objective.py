"""Objectives of DAG schedules, recomputed from the schedule alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


class Objective(StrEnum):
    """What is minimised."""

    MAKESPAN = "makespan"
    """Largest finish of any task, in ticks; 0 without tasks."""
    WEIGHTED_COMPLETION = "weighted_completion"
    """Sum over jobs of weight times completion time, in ticks; a job without tasks completes at its release."""

    STAGE_SPAN = "stage_span"
    """Largest time, over GPUs, from the first start to the last finish on the GPU, in ticks; 0 without tasks.

    It is the time of one iteration of pipeline training where the next one may begin on a GPU that has ended early.
    """

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Name the choices."""
        raise ValueError(f"objective: expected one of {', '.join(cls)}, got {value!r}{did_you_mean(value, cls)}.")


FINISH_OBJECTIVES = (Objective.MAKESPAN, Objective.WEIGHTED_COMPLETION)
"""Objectives that follow from when tasks finish; every method and every bound knows these."""


def finish_objective(objective: Objective | str) -> Objective:
    """Return a member of `FINISH_OBJECTIVES`; raises a `ValueError` for any other objective."""
    found = Objective(objective)
    if found not in FINISH_OBJECTIVES:
        raise ValueError(f"objective: expected one of {', '.join(FINISH_OBJECTIVES)} here, got {found}.")
    return found


def needs_buffers(instance: object, objective: object) -> bool:
    """Say whether a run needs what knows buffers, groups and the stage span; jobs instances have none of these."""
    return getattr(instance, "has_buffers", False) or objective == Objective.STAGE_SPAN


def finish_times(instance: DagInstance, schedule: DagSchedule) -> NDArray[np.int64]:
    """Return the finish of every task in ticks, shape (n,)."""
    tasks = np.arange(instance.num_tasks)
    return schedule.start + instance.durations[tasks, schedule.gpu]


def completion_times(instance: DagInstance, schedule: DagSchedule) -> NDArray[np.int64]:
    """Return the completion time of every job in ticks, shape (jobs,): its last finish, its release without tasks."""
    completion = np.array(instance.release)
    np.maximum.at(completion, instance.job_of_task, finish_times(instance, schedule))
    return completion


def stage_spans(instance: DagInstance, schedule: DagSchedule) -> NDArray[np.int64]:
    """Return ticks from the first start to the last finish on every GPU, shape (m,); 0 without tasks."""
    first = np.full(instance.num_gpus, np.iinfo(np.int64).max)
    last = np.full(instance.num_gpus, np.iinfo(np.int64).min)
    np.minimum.at(first, schedule.gpu, schedule.start)
    np.maximum.at(last, schedule.gpu, finish_times(instance, schedule))
    spans: NDArray[np.int64] = np.where(first <= last, last, 0) - np.where(first <= last, first, 0)
    return spans


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
        Ticks (makespan and stage span) or weighted ticks (weighted completion).

    Raises
    ------
    ValueError
        If there is no such objective.
    """
    if Objective(objective) is Objective.MAKESPAN:
        return int(finish_times(instance, schedule).max(initial=0))
    if Objective(objective) is Objective.STAGE_SPAN:
        return int(stage_spans(instance, schedule).max(initial=0))
    return int(instance.weight @ completion_times(instance, schedule))


def best_schedule(
    instance: DagInstance, objective: Objective | str, schedules: Iterable[DagSchedule | None]
) -> DagSchedule | None:
    """Return the first schedule with the least objective among those that are not None; None where there is none."""
    made = (schedule for schedule in schedules if schedule is not None)
    return min(made, key=lambda schedule: objective_value(instance, schedule, objective), default=None)


def is_for_smiths_rule(instance: DagInstance, objective: Objective) -> bool:
    """Say whether the weighted completion of single independent tasks that are released together is minimised."""
    is_single = instance.num_edges == 0 and np.bincount(instance.job_of_task, minlength=1).max() <= 1
    released = instance.release[instance.job_of_task]
    is_weighted = Objective(objective) is Objective.WEIGHTED_COMPLETION
    return bool(is_weighted and instance.num_tasks > 0 and is_single and (released == released[0]).all())
