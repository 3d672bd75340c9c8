"""A schedule as the models see it: a start and a pattern per job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.jobs_schedule import JobsSchedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formulations.jobs.pattern_table import PatternTable
    from instances.jobs.jobs_instance import JobsInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSchedule:
    """Start in ticks and number of the pattern of each job, one entry per job."""

    start: tuple[int, ...]
    pattern: tuple[int, ...]

    def objective(self, table: PatternTable, weights: Sequence[int]) -> int:
        """Return the weighted sum of completion times in ticks."""
        return sum(
            weight * (start + table.patterns[job][pattern].duration)
            for job, (weight, start, pattern) in enumerate(zip(weights, self.start, self.pattern, strict=True))
        )

    def jobs_schedule(self, instance: JobsInstance, table: PatternTable) -> JobsSchedule:
        """Return the schedule of the instance; the table is exact."""
        placements = []
        for job, pattern in enumerate(self.pattern):
            placement = table.patterns[job][pattern].placement
            if placement is None:
                raise ValueError(f"jobs[{job}]: expected a pattern with a placement, got one of a relaxation.")
            placements.append(placement)
        return JobsSchedule.from_placements(instance, np.array(self.start, dtype=np.int64), placements)


def pattern_schedule(instance: JobsInstance, table: PatternTable, schedule: JobsSchedule) -> PatternSchedule:
    """Return a right schedule of the instance in its exact table: same starts and usages, no later completion."""
    chosen = []
    for job in range(instance.num_jobs):
        usage = schedule.placement(instance, job).sum(axis=0).tolist()
        chosen.append(next(n for n, own in enumerate(table.patterns[job]) if own.usage.tolist() == usage))
    return PatternSchedule(start=tuple(schedule.start.tolist()), pattern=tuple(chosen))
