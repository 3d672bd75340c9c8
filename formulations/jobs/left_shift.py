"""A schedule in which no job can start earlier where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.jobs.earliest_start import earliest_start
from formulations.jobs.pattern_schedule import PatternSchedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from formulations.jobs.pattern_table import PatternTable


def left_shift(table: PatternTable, release: Sequence[int], schedule: PatternSchedule) -> PatternSchedule:
    """Return the schedule with the jobs, in order of start, put again as early as they can; none starts later.

    A job's old start is free for it: whoever started before it has only moved to the left, so at a tick from that start
    on only those run that ran there before.

    Parameters
    ----------
    table
        Patterns of all jobs.
    release
        Ticks, one per job.
    schedule
        A schedule of the table.
    """
    start = list(schedule.start)
    placed: list[tuple[int, int, NDArray[np.int64]]] = []
    for job in sorted(range(len(start)), key=lambda job: (schedule.start[job], job)):
        pattern = table.patterns[job][schedule.pattern[job]]
        start[job] = earliest_start(release[job], pattern.duration, pattern.usage, table.capacity, placed)
        placed.append((start[job], start[job] + pattern.duration, pattern.usage))
    return PatternSchedule(start=tuple(start), pattern=schedule.pattern)
