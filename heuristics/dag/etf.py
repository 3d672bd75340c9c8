"""ETF: the pair of task and GPU that can start first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.dynamic_list_scheduler import EARLIEST_START, build_dynamic
from heuristics.dag.ranks import static_levels
from heuristics.dag.retime import retime
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def etf(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Return the schedule of earliest task first, None where it runs into a memory limit.

    Parameters
    ----------
    instance
        What is scheduled.
    contention
        What transfers share. The choices know nothing of it; `retime` makes the schedule keep it.

    References
    ----------
    Hwang, Chow, Anger and Lee (1989), Scheduling Precedence Graphs in Systems with Interprocessor Communication Times,
    SIAM J. Computing 18(2): ties by static level. Deviations: static levels from mean durations, as the original knows
    identical processors only; among GPUs with the same start the smaller finish; memory and releases as in `heft`.
    """
    arrays = dag_arrays(instance)
    return retime(instance, build_dynamic(arrays, EARLIEST_START, static_levels(arrays)), contention)
