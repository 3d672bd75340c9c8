"""The groups of GPUs that an agent may choose from for a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_variants import BestFit, LeastLoad, LoadBalance
from instances.jobs.interference import FULL_SPEED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heuristics.jobs.marl.partitions import Partitions
    from heuristics.jobs.placements.cluster_state import ClusterState
    from heuristics.jobs.placements.placement import JobPlacement
    from instances.jobs.co_location import CoLocation, Gpu, ResourceDemand

MAX_GROUPS = 8
"""Slots for groups of GPUs."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group:
    """One candidate placement of a job, and its effects.

    Parameters
    ----------
    placed
        Its servers, ascending, each with the number of replicas there.
    demand
        Demand of the job for their resources; None without interference.
    speed
        Speed that the job would have now, in per mille.
    loss
        Sum of the losses of speed of running jobs, in per mille.
    """

    placement: JobPlacement
    placed: tuple[tuple[int, int], ...]
    demand: ResourceDemand | None
    speed: int
    loss: int


class CandidateGroups:
    """Finds the groups of an agent for a job; ours: docs/methods/multi_agent.md, section 3.

    In this order, equal ones removed, the first eight: Heavy-Edge on all free GPUs of the agent; on those of each
    single kind, kinds ascending by the longest time of a stage; on the one server with the fewest free GPUs that holds
    the job; on the shortest prefix of servers that holds it, by share of busy GPUs, and by total load. Ties go to the
    lower number. A GPU is busy if any job is on it; it is free for a job that may share it. `together` has the current
    speeds; it is None without interference.
    """

    def __init__(self, partitions: Partitions, cluster: ClusterState, together: CoLocation | None) -> None:
        self._partitions, self._cluster, self._together = partitions, cluster, together
        self._instance = partitions.instance
        self._shape_of: list[int] = cluster.shapes.shape_of.tolist()
        self._heavy_edge, self._best_fit = HeavyEdge(self._instance), BestFit(self._instance)
        self._load_balance, self._least_load = LoadBalance(self._instance), LeastLoad(self._instance)
        for rule in (self._load_balance, self._least_load):
            rule.watch(cluster)
        self._placements: list[dict[int, list[JobPlacement]]] = [{} for _ in range(partitions.num_agents)]
        self._groups: list[dict[int, list[Group]]] = [{} for _ in range(partitions.num_agents)]

    def forget(self, agent: int) -> None:
        """Forget the groups of an agent, on whose servers a job has started or completed."""
        self._placements[agent].clear()
        self._groups[agent].clear()

    def of(self, job: int, agent: int) -> list[Group]:
        """Return the groups of an agent for a job; none where it has no placement."""
        if job not in self._groups[agent]:
            shape = self._shape_of[job]
            if shape not in self._placements[agent]:
                self._placements[agent][shape] = self._different(job, agent)
            self._groups[agent][job] = [self._group(job, found) for found in self._placements[agent][shape]]
        return self._groups[agent][job]

    def _different(self, job: int, agent: int) -> list[JobPlacement]:
        """Return the first different placements."""
        found: dict[tuple[bytes, bytes, bytes], JobPlacement] = {}
        for placement in self._in_order(job, agent):
            key = (placement.stage.tobytes(), placement.server.tobytes(), placement.count.tobytes())
            found.setdefault(key, placement)
            if len(found) == MAX_GROUPS:
                break
        return list(found.values())

    def _in_order(self, job: int, agent: int) -> Iterator[JobPlacement]:
        """Yield all placements in order."""
        instance, own = self._instance, self._partitions.servers_of(agent)
        free = np.zeros(instance.num_servers, dtype=np.int64)
        free[own] = self._cluster.free_for(job)[own]
        first = self._heavy_edge.place(job, free)
        if first is None:
            return
        yield first
        times = instance.time_of[instance.stages_of(job)]
        allowed, longest = np.all(times > 0, axis=0).tolist(), times.max(axis=0).tolist()
        present = [kind for kind in np.unique(instance.server_kind[own]).tolist() if allowed[kind]]
        for kind in sorted(present, key=lambda kind: (longest[kind], kind)):
            alone = self._heavy_edge.place(job, np.where(instance.server_kind == kind, free, 0))
            if alone is not None:
                yield alone
        fitted = self._best_fit.place(job, free)
        if fitted is not None and fitted.num_servers == 1:  # otherwise no server hosts the whole job
            yield fitted
        for rule in (self._load_balance, self._least_load):
            packed = rule.place(job, free)
            if packed is not None:
                yield packed

    def _group(self, job: int, placement: JobPlacement) -> Group:
        """Return a placement with its effects."""
        placed = tuple(placement.totals())
        if self._together is None:
            return Group(placement=placement, placed=placed, demand=None, speed=FULL_SPEED, loss=0)
        demand = placement.demand(self._instance, job)
        gpus: list[Gpu] = []
        if self._cluster.occupancy is not None:
            gpus = self._cluster.occupancy.choose_all(job, placed)
        speed, others = self._together.what_if(job, demand, gpus)
        loss = sum(before - then for before, then in others.values())
        return Group(placement=placement, placed=placed, demand=demand, speed=speed, loss=loss)
