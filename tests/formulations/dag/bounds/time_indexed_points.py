"""Schedules as points of time-indexed programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.bounds.time_indexed_lp import TimeIndexedLp
    from formulations.integer_lp import IntegerLp
    from instances.dag.schedule import DagSchedule


def point_of(program: TimeIndexedLp, schedule: DagSchedule) -> NDArray[np.int64]:
    """Return the columns that a schedule means; what starts after its window is late."""
    point = np.zeros(program.num_columns, dtype=np.int64)
    for task, (k, start) in enumerate(zip(schedule.gpu.tolist(), schedule.start.tolist(), strict=True)):
        bucket = start // program.grid.width
        if program.offset[task, k] < 0 or bucket > program.grid.last[task, k]:
            point[program.late[task]] = 1
            continue
        assert bucket >= program.grid.first[task, k]
        offset = program.offset[task, k] - program.grid.first[task, k]
        point[offset + bucket : offset + program.grid.last[task, k] + 1] = 1
    return point


def overrun(lp: IntegerLp, point: NDArray[np.int64]) -> int:
    """Return by how much a point misses the worst row."""
    miss = lp.matrix @ point - lp.limit
    return int(np.where(lp.is_equality, np.abs(miss), miss).max(initial=0))
