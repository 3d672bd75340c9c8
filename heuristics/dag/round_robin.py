"""Round-robin: a floor that knows nothing of durations and transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import CYCLIC, list_schedule, schedule_of

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def round_robin(instance: DagInstance) -> DagSchedule | None:
    """Place the tasks in topological order, each on the next GPU that fits; None where a memory limit is exceeded.

    Every task then starts as early as it can, in an idle gap where there is one.
    """
    arrays = dag_arrays(instance)
    return schedule_of(instance, list_schedule(arrays, np.zeros(instance.num_tasks), rule=CYCLIC))
