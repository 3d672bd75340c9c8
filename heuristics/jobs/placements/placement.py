"""The placement of one job, and the protocol of the rules that find placements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from instances.jobs.co_location import resource_demand

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from heuristics.jobs.placements.cluster_state import ClusterState
    from instances.jobs.co_location import ResourceDemand
    from instances.jobs.instance import JobsInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobPlacement:
    """The servers of all replicas of one job, within the free GPUs it was made for.

    Parameters
    ----------
    stage, server, count
        Replicas of each stage on each server that has some, in order of stage, then server, shape (entries,) each,
        int64, read-only. Stages are positions in the job's pipeline.
    comp
        comp(x), the time that the replicas compute per iteration, in ticks.
    comm
        comm(x), the time that servers exchange data per iteration, in ticks, exactly.
    """

    stage: NDArray[np.int64]
    server: NDArray[np.int64]
    count: NDArray[np.int64]
    comp: int
    comm: Fraction

    def __post_init__(self) -> None:
        """Take private, read-only copies; nothing is checked again."""
        for name in ("stage", "server", "count"):
            values = np.array(getattr(self, name), dtype=np.int64)
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @property
    def alpha(self) -> Fraction:
        """alpha(x), the time of one iteration in ticks, exactly."""
        return self.comp + self.comm

    @property
    def num_servers(self) -> int:
        """Number of servers that hold replicas."""
        return len(set(self.server.tolist()))

    def duration(self, iterations: int) -> int:
        """Return ceil(iterations * alpha) in ticks, exactly."""
        return iterations * self.comp - (-iterations * self.comm.numerator // self.comm.denominator)

    def take(self, free: NDArray[np.int64]) -> None:
        """Subtract its GPUs from the free ones, shape (servers,)."""
        np.subtract.at(free, self.server, self.count)

    def release(self, free: NDArray[np.int64]) -> None:
        """Add its GPUs to the free ones, shape (servers,)."""
        np.add.at(free, self.server, self.count)

    def totals(self) -> list[tuple[int, int]]:
        """Return the servers that hold replicas, ascending, each with the number of its replicas of all stages."""
        total: dict[int, int] = {}
        for server, count in zip(self.server.tolist(), self.count.tolist(), strict=True):
            total[server] = total.get(server, 0) + count
        return sorted(total.items())

    def by_server(self, num_stages: int) -> tuple[list[int], list[list[int]]]:
        """Return the servers that hold replicas, ascending, and for each stage its replicas on each of them."""
        servers = sorted(set(self.server.tolist()))
        column = {server: position for position, server in enumerate(servers)}
        counts = [[0] * len(servers) for _ in range(num_stages)]
        for stage, server, count in zip(self.stage.tolist(), self.server.tolist(), self.count.tolist(), strict=True):
            counts[stage][column[server]] = count
        return servers, counts

    def demand(self, instance: JobsInstance, job: int) -> ResourceDemand:
        """Return what the job asks of its servers, in an instance with interference."""
        servers, counts = self.by_server(instance.num_stages_of(job))
        return resource_demand(instance, job, servers, counts)

    def matrix(self, num_stages: int, num_servers: int) -> NDArray[np.int64]:
        """Return the replicas by stage and server, shape (stages of the job, servers)."""
        placed = np.zeros((num_stages, num_servers), dtype=np.int64)
        placed[self.stage, self.server] = self.count
        return placed


class Placer(Protocol):
    """Finds servers for one job at a time; every rule is complete: it finds a placement whenever one exists."""

    def watch(self, cluster: ClusterState) -> None:
        """Receive the cluster on which jobs will be placed, for rules that look at more than free GPUs."""
        ...

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none.

        `free`, which is not changed, has the free GPUs of each server, shape (servers,), int64. Raises a `ValueError`
        if it has another shape or type.
        """
        ...
