"""Windows that follow from releases and durations alone: what a second opinion may know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.heads_and_tails import INFINITE, HeadsAndTails
from formulations.dag.windows import Windows, horizon
from instances.objective import Objective

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


def plain_windows(instance: DagInstance, objective: Objective, *, objective_at_most: int | None) -> Windows:
    """Return windows that use no path, no join and no bound, so that no error in one of these can be in them.

    A task starts after its release; it finishes by the limit U on the makespan, and by the horizon. For weighted
    completion, job j of weight w[j] > 0 completes by floor((U - sum over other jobs q of w[q] r[q]) / w[j]). Pairs
    without room for the duration are removed. Far wider than `windows`, hence slower to search (ours: derived).

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    objective_at_most
        U; None for all schedules, of which some optimal one ends by the horizon.
    """
    latest, weight = horizon(instance), instance.weight
    completion_at_least = np.array(instance.release)
    completion_at_most = np.full(instance.num_jobs, latest)
    if objective is Objective.MAKESPAN:
        at_most = latest if objective_at_most is None else min(latest, objective_at_most)
        due = np.full(instance.num_tasks, at_most)
        completion_at_least = np.zeros(instance.num_jobs, dtype=np.int64)
        completion_at_most = np.full(instance.num_jobs, np.iinfo(np.int64).max)
    else:
        at_most = int(weight.sum()) * latest
        if objective_at_most is not None:
            at_most = min(at_most, objective_at_most)
            everything = int(weight @ instance.release)
            for job in np.flatnonzero(weight > 0).tolist():
                others = everything - int(weight[job] * instance.release[job])
                completion_at_most[job] = min(latest, (at_most - others) // int(weight[job]))
        due = completion_at_most[instance.job_of_task]
    release = instance.release[instance.job_of_task]
    fits = instance.allowed & (release[:, None] + instance.durations <= due[:, None])
    nothing = np.where(fits, 0, INFINITE)
    around = HeadsAndTails(
        heads=np.where(fits, release[:, None], INFINITE), tails=nothing, job_tails=nothing, allowed=fits
    )
    return Windows(
        around=around,
        latest_finish=np.repeat(due[:, None], instance.num_gpus, axis=1),
        completion_at_least=completion_at_least,
        completion_at_most=completion_at_most,
        at_least=0 if objective is Objective.MAKESPAN else int(weight @ instance.release),
        at_most=at_most,
    )
