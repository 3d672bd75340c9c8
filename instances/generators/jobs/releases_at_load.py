"""Arrivals scaled so that the cluster is as busy as it is wished to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.certified_times import least_durations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


def load_factor(instance: JobsInstance) -> float | None:
    """Return the sum over jobs of g * d^lb, over G times the last arrival; None where no job arrives after tick 0."""
    last = int(instance.release.max(initial=0))
    return None if last == 0 else _work(instance) / (instance.num_gpus * last)


def releases_at_load(instance: JobsInstance, arrivals: NDArray[np.float64], load: float) -> NDArray[np.int64]:
    """Return releases in proportion to `arrivals` that give a load.

    Parameters
    ----------
    instance
        The jobs; their releases do not count.
    arrivals
        At least 0, shape (jobs,), in any unit.
    load
        Sum over jobs of g * d^lb over G times the last arrival, met up to rounding to ticks; 0 stands for releases 0.

    Returns
    -------
    NDArray[np.int64]
        Ticks, shape (jobs,).
    """
    latest = float(arrivals.max(initial=0.0))
    if load == 0.0 or latest == 0.0:
        return np.zeros(len(arrivals), dtype=np.int64)
    last = max(1, round(_work(instance) / (instance.num_gpus * load)))
    return np.rint(arrivals / latest * last).astype(np.int64)


def _work(instance: JobsInstance) -> int:
    """Return the sum over jobs of g * d^lb in GPU-ticks, exactly."""
    work = zip(instance.gang_size.tolist(), least_durations(instance).tolist(), strict=True)
    return sum(gang * ticks for gang, ticks in work)
