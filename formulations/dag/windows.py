"""When every task can run on every GPU: the windows themselves, the horizon, and the plainest windows there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.heads_and_tails import HeadsAndTails
from formulations.dag.join import INFINITE
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
        Of task i on GPU k, shape (n, m).
    completion_at_least, completion_at_most
        Of every job, shape (jobs,); 0 and the largest integer for the makespan, where they do not matter.
    at_least, at_most
        Of the objective; a proven lower bound, and the objective of a verified schedule or the horizon's.
    """

    around: HeadsAndTails
    latest_finish: NDArray[np.int64]
    completion_at_least: NDArray[np.int64]
    completion_at_most: NDArray[np.int64]
    at_least: int
    at_most: int

    @property
    def is_empty(self) -> bool:
        """Whether no schedule within `at_most` exists: a task is left without a GPU, or a lower bound is above."""
        late = bool((self.completion_at_least > self.completion_at_most).any())
        return late or self.at_least > self.at_most or not bool(self.around.allowed.any(axis=1).all())


def horizon(instance: DagInstance) -> int:
    """Return a time by which some optimal schedule ends: last release plus longest durations plus longest transfers.

    At any tick before the end of a schedule without needless waiting something runs, is transferred, or waits for a
    release. That holds with and without contention: take an optimal schedule, keep GPUs and all orders (on GPUs, and on
    the sides of interfaces), and start every task and transfer as early as these allow, which no objective minds. From
    the last finish go back: every task and transfer starts at a release, at 0, or where another one ends (the task or
    transfer that it needs, or the one before it on its GPU or side). The chain ends at a release or at 0, has no gap,
    and visits each task and each edge at most once.
    """
    total = int(instance.release.max(initial=0)) + int(instance.durations.max(axis=1, initial=0).sum())
    return total + sum(int(instance.transfer_delays(edge).max()) for edge in range(instance.num_edges))


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
