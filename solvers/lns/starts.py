"""Where the search begins: list schedules of clusters, and list schedules that learn from their last one."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.clustered_lists import clustered_lists
from heuristics.dag.dag_arrays import mean_transfer_delays
from heuristics.dag.heft import heft
from heuristics.dag.iterated_lists import iterated_lists
from instances.objective import Objective, objective_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.lns.incumbent import Incumbent

NUM_THRESHOLDS = 15
"""Thresholds of clusters: quantiles 0.3 to 1 of the delays of edges with data."""

RESERVES, COMMITMENTS, CLUSTER_PRICES = (0.5, 1.0), (0.0, 0.5, 1.0), (0.0, 3.0)
"""Parameters of `clustered_lists` that are tried."""

NUM_CLUSTERED = 3
"""So many of the best list schedules of clusters are iterated, beside the given schedule and HEFT's."""

COMPANIES, PRICES, PASSES = (0.0, 0.5, 1.0), (0.0, 3.0, 10.0), 10
"""Parameters of `iterated_lists` that are tried, and passes each time."""

MOST_PAIRS = 30_000_000
"""Pairs of task and GPU that all schedules together look at, at most; about 5 s."""


def improve_start(
    instance: DagInstance,
    objective: Objective,
    incumbent: Incumbent,
    waste: NDArray[np.float64],
    must_stop: Callable[[], bool],
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
    must_stop
        Asked between schedules.
    """
    left = MOST_PAIRS // max(instance.num_tasks * instance.num_gpus, 1)
    starts = [incumbent.best()[0], *_clustered(instance, objective, waste, left // 2, must_stop)]
    for schedule in starts:
        incumbent.offer(schedule)
    simple = heft(instance)
    if simple is not None:
        starts.append(simple)
    left -= min(left // 2, NUM_THRESHOLDS * len(_cluster_choices()))
    for start, company, price in product(starts, COMPANIES, PRICES):
        passes = min(PASSES, left)
        if passes <= 0 or must_stop() or incumbent.is_closed:
            return
        left -= passes
        better = iterated_lists(instance, objective, start, waste, passes=passes, company=company, price=price)
        if better is not None:
            incumbent.offer(better)


def _cluster_choices() -> list[tuple[float, float, float]]:
    """Return the parameters of `clustered_lists` that are tried for every threshold."""
    return list(product(RESERVES, COMMITMENTS, CLUSTER_PRICES))


def _clustered(
    instance: DagInstance,
    objective: Objective,
    waste: NDArray[np.float64],
    most: int,
    must_stop: Callable[[], bool],
) -> list[DagSchedule]:
    """Return the best list schedules of clusters, of different objectives, best first."""
    delays = mean_transfer_delays(instance)
    delays = delays[delays > 0]
    if not len(delays):
        return []
    thresholds = np.unique(np.quantile(delays, np.linspace(0.3, 1.0, NUM_THRESHOLDS))).tolist()
    found: dict[int, DagSchedule] = {}
    for made, (threshold, choice) in enumerate(product(thresholds, _cluster_choices())):
        if made >= most or must_stop():
            break
        reserve, commitment, price = choice
        schedule = clustered_lists(instance, threshold, waste, reserve=reserve, commitment=commitment, price=price)
        if schedule is not None:
            found.setdefault(objective_value(instance, schedule, objective), schedule)
    return [found[value] for value in sorted(found)[:NUM_CLUSTERED]]
