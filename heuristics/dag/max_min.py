"""Max-min: the ready task whose best finish is largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.dynamic_list_scheduler import LARGEST_FINISH, build_dynamic
from heuristics.dag.retime import retime
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def max_min(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Return the schedule of max-min, None where it runs into a memory limit.

    Parameters
    ----------
    instance
        What is scheduled.
    contention
        What transfers share. The choices know nothing of it; `retime` makes the schedule keep it.

    References
    ----------
    Ibarra and Kim (1977), J. ACM 24(2), for independent tasks. Deviation: applied to the ready tasks at every step,
    with transfers in the finish; memory and releases as in `heft`.
    """
    arrays = dag_arrays(instance)
    return retime(instance, build_dynamic(arrays, LARGEST_FINISH, np.zeros(instance.num_tasks)), contention)
