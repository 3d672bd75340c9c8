"""What the network is asked to obey while it learns: wished loads as whales have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import UNIFORM, list_schedule
from heuristics.dag.load_vector import running_loads
from heuristics.dag.rtgs.herd_draws import draw_round
from heuristics.dag.rtgs.wished_loads import wished_loads
from heuristics.dag.worl_rtgs.features import episode_data

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


def training_wishes(instance: DagInstance, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Return wished loads of a herd that HEFT's placement leads and whose other members are random; ours.

    Every row is the move B.2 of RTGS on running loads (`wished_loads`) of one random whale, with a uniform in [0, 2]:
    the target is HEFT's placement or another random one.

    Parameters
    ----------
    instance
        What is scheduled.
    rng
        Source of all random numbers.
    count
        Number of rows.

    Returns
    -------
    NDArray[np.float64]
        In ticks, shape (count, n).
    """
    arrays, data = dag_arrays(instance), episode_data(instance)
    placements = [list_schedule(arrays, data.rank).gpu]
    for _ in range(count):
        keys = rng.random(instance.num_tasks)
        placements.append(list_schedule(arrays, data.rank, rule=UNIFORM, gpu_keys=keys).gpu)
    position = running_loads(instance.durations, np.array(placements), data.order)
    draws = draw_round(rng, count + 1, instance.num_tasks)
    return wished_loads(position, 0, float(rng.uniform(0.0, 2.0)), draws)
