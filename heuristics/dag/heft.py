"""HEFT: highest upward rank first, earliest finish with insertion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule, schedule_of
from heuristics.dag.nics import new_nics
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def heft(
    instance: DagInstance, *, insertion: bool = True, contention: Contention = Contention.NONE
) -> DagSchedule | None:
    """Return HEFT's schedule, None where it runs into a memory limit.

    Parameters
    ----------
    instance
        What is scheduled.
    insertion
        Whether a task may start in an idle gap before tasks that are already placed.
    contention
        What transfers share. Under contention the earliest finish counts the wait for the interfaces, and the transfers
        to a task are booked with it (`book_transfers`; ours); the ranks know nothing of it.

    References
    ----------
    Topcuoglu, Hariri and Wu (2002), Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous
    Computing, IEEE TPDS 13(3). Deviations: mean transfer delay over pairs of different GPUs instead of mean latency
    plus bytes over mean bandwidth; the ready task of highest rank instead of a sorted list (they differ only at
    durations 0); means over allowed GPUs; GPUs with too little memory are skipped, memory of tasks that may run nowhere
    else is kept free; releases delay starts.
    """
    nics = new_nics(instance, contention)
    return schedule_of(instance, list_schedule(dag_arrays(instance), insertion=insertion, nics=nics), nics)
