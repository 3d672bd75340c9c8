"""Where the search begins: list schedules of clusters, and list schedules that learn from their last one."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import mean_transfer_delays
from heuristics.dag.guided_lists import clustered_lists, iterated_lists
from instances.objective import Objective, objective_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.lns.incumbent import Incumbent

NUM_THRESHOLDS = 15
"""Thresholds of clusters: quantiles 0.3 to 1 of the delays of edges with data."""

NUM_CLUSTERED = 3
"""So many of the best list schedules of clusters are iterated, beside the given schedule."""

PASSES = 10
"""Passes of every iteration."""

MOST_PAIRS = 30_000_000
"""Pairs of task and GPU that all passes together look at, at most; about 5 s."""


def improve_start(
    instance: DagInstance,
    objective: Objective,
    incumbent: Incumbent,
    waste: NDArray[np.float64],
    stop: Callable[[], bool],
) -> None:
    """Offer the best of some hundred list schedules.

    Parameters
    ----------
    instance, objective
        What is scheduled, and what is minimised.
    incumbent
        Where to begin, and what is told of better schedules.
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    stop
        Asked between schedules.
    """
    left = MOST_PAIRS // max(instance.num_tasks * instance.num_gpus, 1)
    given = incumbent.schedule
    found = _clustered(instance, objective, left // 4, stop)
    for schedule in found:
        incumbent.offer(schedule)
    left -= NUM_THRESHOLDS * 6
    for start, company, price in product([given, *found], (0.0, 0.5, 1.0), (0.0, 1.0, 3.0)):
        if left <= 0 or stop() or incumbent.is_closed:
            return
        passes = min(PASSES, left)
        better = iterated_lists(instance, objective, start, waste, passes=passes, company=company, price=price)
        left -= passes
        if better is not None:
            incumbent.offer(better)


def _clustered(instance: DagInstance, objective: Objective, most: int, stop: Callable[[], bool]) -> list[DagSchedule]:
    """Return the best list schedules of clusters, different ones, best first."""
    delays = mean_transfer_delays(instance)
    delays = delays[delays > 0]
    if not len(delays):
        return []
    thresholds = np.unique(np.quantile(delays, np.linspace(0.3, 1.0, NUM_THRESHOLDS))).tolist()
    found: dict[int, DagSchedule] = {}
    for made, (threshold, reserve, commitment) in enumerate(product(thresholds, (0.5, 1.0), (0.0, 0.5, 1.0))):
        if made >= most or stop():
            break
        schedule = clustered_lists(instance, threshold, reserve=reserve, commitment=commitment)
        if schedule is not None:
            found.setdefault(objective_value(instance, schedule, objective), schedule)
    return [found[value] for value in sorted(found)[:NUM_CLUSTERED]]
