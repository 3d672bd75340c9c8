"""Times per kind where slow kinds are left out: the parameter phi of the policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.certified_times import gpus_of_kind
from instances.jobs.jobs_instance import NOT_ALLOWED
from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


def restricted_times(instance: JobsInstance, phi: Fraction | int | None) -> NDArray[np.int64]:
    """Return the time of every stage on every kind, ``NOT_ALLOWED`` where it is slower than phi times its fastest.

    A job that fits no longer on the empty servers keeps all its kinds. A restriction of policies, not of the problem:
    bounds know nothing of it.

    Parameters
    ----------
    instance
        What is scheduled.
    phi
        At least 1, exact; None stands for infinity.

    Returns
    -------
    NDArray[np.int64]
        Ticks, shape (stages, kinds), read-only.

    Raises
    ------
    ValueError
        If `phi` is below 1.
    """
    if phi is None:
        return instance.time_of
    if phi < 1:
        raise ValueError(f"phi: expected at least 1, got {phi}.")
    times, capacity = instance.time_of.tolist(), gpus_of_kind(instance).tolist()
    limits = [phi * min(ticks for ticks in row if ticks > 0) for row in times]
    allowed = [[0 < ticks <= limit for ticks in row] for row, limit in zip(times, limits, strict=True)]
    keep = np.array(allowed, dtype=bool).reshape(instance.time_of.shape)
    for job in range(instance.num_jobs):
        rows = instance.stages_of(job)
        if not replicas_fit(instance.replicas[rows].tolist(), allowed[rows], capacity):
            keep[rows] = True
    restricted: NDArray[np.int64] = np.where(keep, instance.time_of, NOT_ALLOWED)
    restricted.flags.writeable = False
    return restricted
