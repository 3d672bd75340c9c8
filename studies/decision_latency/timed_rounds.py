"""Rounds of agents in a cluster that is busy from the start, with a clock for every part of a decision."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.groups import Group
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.rounds import Rounds
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from instances.jobs.interference import FULL_SPEED
from instances.jobs.racks import NO_RACK

if TYPE_CHECKING:
    from heuristics.jobs.cluster_state import ClusterState
    from heuristics.jobs.job_shapes import JobShapes
    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.groups import CandidateGroups
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.partitions import Partitions


@dataclass(slots=True, kw_only=True)
class Clock:
    """Seconds of decisions and rounds, in order, and the state that they were taken in.

    Seconds are those that a core spent on this thread, whatever else runs on the machine; `wall` alone is as on the
    wall.
    """

    groups: list[float] = field(default_factory=list)
    observation: list[float] = field(default_factory=list)
    network: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    """Of whole decisions."""
    summaries: list[float] = field(default_factory=list)
    """Of rounds in which somebody decided."""
    rounds: list[float] = field(default_factory=list)
    """The same rounds as a whole, with starts."""
    decisions_of_round: list[int] = field(default_factory=list)
    busy_share: list[float] = field(default_factory=list)
    """Of the GPUs, at the beginning of the same rounds."""
    waiting: list[int] = field(default_factory=list)
    """Jobs in queues then."""
    slots: list[int] = field(default_factory=list)


class TimedRounds(Rounds):
    """Rounds of which the first starts the jobs that run throughout, without asking anybody.

    They sit on racks drawn at random, each job on one, and so are the same for every number of agents. One that finds
    no place on any rack waits in its queue like others.

    Parameters
    ----------
    shapes, partitions
        See `Rounds`.
    decider
        Notes its own times with the same clock.
    rng
        Source of the racks.
    """

    def __init__(
        self, shapes: JobShapes, partitions: Partitions, decider: TimedDecider, rng: np.random.Generator
    ) -> None:
        """Begin idle."""
        super().__init__(shapes, partitions, decider)
        self.clock = decider.clock
        self._rng, self._is_filled = rng, False

    def begin(self, cluster: ClusterState) -> None:
        """Take the cluster, and the time of whoever asks for groups."""
        super().begin(cluster)
        self._groups = TimedGroups(self._groups)  # type: ignore[assignment]  # it answers the same questions

    def dispatch(self, time_: int) -> list[int]:
        """Hold a round and return the jobs that start; the first time, those that run throughout."""
        if not self._is_filled:
            self._is_filled = True
            return self._fill(time_)
        clock = self.clock
        before, waiting = len(clock.network), sum(map(len, self.queues))
        busy = 1 - self.cluster.free.sum() / self.instance.num_gpus
        begin = time.thread_time()
        started = super().dispatch(time_)
        seconds = time.thread_time() - begin
        if len(clock.network) == before:
            clock.summaries.pop()
        else:
            clock.rounds.append(seconds)
            clock.decisions_of_round.append(len(clock.network) - before)
            clock.busy_share.append(float(busy))
            clock.waiting.append(waiting)
        return started

    def last_groups(self) -> TimedGroups:
        """Return what has just found the groups of the decision that is asked for."""
        timed = self._groups
        assert isinstance(timed, TimedGroups)
        return timed

    def _fill(self, time_: int) -> list[int]:
        """Start the waiting jobs on racks at random."""
        self._started = []
        instance, rule = self.instance, HeavyEdge(self.instance)
        racks = instance.racks
        assert racks is not None  # a busy cluster has them
        members = [np.flatnonzero(racks.rack_of_server == rack) for rack in range(racks.num_racks)]
        assert not (racks.rack_of_server == NO_RACK).any()
        there = np.zeros(instance.num_servers, dtype=np.int64)
        for job in sorted(job for queue in self.queues for _, job in queue):
            for rack in self._rng.permutation(len(members)).tolist():
                own, free = members[rack], self.cluster.free
                if free[own].sum() < self.gang_size[job]:
                    continue
                there[own] = free[own]
                placement = rule.place(job, there)
                there[own] = 0
                if placement is None:
                    continue
                self.queues[self._owner[job]].remove((time_, job))
                agent = self._owner[job] = int(self.partitions.agent_of_server[own[0]])
                demand = placement.demand(instance, job)
                placed = tuple(placement.totals())
                group = Group(placement=placement, placed=placed, demand=demand, speed=FULL_SPEED, loss=0)
                self._start(agent, job, group, time_)
                break
        return self._started


class TimedGroups:
    """Candidate groups, and how long the last answer took; see `CandidateGroups`."""

    def __init__(self, groups: CandidateGroups) -> None:
        """Nothing was asked yet."""
        self._groups = groups
        self.seconds = self.wall = 0.0

    def forget(self, agent: int) -> None:
        """Pass it on."""
        self._groups.forget(agent)

    def of(self, job: int, agent: int) -> list[Group]:
        """Return the groups."""
        begin, on_wall = time.thread_time(), time.perf_counter()
        found = self._groups.of(job, agent)
        self.seconds, self.wall = time.thread_time() - begin, time.perf_counter() - on_wall
        return found


class TimedDecider(NetworkDecider):
    """A network that notes how long it looks and thinks; parameters as in `NetworkDecider`."""

    clock: Clock

    def begin_round(self, rounds: Rounds, time_: int) -> None:
        """Let the agents broadcast."""
        begin = time.thread_time()
        super().begin_round(rounds, time_)
        self.clock.summaries.append(time.thread_time() - begin)

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return a slot."""
        assert isinstance(rounds, TimedRounds)
        groups, begin = rounds.last_groups(), time.perf_counter()
        slot = super().decide(rounds, decision)
        self.clock.wall.append(groups.wall + time.perf_counter() - begin)
        self.clock.groups.append(groups.seconds)
        self.clock.slots.append(slot)
        return slot

    def observe(self, decision: Decision) -> Observation:
        """Return what the agent sees."""
        begin = time.thread_time()
        seen = super().observe(decision)
        self.clock.observation.append(time.thread_time() - begin)
        return seen

    def choose(self, decision: Decision, seen: Observation) -> int:
        """Return the network's slot."""
        begin = time.thread_time()
        slot = super().choose(decision, seen)
        self.clock.network.append(time.thread_time() - begin)
        return slot
