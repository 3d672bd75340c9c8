"""Round-robin: a floor that knows nothing of durations and transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import CYCLIC, list_schedule, schedule_of
from heuristics.dag.nics import new_nics
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def round_robin(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Place the tasks in topological order, each on the next GPU that fits; None where a memory limit is exceeded.

    Every task then starts as early as it can, in an idle gap where there is one.

    Parameters
    ----------
    instance
        What is scheduled.
    contention
        What transfers share, as in `heft`.
    """
    arrays = dag_arrays(instance)
    nics = new_nics(instance, contention)
    return schedule_of(instance, list_schedule(arrays, np.zeros(instance.num_tasks), rule=CYCLIC, nics=nics), nics)
