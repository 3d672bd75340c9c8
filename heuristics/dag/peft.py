"""PEFT: earliest finish plus what the optimistic cost table says comes after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule, schedule_of
from heuristics.dag.nics import new_nics
from heuristics.dag.ranks import optimistic_costs
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def peft(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Return PEFT's schedule, None where it runs into a memory limit.

    Parameters
    ----------
    instance
        What is scheduled.
    contention
        What transfers share, as in `heft`; the table knows nothing of it.

    References
    ----------
    Arabnejad and Barbosa (2014), List Scheduling Algorithm for Heterogeneous Systems by an Optimistic Cost Table, IEEE
    TPDS 25(3). Priority: mean of the table's row; GPU: smallest earliest finish plus table entry. Deviations: as in
    `heft`.
    """
    arrays = dag_arrays(instance)
    table = optimistic_costs(arrays)
    counts = np.maximum(arrays.allowed.sum(axis=1), 1)
    priority = np.where(arrays.allowed, table, 0.0).sum(axis=1) / counts
    nics = new_nics(instance, contention)
    return schedule_of(instance, list_schedule(arrays, priority, bias=table, nics=nics), nics)
