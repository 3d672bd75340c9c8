"""A better schedule before the proof: simulated annealing by reinsertion, for as long as it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.reinsertion.reinsertion_search import ReinsertionSearch
from instances.objective import Objective, objective_value

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.exact_run import ExactRun

MOVES_PER_TASK = 1_000
"""Measured at 40 to 80 tasks: 1 to 3 seconds, after which longer runs gain little."""

PORTION = 1_000
"""Moves between two looks at the clock."""

HOT, COLD = 1e-2, 1e-5
"""Temperatures at the beginning and at the end, as shares of the makespan or of the mean completion time by weight."""


def improved_by_reinsertion(
    instance: DagInstance, objective: Objective, schedule: DagSchedule, bound: int, run: ExactRun, share: float
) -> DagSchedule:
    """Return the best schedule of one annealing.

    Parameters
    ----------
    instance, objective
        As in `solve`.
    schedule
        Where to begin.
    bound
        Proven; the search ends where it is met.
    run
        Seed, and what is left of its time.
    share
        Largest share of the time that is left. Where it does not strike, the result depends on the seed alone.
    """
    shortest = np.where(instance.allowed, instance.durations, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    waste = np.where(instance.allowed, instance.durations - shortest, 0).astype(np.float64)
    search = ReinsertionSearch(instance, objective, schedule, waste, np.random.default_rng(run.seed))
    ticks = float(objective_value(instance, schedule, objective))
    if objective is Objective.WEIGHTED_COMPLETION:
        ticks /= max(int(instance.weight.sum()), 1)
    moves, done, must_stop = MOVES_PER_TASK * instance.num_tasks, 0, run.stops_after(share)
    while done < moves and search.best_value > bound and not must_stop():
        search.run(min(PORTION, moves - done), HOT * ticks * (COLD / HOT) ** (done / moves), bound)
        done += PORTION
        run.report(search.best_value, None)
    return search.best
