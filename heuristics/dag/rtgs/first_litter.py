"""The whales a herd begins with: placements that list scheduling makes, as a litter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import UNIFORM, list_schedule
from heuristics.dag.load_vector import final_loads, running_loads
from heuristics.dag.rtgs.herd import Litter
from instances.dag_schedule import DagSchedule
from instances.objective import Objective, objective_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.dag.timeline import Placement
    from instances.dag_instance import DagInstance


def litter_of(
    instance: DagInstance,
    objective: Objective,
    placements: Sequence[Placement],
    order: NDArray[np.int64],
    *,
    running: bool,
) -> Litter:
    """Return placements as a litter.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What placements are judged by.
    placements
        One at least.
    order
        Tasks in the order of placing, shape (n,).
    running
        Whether positions are running loads (rho), else final loads (r).
    """
    gpu = np.array([placement.gpu for placement in placements])
    durations = instance.durations
    schedules = (DagSchedule(gpu=placement.gpu, start=placement.start) for placement in placements)
    return Litter(
        gpu=gpu,
        position=running_loads(durations, gpu, order) if running else final_loads(durations, gpu),
        overflow=np.array([placement.overflow for placement in placements], dtype=np.int64),
        objective=np.array([objective_value(instance, schedule, objective) for schedule in schedules], dtype=np.int64),
    )


def uniform_placements(
    instance: DagInstance,
    rng: np.random.Generator,
    count: int,
    priority: NDArray[np.float64],
    *,
    insertion: bool,
) -> list[Placement]:
    """Return random placements: every GPU that fits is equally likely.

    Parameters
    ----------
    instance
        What is scheduled.
    rng
        Source of all random numbers: `count` rows of n keys u; of c GPUs that fit a task goes to number floor(c u).
    count
        How many.
    priority
        Of each task, shape (n,); see `placement_order`.
    insertion
        Whether a task may start in an idle gap before tasks that are already placed.
    """
    arrays = dag_arrays(instance)
    return [
        list_schedule(arrays, priority, rule=UNIFORM, gpu_keys=keys, insertion=insertion)
        for keys in rng.random((count, instance.num_tasks))
    ]
