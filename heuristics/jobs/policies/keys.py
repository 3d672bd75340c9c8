"""Keys by which policies order waiting jobs; the smallest goes first (ties: arrival, index)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.jobs.job_shapes import JobShapes


def by_arrival(shapes: JobShapes, job: int, prediction: int) -> int:
    """Return 0: arrivals break the tie."""
    return 0


def by_duration(shapes: JobShapes, job: int, prediction: int) -> int:
    """Return the predicted duration ceil(prediction * alpha_min) in ticks."""
    return shapes.predicted_duration(job, prediction)


def by_workload(shapes: JobShapes, job: int, prediction: int) -> int:
    """Return gang size times predicted duration, in GPU-ticks."""
    return int(shapes.instance.gang_size[job]) * shapes.predicted_duration(job, prediction)
