"""When a heavy job cannot have a consolidated placement: a cheap necessary condition, so that few are tried in vain."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heuristics.jobs.fit_classes import FitClasses
    from heuristics.jobs.job_shapes import JobShapes


class ConsolidationTest:
    """What must hold of the free GPUs if some placement x of a shape is to have alpha(x) <= limit; ours.

    Every stage then runs on kinds with (Q + S - 1) p <= limit: Hall's test with these kinds must pass. Let c be the
    least comm(x) of a placement on two servers or more: if it splits a stage, a server sends the ring bytes of that
    stage, else the activations between two stages that sit apart; either at the highest bandwidth. If
    (Q + S - 1) max_s min_h p[s,h] + c exceeds the limit, one server must hold the whole job.

    Parameters
    ----------
    shapes
        All shapes.
    classes
        Where the classes of the demands above are added; finished by the caller afterwards.
    limit_of
        Limit of a heavy job; None for a job that is not heavy, whose shape is left alone.

    Attributes
    ----------
    class_of
        Class of the first condition by shape, shape (shapes,), int64; 0 for shapes left alone.
    single_kinds
        Kinds of which one server must have `gang` free GPUs, as bits, by shape; 0 where no server needs to.
    gang
        Gang size of each shape; larger than any server where one server must hold the job and no kind can.
    """

    def __init__(self, shapes: JobShapes, classes: FitClasses, limit_of: Callable[[int], Fraction | None]) -> None:
        """Look at every shape once."""
        size = len(shapes.first_job)
        self.class_of: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self.single_kinds: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self.gang: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        for shape, job in enumerate(shapes.first_job):
            limit = limit_of(job)
            if limit is None:
                continue
            self._examine(shapes, classes, shape, job, limit)

    def _examine(self, shapes: JobShapes, classes: FitClasses, shape: int, job: int, limit: Fraction) -> None:
        """Write the conditions of one shape."""
        instance, arrays = shapes.instance, shapes.arrays
        rows = instance.stages_of(job)
        slots = int(arrays.slots[job])
        times: list[list[int]] = arrays.time_of[rows].tolist()
        threshold = limit // slots
        masks = [sum(1 << kind for kind, ticks in enumerate(row) if 0 < ticks <= threshold) for row in times]
        self.class_of[shape] = classes.add(masks, instance.replicas[rows].tolist(), shapes.pool(job))
        self.gang[shape] = instance.gang_size[job]
        least = slots * max(min(ticks for ticks in row if ticks > 0) for row in times)
        traffic = _least_traffic(shapes, rows)
        if traffic is not None and least + traffic <= limit:
            return
        common = masks[0]
        for mask in masks:
            common &= mask
        self.single_kinds[shape] = common if common else -1
        if not common:
            self.gang[shape] = int(instance.num_gpus_of.max()) + 1


def _least_traffic(shapes: JobShapes, rows: slice) -> Fraction | None:
    """Return the least comm(x) over placements on two servers or more; None for a single GPU, which has none."""
    instance = shapes.instance
    replicas = instance.replicas[rows].tolist()
    rings = instance.parameter_bytes[rows].tolist()
    sent = [Fraction(2 * (k - 1) * ring, k) for k, ring in zip(replicas, rings, strict=True) if k > 1]
    sent += [Fraction(act) for act in instance.activation_bytes[rows].tolist()[:-1]]
    if not sent:
        return None
    fastest = max(map(instance.nic_bytes_per_tick, range(instance.num_servers)))
    return min(sent) / fastest
