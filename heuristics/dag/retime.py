"""From a list schedule that knows nothing of contention to one that keeps the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule, schedule_of
from heuristics.dag.nics import new_nics

if TYPE_CHECKING:
    from heuristics.dag.timeline import Placement
    from instances.contention import Contention
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def retime(instance: DagInstance, placement: Placement, contention: Contention) -> DagSchedule | None:
    """Keep GPUs and the order of starts, and start everything as early as the rule allows.

    Tasks are taken in order of start (ties: predecessors first); each one's transfers are booked as in `heft`, then it
    starts after them and after the tasks that are on its GPU already. Our own: methods whose choices know nothing of
    contention so come to schedules that keep it. Without contention the schedule stays as it is.

    Parameters
    ----------
    instance
        What is scheduled.
    placement
        What a kernel placed without contention, nothing earlier than needed.
    contention
        What transfers share.

    Returns
    -------
    DagSchedule | None
        None where the placement exceeds a memory limit.
    """
    nics = new_nics(instance, contention)
    if nics is None or placement.overflow > 0:
        return schedule_of(instance, placement)
    position = np.empty(instance.num_tasks, dtype=np.int64)
    position[instance.topological_order] = np.arange(instance.num_tasks)
    priority = np.empty(instance.num_tasks)
    priority[np.lexsort((position, placement.start))] = -np.arange(instance.num_tasks, dtype=np.float64)
    arrays = dag_arrays(instance)
    # With all tasks pinned to where they fit together, none is turned away on the way.
    again = list_schedule(arrays, priority, pinned=placement.gpu, insertion=False, nics=nics)
    return schedule_of(instance, again, nics)
