"""The windows in which every task can run on every GPU, the horizon, and windows that use nothing but releases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.heads_and_tails import HeadsAndTails
from formulations.dag.join import INFINITE
from instances.dag.buffers import place_of_task
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Windows:
    """Earliest starts, latest finishes and completion times in ticks, for schedules of objective up to `at_most`.

    Parameters
    ----------
    around
        Heads, tails and the pairs that are left.
    latest_finish
        Latest finish of task i on GPU k, shape (n, m).
    completion_at_least, completion_at_most
        Completion time of every job, shape (jobs,); 0 and the largest integer for the makespan, where they do not
        matter.
    at_least, at_most
        Objective: a proven lower bound, and the objective of a verified schedule or that of the horizon.
    """

    around: HeadsAndTails
    latest_finish: NDArray[np.int64]
    completion_at_least: NDArray[np.int64]
    completion_at_most: NDArray[np.int64]
    at_least: int
    at_most: int

    @property
    def is_empty(self) -> bool:
        """Whether no schedule within `at_most` exists: a task has no GPU, or a lower bound is above an upper one."""
        late = bool((self.completion_at_least > self.completion_at_most).any())
        return late or self.at_least > self.at_most or not bool(self.around.allowed.any(axis=1).all())


def horizon(instance: DagInstance) -> int:
    """Return a time by which some optimal schedule ends: last release plus longest durations plus longest transfers.

    In some optimal schedule, at every tick before its end a task runs, data is transferred, or a task waits for a
    release, and a chain of these back from the last finish visits each task and each edge at most once. That holds with
    and without contention (docs/bounds.md, section 2.5).
    """
    total = int(instance.release.max(initial=0)) + int(instance.durations.max(axis=1, initial=0).sum())
    return total + sum(int(instance.transfer_delays(edge).max()) for edge in range(instance.num_edges))


def for_span(within_horizon: Windows, *, at_least: int, at_most: int | None) -> Windows:
    """Return windows for the stage span from those for every makespan up to the horizon, by which they end too."""
    latest = within_horizon.at_most
    return replace(within_horizon, at_least=at_least, at_most=latest if at_most is None else min(latest, at_most))


def plain_windows(instance: DagInstance, objective: Objective, *, objective_at_most: int | None) -> Windows:
    """Return windows that use no path, no join and no bound, so that no error in one of these can affect them.

    A task starts after its release; it finishes by the limit U on the makespan, and by the horizon. For weighted
    completion, job j of weight w[j] > 0 completes by floor((U - sum over other jobs q of w[q] r[q]) / w[j]). Pairs
    whose duration does not fit are removed. The windows are far wider than those of `formulations.dag.probing.windows`,
    hence slower to search (docs/bounds.md, section 2.5; ours). Without a limit, and for the stage span, some optimal
    schedule ends by the horizon. Pairs of a task and a GPU that does not hold its group are removed.
    """
    if Objective(objective) is Objective.STAGE_SPAN:
        within = plain_windows(instance, Objective.MAKESPAN, objective_at_most=None)
        return for_span(within, at_least=0, at_most=objective_at_most)
    latest, weight = horizon(instance), instance.weight
    completion_at_least = np.array(instance.release)
    completion_at_most = np.full(instance.num_jobs, latest)
    if Objective(objective) is Objective.MAKESPAN:
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
    may_run = place_of_task(instance) if instance.has_buffers else instance.allowed
    fits = may_run & (release[:, None] + instance.durations <= due[:, None])
    nothing = np.where(fits, 0, INFINITE)
    around = HeadsAndTails(
        heads=np.where(fits, release[:, None], INFINITE), tails=nothing, job_tails=nothing, allowed=fits
    )
    return Windows(
        around=around,
        latest_finish=np.repeat(due[:, None], instance.num_gpus, axis=1),
        completion_at_least=completion_at_least,
        completion_at_most=completion_at_most,
        at_least=0 if Objective(objective) is Objective.MAKESPAN else int(weight @ instance.release),
        at_most=at_most,
    )
