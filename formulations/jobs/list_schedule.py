"""A good schedule to begin with, which also says how late anything need be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.jobs.earliest_start import earliest_start
from formulations.jobs.pattern_schedule import PatternSchedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from formulations.jobs.pattern_table import PatternTable


def list_schedule(table: PatternTable, release: Sequence[int], weights: Sequence[int]) -> PatternSchedule:
    """Return the best of a few list schedules; every job is put, in a fixed order, where it completes first.

    The orders are: by release, by work over weight, by release plus work over weight, by earliest completion. Ties in
    completion are broken by pattern. (Ours.)

    Parameters
    ----------
    table
        Patterns of all jobs.
    release
        Ticks, one per job.
    weights
        At least 1, one per job.
    """
    jobs = range(len(release))
    least = table.least_durations.tolist()
    work = [int(table.patterns[job][0].usage.sum()) * least[job] for job in jobs]
    ratio = [work[job] / weights[job] for job in jobs]
    total = max(int(table.capacity.sum()), 1)
    keys = (
        lambda job: (release[job], ratio[job], job),
        lambda job: (ratio[job], release[job], job),
        lambda job: (release[job] + ratio[job] / total, release[job], job),
        lambda job: (release[job] + least[job], ratio[job], job),
    )
    found = [_by_list(table, release, sorted(jobs, key=key)) for key in keys]
    return min(found, key=lambda schedule: schedule.objective(table, weights))


def _by_list(table: PatternTable, release: Sequence[int], order: Sequence[int]) -> PatternSchedule:
    """Place the jobs one after the other."""
    starts, chosen = [0] * len(release), [0] * len(release)
    placed: list[tuple[int, int, NDArray[np.int64]]] = []
    for job in order:
        ends: list[tuple[int, int, int]] = []
        for number, pattern in enumerate(table.patterns[job]):
            if ends and release[job] + pattern.duration >= ends[0][0]:
                break  # the rest takes longer still
            begin = earliest_start(release[job], pattern.duration, pattern.usage, table.capacity, placed)
            ends = [min([*ends, (begin + pattern.duration, number, begin)])]
        end, chosen[job], starts[job] = ends[0]
        placed.append((starts[job], end, table.patterns[job][chosen[job]].usage))
    return PatternSchedule(start=tuple(starts), pattern=tuple(chosen))
