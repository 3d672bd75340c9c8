"""The jobs on every server and GPU, as arrays that are updated at starts and completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.interference import DEFAULT_RESOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.jobs.co_location import Amount, CoLocation, Gpu, ResourceDemand
    from instances.jobs.instance import JobsInstance

NUM_RESOURCES = len(DEFAULT_RESOURCES)


class ServerStates:
    """The running jobs by server and GPU; an event costs time proportional to the GPUs of the job.

    Resources are cpu, pcie and nic, found by name; those that an instance lacks are 0 and others are ignored. If only
    one job per GPU is allowed, schedules name no GPUs: a job then takes the idle ones with the lowest numbers (ours; it
    changes no completion).

    Parameters
    ----------
    together
        Loads of the servers; None without interference.

    Attributes
    ----------
    num_on_gpu
        Jobs on each GPU, shape (servers, most GPUs of a server), int64; 0 where a server has fewer GPUs.
    starts
        Sum of their starts in ticks, same shape, int64.
    use, sens
        Sums over jobs of the demand of one replica and of the sensitivities, by resource, in per mille, shape (servers,
        most GPUs, 3).
    load
        Total demand of the jobs on a server for each resource, in per mille of its capacity, shape (servers, 3).
    num_jobs_on
        Jobs on each server, shape (servers,), int64.
    """

    def __init__(self, instance: JobsInstance, together: CoLocation | None) -> None:
        num_servers, most = instance.num_servers, int(instance.num_gpus_of.max())
        self.instance = instance
        self.together = together
        self.num_on_gpu: NDArray[np.int64] = np.zeros((num_servers, most), dtype=np.int64)
        self.starts: NDArray[np.int64] = np.zeros((num_servers, most), dtype=np.int64)
        self.use: NDArray[np.float64] = np.zeros((num_servers, most, NUM_RESOURCES))
        self.sens: NDArray[np.float64] = np.zeros((num_servers, most, NUM_RESOURCES))
        self.load: NDArray[np.float64] = np.zeros((num_servers, NUM_RESOURCES))
        self.num_jobs_on: NDArray[np.int64] = np.zeros(num_servers, dtype=np.int64)
        self._on: dict[Gpu, list[int]] = {}
        self._gpus: dict[int, list[Gpu]] = {}
        self._start: dict[int, int] = {}
        self._sens: dict[int, list[float]] = {}
        self._use: dict[tuple[int, int], list[float]] = {}  # of one replica, by job and server
        names = () if instance.interference is None else instance.interference.resources
        self._columns = [names.index(name) if name in names else None for name in DEFAULT_RESOURCES]

    def start(
        self,
        job: int,
        time: int,
        placed: Sequence[tuple[int, int]],
        demand: ResourceDemand | None,
        gpus: Sequence[Gpu] | None,
    ) -> None:
        """Let a job start.

        Parameters
        ----------
        placed
            Its servers, each with the replicas there.
        demand
            Its demand; None without interference.
        gpus
            Its GPUs; None if schedules name no GPUs.
        """
        named = list(gpus) if gpus is not None else self._lowest_idle(placed)
        self._gpus[job], self._start[job] = named, time
        if demand is not None:
            replicas = dict(placed)
            self._sens[job] = self._seen(demand.sens)
            for server, own in zip(demand.servers, demand.own, strict=True):
                self._use[job, server] = [amount / replicas[server] for amount in self._seen(own)]
        for gpu in named:
            self._on.setdefault(gpu, []).append(job)
        self._count(named, 1)

    def complete(self, job: int) -> None:
        """Remove a job from its GPUs."""
        gpus = self._gpus.pop(job)
        for gpu in gpus:
            self._on[gpu].remove(job)
        self._count(gpus, -1)
        for server in {server for server, _ in gpus}:
            self._use.pop((job, server), None)
        self._sens.pop(job, None)
        del self._start[job]

    def started_at(self, job: int) -> int:
        """Return the start of a running job in ticks."""
        return self._start[job]

    def _lowest_idle(self, placed: Sequence[tuple[int, int]]) -> list[Gpu]:
        """Return the idle GPUs with the lowest numbers."""
        found: list[Gpu] = []
        for server, count in placed:
            idle = np.flatnonzero(self.num_on_gpu[server, : self.instance.num_gpus_of[server]] == 0)
            found += [(server, gpu) for gpu in idle[:count].tolist()]
        return found

    def _seen(self, amounts: Sequence[Amount]) -> list[float]:
        """Return the amounts of cpu, pcie and nic."""
        return [0.0 if column is None else float(amounts[column]) for column in self._columns]

    def _count(self, gpus: Sequence[Gpu], change: int) -> None:
        """Update the arrays; sums are recomputed so that nothing drifts."""
        for server, gpu in gpus:
            jobs = self._on[server, gpu]
            self.num_on_gpu[server, gpu] = len(jobs)
            self.starts[server, gpu] = sum(self._start[job] for job in jobs)
            if self.together is not None:
                self.use[server, gpu] = np.sum([self._use[job, server] for job in jobs], axis=0) if jobs else 0.0
                self.sens[server, gpu] = np.sum([self._sens[job] for job in jobs], axis=0) if jobs else 0.0
        for server in {server for server, _ in gpus}:
            self.num_jobs_on[server] += change
            if self.together is not None:
                self.load[server] = self._seen(self.together.load(server))
