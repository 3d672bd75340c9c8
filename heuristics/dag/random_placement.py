"""Random: a floor, every GPU that fits with the same probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import UNIFORM, list_schedule, schedule_of
from heuristics.dag.nics import new_nics
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def random_placement(
    instance: DagInstance, rng: np.random.Generator, *, contention: Contention = Contention.NONE
) -> DagSchedule | None:
    """Place the tasks in topological order, each on a random GPU that fits; None where a memory limit is exceeded.

    Every task then starts as early as it can, in an idle gap where there is one.

    Parameters
    ----------
    instance
        What is scheduled.
    rng
        Source of all random numbers.
    contention
        What transfers share, as in `heft`.
    """
    arrays = dag_arrays(instance)
    keys = rng.random(instance.num_tasks)
    nics, no_priority = new_nics(instance, contention), np.zeros(instance.num_tasks)
    return schedule_of(instance, list_schedule(arrays, no_priority, rule=UNIFORM, gpu_keys=keys, nics=nics), nics)
