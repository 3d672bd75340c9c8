"""Who sits on which GPU where two jobs may share one, and what that leaves for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.interference import NOT_TOGETHER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


class GpuOccupancy:
    """The jobs on every GPU of an instance with two jobs per GPU.

    Parameters
    ----------
    instance
        What is scheduled.

    Attributes
    ----------
    free
        GPUs of each server on which a job of each class may put a replica, shape (classes, servers), int64: idle ones,
        and those with one job of a class beside which it may sit.
    idle
        GPUs of each server without any job, shape (servers,), int64.
    """

    def __init__(self, instance: JobsInstance) -> None:
        """Start with all GPUs idle."""
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
        numbers (section 3.1 of the reference; ours).

        Raises
        ------
        ValueError
            If fewer GPUs are free for it.
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
        """Take a job from its GPUs."""
        for server, gpu in gpus:
            self._on[server][gpu].remove(job)
        self._count(gpus)

    def _count(self, gpus: Sequence[tuple[int, int]]) -> None:
        """Count the free GPUs of servers anew."""
        for server in {server for server, _ in gpus}:
            single = [self._class_of[jobs[0]] for jobs in self._on[server] if len(jobs) == 1]
            self.idle[server] = sum(not jobs for jobs in self._on[server])
            self.free[:, server] = self.idle[server] + self._may_share[:, single].sum(axis=1)
