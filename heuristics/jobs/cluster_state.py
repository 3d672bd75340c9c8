"""The GPUs as a policy sees them during a simulation: which are free, who fits, and how to start a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.fit_classes import FitClasses
from heuristics.jobs.gpu_occupancy import GpuOccupancy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.job_placement import JobPlacement
    from heuristics.jobs.job_shapes import JobShapes
    from heuristics.jobs.placements.placer import Placer
    from heuristics.jobs.running_jobs import RunningJobs
    from instances.jobs.co_location import Gpu


class ClusterState:
    """Free GPUs, a placement rule, and the starts of jobs.

    Jobs of one shape share the answer of the rule for as long as the free GPUs stay the same: for a rule at random that
    means one draw, for all others it only saves time.

    Where two jobs may share a GPU, a GPU is free for a job if it is idle or has one job beside which it may sit: every
    placement rule then works on numbers of free GPUs as ever, and the GPUs on a server are chosen by `GpuOccupancy`.

    Parameters
    ----------
    shapes
        Which jobs are alike; its restriction of kinds is also that of the placer.
    placer
        The placement rule.
    running
        The jobs that run, which hear of starts.

    Attributes
    ----------
    free
        GPUs of each server without any job, shape (servers,), int64; where two jobs may share one, see `free_for`.
    version
        Grows by one whenever the free GPUs change.
    changes
        Servers of the job that started or completed at each change, in order, with repetitions.
    classes
        Which classes have a placement; `refresh` brings it up to date.
    class_of
        Class of each job, shape (jobs,), int64.
    num_placements
        How often the placement rule was asked.
    started
        Start of each job that has started.
    gpus_of
        GPUs of each job that has started, where two jobs may share one.
    occupancy
        Who sits on which GPU, where two jobs may share one; else None.
    """

    def __init__(self, shapes: JobShapes, placer: Placer, running: RunningJobs) -> None:
        """Start with all GPUs free."""
        instance, arrays = shapes.instance, shapes.arrays
        self.shapes = shapes
        self.running = running
        self.occupancy = GpuOccupancy(instance) if instance.share > 1 else None
        self.free: NDArray[np.int64] = np.array(instance.num_gpus_of)
        self._free_of_pool = self.free.reshape(1, -1)  # a view, kept up to date with it
        if self.occupancy is not None:
            self.free, self._free_of_pool = self.occupancy.idle, self.occupancy.free
        self.version = 0
        self.changes: list[NDArray[np.int64]] = []
        self.num_placements = 0
        self.started: dict[int, int] = {}
        self.placement_of: dict[int, JobPlacement] = {}
        self.gpus_of: dict[int, list[Gpu]] = {}
        self.classes = FitClasses(instance.server_kind, instance.num_kinds, len(self._free_of_pool))
        class_of_shape = []
        for job in shapes.first_job:
            rows = instance.stages_of(job)
            masks, replicas = arrays.allowed_kinds[rows].tolist(), arrays.replicas[rows].tolist()
            class_of_shape.append(self.classes.add(masks, replicas, shapes.pool(job)))
        self.class_of: NDArray[np.int64] = np.array(class_of_shape, dtype=np.int64)[shapes.shape_of]
        self.classes.finish()
        self._placer = placer
        placer.watch(self)
        self._refreshed = -1
        self._known: dict[int, tuple[int, JobPlacement | None]] = {}

    def refresh(self) -> None:
        """Bring `classes` up to date."""
        if self._refreshed != self.version:
            self.classes.refresh(self._free_of_pool)
            self._refreshed = self.version

    def fits(self, job: int) -> bool:
        """Say whether a job has a placement on the free GPUs."""
        self.refresh()
        return bool(self.classes.has_place[self.class_of[job]])

    def free_for(self, job: int) -> NDArray[np.int64]:
        """Return the GPUs of each server that are free for a job, shape (servers,), int64, not to be changed."""
        free: NDArray[np.int64] = self._free_of_pool[self.shapes.pool(job)]
        return free

    def place(self, job: int) -> JobPlacement | None:
        """Return where the placement rule would put a job now, None if it has no placement."""
        shape = int(self.shapes.shape_of[job])
        version, found = self._known.get(shape, (-1, None))
        if version != self.version:
            self.num_placements += 1
            found = self._placer.place(self.shapes.first_job[shape], self.free_for(job))
            self._known[shape] = (self.version, found)
        return found

    def start(self, job: int, placement: JobPlacement, time: int) -> None:
        """Start a job."""
        gpus: list[Gpu] = []
        if self.occupancy is None:
            placement.take(self.free)
        else:
            gpus = self.occupancy.choose_all(job, placement.totals())
            self.occupancy.take(job, gpus)
            self.gpus_of[job] = gpus
        self.version += 1
        self.changes.append(placement.server)
        self.started[job] = time
        self.placement_of[job] = placement
        self.running.start(job, time, placement, gpus)

    def complete(self, job: int) -> None:
        """Free the GPUs of a job."""
        if self.occupancy is None:
            self.placement_of[job].release(self.free)
        else:
            self.occupancy.release(job, self.gpus_of[job])
        self.version += 1
        self.changes.append(self.placement_of[job].server)
