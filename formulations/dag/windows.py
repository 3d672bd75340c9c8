"""When every task can run on every GPU, given what a schedule may cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.path_bound import job_path_bounds, path_bound
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


MAX_PAIRS_FOR_PROBING = 1_000
"""Pairs of tasks and GPUs up to which probing takes about a second."""

PROBING_PASSES = 3
"""How often all tasks are probed at most."""

PROBING_WORK = 1_000_000_000
"""Elementary steps of probing, some nanoseconds each."""


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


def windows(
    instance: DagInstance,
    objective: Objective,
    *,
    lower_bound: int,
    objective_at_most: int | None,
    contention: Contention = Contention.NONE,
    probe: bool = False,
) -> Windows:
    """Derive windows from join-aware heads and tails.

    Makespan: a task on k finishes by U - T[i,k], pairs without room are removed. Weighted completion: with lower bounds
    LBJ on all jobs, job j completes by floor((U - sum over other jobs q of w[q] LBJ[q]) / w[j]) where w[j] > 0, and a
    task of j on k finishes by that minus its tail within the job.

    Everything here follows from heads, tails, `horizon` and U, all of which hold under contention too; given contention
    the heads and tails know it, and the windows hold for schedules that keep its rule.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    lower_bound
        Proven, from elsewhere.
    objective_at_most
        Objective of a verified schedule, None where none is known: then some optimal schedule ends by the horizon.
    contention
        What transfers share.
    probe
        Whether to tighten heads and tails by what follows from the makespan and one more assumption at a time
        (`Refuter`); nothing is done for weighted completion, or where no schedule is known.
    """
    latest = horizon(instance)
    if objective is Objective.MAKESPAN:
        makespan = latest if objective_at_most is None else min(latest, objective_at_most)
        around = heads_and_tails(instance, makespan_at_most=makespan, contention=contention)
        if probe and objective_at_most is not None:
            around = _probed(instance, around, makespan)
        completion_at_least = np.zeros(instance.num_jobs, dtype=np.int64)
        completion_at_most = np.full(instance.num_jobs, np.iinfo(np.int64).max)
        latest_finish = makespan - around.tails
        at_most = makespan
    else:
        around = heads_and_tails(instance, makespan_at_most=latest, contention=contention)
        completion_at_most = np.full(instance.num_jobs, latest)
        at_most = int(instance.weight.sum()) * latest
        if objective_at_most is not None:
            at_most = min(at_most, objective_at_most)
            least = job_path_bounds(instance, around)
            for job in np.flatnonzero(instance.weight > 0):
                others = int(instance.weight @ least) - int(instance.weight[job] * least[job])
                own = (at_most - others) // int(instance.weight[job])
                completion_at_most[job] = min(completion_at_most[job], own)
        latest_finish = completion_at_most[instance.job_of_task][:, None] - around.job_tails
        latest_finish = np.minimum(latest_finish, latest - around.tails)
        fits = around.allowed & (around.heads + instance.durations <= latest_finish)
        around = HeadsAndTails(heads=around.heads, tails=around.tails, job_tails=around.job_tails, allowed=fits)
        completion_at_least = job_path_bounds(instance, around)
    return Windows(
        around=around,
        latest_finish=latest_finish,
        completion_at_least=completion_at_least,
        completion_at_most=completion_at_most,
        at_least=max(lower_bound, path_bound(instance, objective, around)),
        at_most=at_most,
    )


def _probed(instance: DagInstance, around: HeadsAndTails, makespan: int) -> HeadsAndTails:
    """Return heads and tails that probing tightens, without any pair where it refutes the makespan."""
    from formulations.dag.probing.refuter import Refuter

    state = Refuter(instance, around).refute(makespan, passes=PROBING_PASSES, most_work=PROBING_WORK)
    if state is None:
        return replace(around, allowed=np.zeros_like(around.allowed))
    return replace(around, heads=state.heads, tails=state.tails, allowed=state.allowed)


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
