"""The GPUs as a policy sees them during a simulation: which are free, who fits, and how to start a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.fit_classes import FitClasses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.job_placement import JobPlacement
    from heuristics.jobs.job_shapes import JobShapes
    from heuristics.jobs.placements.placer import Placer


class ClusterState:
    """Free GPUs, a placement rule, and the starts of jobs.

    Jobs of one shape share the answer of the rule for as long as the free GPUs stay the same: for a rule at random that
    means one draw, for all others it only saves time.

    Parameters
    ----------
    shapes
        Which jobs are alike; its restriction of kinds is also that of the placer.
    placer
        The placement rule.

    Attributes
    ----------
    free
        Free GPUs of each server, shape (servers,), int64.
    version
        Grows whenever the free GPUs change.
    classes
        Which classes have a placement; `refresh` brings it up to date.
    class_of
        Class of each job, shape (jobs,), int64.
    num_placements
        How often the placement rule was asked.
    started
        Start of each job that has started.
    """

    def __init__(self, shapes: JobShapes, placer: Placer) -> None:
        """Start with all GPUs free."""
        instance, arrays = shapes.instance, shapes.arrays
        self.shapes = shapes
        self.free: NDArray[np.int64] = np.array(instance.num_gpus_of)
        self.version = 0
        self.num_placements = 0
        self.started: dict[int, int] = {}
        self.placement_of: dict[int, JobPlacement] = {}
        self.classes = FitClasses(instance.server_kind, instance.num_kinds)
        class_of_shape = []
        for job in shapes.first_job:
            rows = instance.stages_of(job)
            class_of_shape.append(self.classes.add(arrays.allowed_kinds[rows].tolist(), arrays.replicas[rows].tolist()))
        self.class_of: NDArray[np.int64] = np.array(class_of_shape, dtype=np.int64)[shapes.shape_of]
        self.classes.finish()
        self._placer = placer
        self._refreshed = -1
        self._known: dict[int, tuple[int, JobPlacement | None]] = {}

    def refresh(self) -> None:
        """Bring `classes` up to date."""
        if self._refreshed != self.version:
            self.classes.refresh(self.free)
            self._refreshed = self.version

    def fits(self, job: int) -> bool:
        """Say whether a job has a placement on the free GPUs."""
        self.refresh()
        return bool(self.classes.has_place[self.class_of[job]])

    def place(self, job: int) -> JobPlacement | None:
        """Return where the placement rule would put a job now, None if it has no placement."""
        shape = int(self.shapes.shape_of[job])
        version, found = self._known.get(shape, (-1, None))
        if version != self.version:
            self.num_placements += 1
            found = self._placer.place(job, self.free)
            self._known[shape] = (self.version, found)
        return found

    def start(self, job: int, placement: JobPlacement, time: int) -> None:
        """Start a job."""
        placement.take(self.free)
        self.version += 1
        self.started[job] = time
        self.placement_of[job] = placement

    def complete(self, job: int) -> None:
        """Free the GPUs of a job."""
        self.placement_of[job].release(self.free)
        self.version += 1
