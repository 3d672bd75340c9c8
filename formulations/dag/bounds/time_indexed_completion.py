"""Weighted completion by the time-indexed relaxation: prices for GPUs, ticks and transfers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.carry_prices import carry_prices
from formulations.dag.bounds.completion_lp import CompletionLp
from formulations.dag.bounds.destructive import destructive
from formulations.dag.bounds.dual_ascent import dual_ascent
from formulations.dag.bounds.dual_bound import dual_bound
from formulations.dag.bounds.highs_multipliers import highs_multipliers
from formulations.dag.bounds.path_bound import job_path_bounds, path_bound
from formulations.dag.bounds.time_indexed_lp import width_for
from formulations.dag.windows import horizon
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag_instance import DagInstance

LP_ENTRIES = 15_000
"""About how many entries the linear program has that HiGHS solves."""

ASCENT_ENTRIES = 300_000
"""About how many the one has whose prices are improved afterwards: milliseconds per round."""

ASCENT_ROUNDS = 300
"""Rounds of that."""

_LARGEST = 2**60
"""Costs of single columns stay below this, with room for their sums within 64 bits."""


def time_indexed_completion(instance: DagInstance, around: HeadsAndTails) -> int:
    """Return the bound on the weighted completion of several jobs; 0 where the instance is too large.

    HiGHS solves `CompletionLp` on buckets so wide that it has about `LP_ENTRIES` entries, where no job completes before
    the destructive bound of its own tasks alone. The multipliers, which are prices of the buckets of GPUs and of
    transfers, are carried over to buckets as narrow as `ASCENT_ENTRIES` allows and improved there: most of what wide
    buckets lose comes back, for far less than a solution on narrow ones would take. (Ours.)

    Parameters
    ----------
    instance
        What is scheduled.
    around
        Its heads and tails, without an assumption on the objective; at least one GPU is left for every task.
    """
    end = _end_of_grid(instance, around)
    heads, allowed, latest = around.heads, around.allowed, np.full(instance.durations.shape, end)
    if 8 * int(instance.weight.sum()) * (end + int(heads[allowed].max())) > _LARGEST:
        return 0
    width = width_for(instance, heads, latest, allowed, max_entries=ASCENT_ENTRIES)
    wide_width = width_for(instance, heads, latest, allowed, max_entries=LP_ENTRIES)
    if width is None or wide_width is None:
        return 0
    ratio = -(-wide_width // width)
    at_least = _each_alone(instance, around)
    wide = CompletionLp(instance, around, at_least, end=end, width=width * ratio)
    prices = highs_multipliers(wide.lp)
    if prices is None:
        prices = np.zeros(len(wide.lp.limit))
    best = dual_bound(wide.lp, wide.affordable(prices))
    if ratio > 1:
        narrow = CompletionLp(instance, around, at_least, end=end, width=width)
        start = carry_prices(wide, prices, narrow)
        improved = dual_ascent(narrow.lp, start, rounds=ASCENT_ROUNDS, project=narrow.affordable)
        best = max(best, dual_bound(narrow.lp, improved))
    return max(wide.constant + best, int(instance.weight @ at_least))


def _each_alone(instance: DagInstance, around: HeadsAndTails) -> NDArray[np.int64]:
    """Return a lower bound on the completion time of every job, shape (jobs,): as if the others were not there."""
    at_least, latest = job_path_bounds(instance, around), horizon(instance)
    for job in np.flatnonzero(np.bincount(instance.job_of_task, minlength=instance.num_jobs) > 1).tolist():
        alone = destructive(_alone(instance, job), Objective.MAKESPAN)
        at_least[job] = max(at_least[job], min(alone, latest))  # above that there is no schedule at all
    return at_least


def _alone(instance: DagInstance, job: int) -> DagInstance:
    """Return the tasks of a job and the edges between them."""
    tasks = np.flatnonzero(instance.job_of_task == job)
    position = np.full(instance.num_tasks, -1)
    position[tasks] = np.arange(len(tasks))
    edges = position[instance.edges]
    inside = (edges >= 0).all(axis=1)
    return replace(
        instance,
        durations=instance.durations[tasks],
        task_memory=instance.task_memory[tasks],
        job_of_task=np.zeros(len(tasks), dtype=np.int64),
        edges=edges[inside],
        edge_bytes=instance.edge_bytes[inside],
        release=instance.release[[job]],
        weight=instance.weight[[job]],
        task_names=tuple(instance.task_names[task] for task in tasks),
        job_names=(instance.job_names[job],),
    )


def _end_of_grid(instance: DagInstance, around: HeadsAndTails) -> int:
    """Return a tick by which nearly all work can be done; any value is right, see `CompletionLp`."""
    shortest = np.where(around.allowed, instance.durations, np.iinfo(np.int64).max).min(axis=1)
    work = int(instance.release.max()) + int(shortest.sum()) // instance.num_gpus
    return max(path_bound(instance, Objective.MAKESPAN, around), work) * 5 // 4 + 1
