"""kappa, the unit of time of observations and rewards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.certified_times import least_durations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from instances.jobs.jobs_instance import JobsInstance


def time_scale(instances: Iterable[JobsInstance]) -> float:
    """Return the mean shortest possible duration of the jobs of training instances, in ticks.

    Raises
    ------
    ValueError
        If there is no job.
    """
    durations = np.concatenate([np.zeros(0), *map(least_durations, instances)])
    if not len(durations):
        raise ValueError("instances: expected at least one job, got none.")
    return float(durations.mean())
