"""The cluster as a policy sees it: free GPUs, jobs that fit, jobs that share a GPU, and starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.interference import NOT_TOGETHER
from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.placements.job_shapes import JobShapes
    from heuristics.jobs.placements.placement import JobPlacement, Placer
    from heuristics.jobs.placements.running_jobs import RunningJobs
    from instances.jobs.co_location import Gpu
    from instances.jobs.instance import JobsInstance


class FitClasses:
    """Classes of jobs that have a placement at the same times, and which of them have one now.

    A class is a set of pairs (set of kinds, replicas that may use no other kind): by Hall's theorem its jobs have a
    placement if and only if every set has at least that many free GPUs. A long queue thus costs a few comparisons. Jobs
    to which other GPUs are free are of other classes: each class belongs to a pool.

    Parameters
    ----------
    server_kind
        Kind of each server, shape (servers,).

    Attributes
    ----------
    has_place
        Whether each class has a placement, shape (classes,), bool; as of the last `refresh`.
    most_free
        Largest number of GPUs that are free in some pool on one server of each kind, shape (kinds,); as of the last
        `refresh`.
    """

    def __init__(self, server_kind: NDArray[np.int64], num_kinds: int, num_pools: int = 1) -> None:
        self._server_kind = server_kind
        self._num_pools = num_pools
        self._numbers: dict[tuple[int, frozenset[tuple[int, int]]], int] = {}
        self._pool_of = np.zeros(0, dtype=np.int64)
        self._offsets = np.zeros(1, dtype=np.int64)
        self._union_of = self._demand = self._masks = np.zeros(0, dtype=np.int64)
        self.most_free: NDArray[np.int64] = np.zeros(num_kinds, dtype=np.int64)
        self._free_of_kind = np.zeros(num_kinds, dtype=np.int64)
        self.has_place: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)

    def add(self, masks: Sequence[int], replicas: Sequence[int], pool: int = 0) -> int:
        """Return the class of a job.

        Parameters
        ----------
        masks
            Kinds that each stage may use, as bits; a stage without any never has a placement.
        pool
            Pool of the job, see `JobShapes.pool`.
        """
        unions = {0}
        for mask in set(masks):
            unions |= {union | mask for union in unions}
        demands = {}
        for union in unions:
            inside = sum(k for mask, k in zip(masks, replicas, strict=True) if mask & ~union == 0)
            if inside:
                demands[union] = inside
        return self._numbers.setdefault((pool, frozenset(demands.items())), len(self._numbers))

    def finish(self) -> None:
        """Make the arrays after all classes are added."""
        rows = [sorted(demands) for _, demands in self._numbers]
        self._pool_of = np.array([pool for pool, _ in self._numbers], dtype=np.int64)
        entries = [entry for row in rows for entry in row]
        unions = {union: index for index, union in enumerate(sorted({union for union, _ in entries}))}
        self._masks = np.array(list(unions), dtype=np.int64)
        self._offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        self._union_of = np.array([unions[union] for union, _ in entries], dtype=np.int64)
        self._demand = np.array([demand for _, demand in entries], dtype=np.int64)
        self.has_place = np.zeros(len(rows), dtype=np.bool_)

    def refresh(self, free: NDArray[np.int64]) -> None:
        """Recompute for other free GPUs, shape (pools, servers), or (servers,) for one pool."""
        _refresh(
            free.reshape(self._num_pools, -1),
            self._server_kind,
            self._pool_of,
            self._masks,
            self._offsets,
            self._union_of,
            self._demand,
            self._free_of_kind,
            self.most_free,
            self.has_place,
        )


@kernel
def _refresh(
    free: NDArray[np.int64],
    server_kind: NDArray[np.int64],
    pool_of: NDArray[np.int64],
    masks: NDArray[np.int64],
    offsets: NDArray[np.int64],
    union_of: NDArray[np.int64],
    demand: NDArray[np.int64],
    free_of_kind: NDArray[np.int64],
    most_free: NDArray[np.int64],
    has_place: NDArray[np.bool_],
) -> None:
    """Count free GPUs by kind and by set of kinds, and compare."""
    most_free[:] = 0
    supply = np.zeros((len(free), len(masks)), dtype=np.int64)
    for pool in range(len(free)):
        free_of_kind[:] = 0
        for server in range(free.shape[1]):
            kind = server_kind[server]
            free_of_kind[kind] += free[pool, server]
            most_free[kind] = max(most_free[kind], free[pool, server])
        for union in range(len(masks)):
            for kind in range(len(free_of_kind)):
                if masks[union] >> kind & 1:
                    supply[pool, union] += free_of_kind[kind]
    for number in range(len(has_place)):
        fits = True
        for entry in range(offsets[number], offsets[number + 1]):
            fits &= demand[entry] <= supply[pool_of[number], union_of[entry]]
        has_place[number] = fits


class GpuOccupancy:
    """The jobs on every GPU of an instance with two jobs per GPU.

    Attributes
    ----------
    free
        GPUs of each server on which a job of each class may put a replica, shape (classes, servers), int64: idle ones,
        and those with one job of a class with which it may share a GPU.
    idle
        GPUs of each server without any job, shape (servers,), int64.
    """

    def __init__(self, instance: JobsInstance) -> None:
        interference = instance.interference
        if interference is None or interference.share == 1:
            raise ValueError("interference.share: expected 2, got 1.")
        self._class_of: list[int] = interference.job_class.tolist()
        self._may_share: NDArray[np.int64] = (interference.pair != NOT_TOGETHER).astype(np.int64)
        self._both_speeds: list[list[int]] = (interference.pair + interference.pair.T).tolist()
        self._on: list[list[list[int]]] = [[[] for _ in range(gpus)] for gpus in instance.num_gpus_of.tolist()]
        self.free: NDArray[np.int64] = np.tile(instance.num_gpus_of, (len(interference.classes), 1))
        self.idle: NDArray[np.int64] = np.array(instance.num_gpus_of)

    def occupants(self, server: int, gpu: int) -> Sequence[int]:
        """Return the jobs on a GPU, in order of start."""
        return self._on[server][gpu]

    def choose(self, job: int, server: int, count: int) -> list[int]:
        """Return GPUs of a server for replicas of a job.

        Idle ones first, then those with the highest speeds of the pair, both directions summed, then the lowest
        numbers (ours: docs/methods/multi_agent.md, section 3).

        Raises a `ValueError` if fewer GPUs are free for it.
        """
        own, usable = self._class_of[job], []
        for gpu, jobs in enumerate(self._on[server]):
            if not jobs:
                usable.append((0, 0, gpu))
            elif len(jobs) == 1 and self._may_share[own, self._class_of[jobs[0]]]:
                usable.append((1, -self._both_speeds[own][self._class_of[jobs[0]]], gpu))
        if len(usable) < count:
            raise ValueError(f"job {job}: expected {count} free GPUs on server {server}, got {len(usable)}.")
        return [gpu for _, _, gpu in sorted(usable)[:count]]

    def choose_all(self, job: int, totals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return GPUs, each as (server, number), for so many replicas of a job on each server; see `choose`."""
        return [(server, gpu) for server, count in totals for gpu in self.choose(job, server, count)]

    def take(self, job: int, gpus: Sequence[tuple[int, int]]) -> None:
        """Put a job on GPUs, each given as (server, number)."""
        for server, gpu in gpus:
            self._on[server][gpu].append(job)
        self._count(gpus)

    def release(self, job: int, gpus: Sequence[tuple[int, int]]) -> None:
        """Remove a job from its GPUs."""
        for server, gpu in gpus:
            self._on[server][gpu].remove(job)
        self._count(gpus)

    def _count(self, gpus: Sequence[tuple[int, int]]) -> None:
        """Recount the free GPUs of servers."""
        for server in {server for server, _ in gpus}:
            single = [self._class_of[jobs[0]] for jobs in self._on[server] if len(jobs) == 1]
            self.idle[server] = sum(not jobs for jobs in self._on[server])
            self.free[:, server] = self.idle[server] + self._may_share[:, single].sum(axis=1)


class ClusterState:
    """Free GPUs, a placement rule, and the starts of jobs.

    Jobs of one shape share the answer of the rule as long as the free GPUs stay the same: the random rule draws once
    for them, for all other rules this only saves time.

    Where two jobs may share a GPU, a GPU is free for a job if it is idle or has one job with which it may share. Every
    placement rule still works on numbers of free GPUs, and `GpuOccupancy` chooses the GPUs on a server.

    Parameters
    ----------
    shapes
        Which jobs are alike; its restriction of kinds is also that of the placer.
    running
        The running jobs; starts are reported to it.

    Attributes
    ----------
    free
        GPUs of each server without any job, shape (servers,), int64; where two jobs may share one, see `free_for`.
    version
        Increases by one whenever the free GPUs change.
    changes
        Servers of the job that started or completed at each change, in order, with repetitions.
    classes
        Which classes have a placement; `refresh` brings it up to date.
    class_of
        Class of each job, shape (jobs,), int64.
    started
        Start of each job that has started.
    gpus_of
        GPUs of each job that has started, where two jobs may share one.
    occupancy
        The jobs on every GPU where two may share one; else None.
    """

    def __init__(self, shapes: JobShapes, placer: Placer, running: RunningJobs) -> None:
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
