"""Decisions of agents in clusters that are busy from the start, with a clock for each part of a decision."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.groups import Group
from heuristics.jobs.marl.network import initial_parameters
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.rounds import Rounds
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.predictors.simple_predictors import Oracle
from heuristics.jobs.simulator import Simulator
from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.co_located import co_located, draw_racks
from instances.jobs.instance import JobsInstance
from instances.jobs.interference import FULL_SPEED
from instances.jobs.servers import NO_RACK, JobsServer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.groups import CandidateGroups
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.rounds import Decision
    from heuristics.jobs.placements.cluster_state import ClusterState
    from instances.generators.jobs.generate import JobStream
    from instances.jobs.instance import Job


GPUS_PER_SERVER, SERVERS_PER_RACK = 8, 4

CLUSTER, MAX_GANG, TICK_SECONDS = "mixed-64", 16, 1e-3
"""Cluster whose kinds of GPU the servers have in turn, largest gang, and length of a tick, for the generated jobs."""

BUSY_SHARE = Fraction(3, 4)
"""Share of the GPUs that jobs occupy from start to end."""

BURST, BURST_TICKS = 16, 10_000
"""Jobs that arrive at once, and ticks between arrivals, which suffice to complete one iteration."""

RUN_TICKS = 400_000
"""Least duration of the jobs that occupy GPUs from start to end."""

_MODELS = 500
"""Number of different generated jobs; further jobs are copies of these, as with recurring jobs."""

_UPLINK_OVERSUBSCRIPTION = 4.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BusyCluster:
    """An instance whose first `num_running` jobs run from tick 0 to the end, larger gangs first.

    They are followed by `arrivals` jobs of one iteration, `BURST` of them every `BURST_TICKS`.
    """

    instance: JobsInstance
    num_running: int


def busy_cluster(num_servers: int, arrivals: int, seed: int) -> BusyCluster:
    """Return servers of eight GPUs of one of four kinds in turn, four servers to a rack, and jobs that interfere; ours.

    Jobs are those of ``jobs-co-located`` with gangs of 1 to 16 GPUs. They are the same for every number of servers;
    only the number of running jobs differs. `arrivals` is the number of jobs to decide on. Raises a `ValueError` if
    there are no servers or no arrivals.
    """
    if num_servers < 1:
        raise ValueError(f"num_servers: expected at least 1, got {num_servers}.")
    if arrivals < 1:
        raise ValueError(f"arrivals: expected at least 1, got {arrivals}.")
    stream = _stream(seed)
    like = [(server.kinds[0].name, server.nic_bandwidth) for server in parse_cluster(CLUSTER).servers[::2]]
    servers = []
    for server in range(num_servers):
        kind, bandwidth = like[server % len(like)]
        bytes_per_tick = Fraction(round(bandwidth)) * Fraction(repr(TICK_SECONDS))
        servers.append(JobsServer(kind=kind, gpus=GPUS_PER_SERVER, nic_bytes_per_tick=bytes_per_tick))
    gangs = np.array([sum(stage.replicas for stage in job.stages) for job in stream.jobs])
    wanted = int(BUSY_SHARE * num_servers * GPUS_PER_SERVER)
    number = np.arange(max(1, wanted)) % _MODELS  # a gang has at least one GPU
    running = number[: np.searchsorted(gangs[number].cumsum(), wanted, side="right")]
    running = running[np.argsort(-gangs[running], kind="stable")]
    arriving = np.arange(len(running), len(running) + arrivals) % _MODELS
    jobs: list[Job] = [_long(stream.jobs[each]) for each in running.tolist()]
    for position, each in enumerate(arriving.tolist()):
        release = 1 + BURST_TICKS * (position // BURST)
        jobs.append(dataclasses.replace(stream.jobs[each], iterations=1, release=release))
    chosen, interference = np.concatenate([running, arriving]), stream.interference
    assert interference is not None  # the family has it
    instance = JobsInstance.from_parts(
        servers,
        jobs,
        name=f"busy-{num_servers}-servers",
        tick_seconds=TICK_SECONDS,
        interference=dataclasses.replace(
            interference,
            use=interference.use[chosen],
            sens=interference.sens[chosen],
            job_class=interference.job_class[chosen],
        ),
        racks=draw_racks(servers, SERVERS_PER_RACK, _UPLINK_OVERSUBSCRIPTION),
    )
    return BusyCluster(instance=instance, num_running=len(running))


def _long(job: Job) -> Job:
    """Return a job that runs for `RUN_TICKS` or more: no iteration is shorter than a stage on its fastest kind."""
    fastest = [min(filter(None, stage.times.values())) for stage in job.stages if not isinstance(stage.times, int)]
    return dataclasses.replace(job, iterations=-(-RUN_TICKS // max(fastest)))


@cache
def _stream(seed: int) -> JobStream:
    """Return generated jobs."""
    cluster = parse_cluster(CLUSTER)
    return co_located(np.random.default_rng(seed), cluster, TICK_SECONDS, jobs=_MODELS, max_gang=MAX_GANG)


WARM_UP = 2 * BURST
"""Decisions before the measurement: the first calls compile and fill caches."""

MAX_DECISIONS = BURST * (RUN_TICKS // BURST_TICKS) // 2
"""More decisions would outlast the jobs that occupy GPUs from start to end."""

KAPPA = 1e6
"""Unit of time of observations in ticks; times of decisions do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeasuredDecisions:
    """Decisions of one number of servers and agents, after the warm-up.

    Parameters
    ----------
    groups, observation, network
        Core time in seconds of each decision for candidate placements, observation and forward pass, shape
        (decisions,).
    wall
        Wall time in seconds of whole decisions, shape (decisions,); more than core time on a machine that is shared.
    rounds, summaries
        Core time in seconds of each round with a decision, with the agents one after the other on one thread and
        including starts; and of the summaries that all agents make at its beginning; shape (rounds,).
    decisions_of_round
        Shape (rounds,).
    busy_share, waiting
        Share of busy GPUs and jobs in queues at the beginning of rounds, shape (rounds,).
    slots
        Chosen slots of all decisions, including the warm-up.
    """

    num_servers: int
    num_gpus: int
    num_agents: int
    groups: NDArray[np.float64]
    observation: NDArray[np.float64]
    network: NDArray[np.float64]
    wall: NDArray[np.float64]
    rounds: NDArray[np.float64]
    summaries: NDArray[np.float64]
    decisions_of_round: NDArray[np.int64]
    busy_share: NDArray[np.float64]
    waiting: NDArray[np.int64]
    slots: tuple[int, ...]

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Core time in seconds of everything that an agent does in each decision, shape (decisions,)."""
        return self.groups + self.observation + self.network


def measure_decisions(num_servers: int, num_agents: int, decisions: int, seed: int) -> MeasuredDecisions:
    """Measure decisions of agents with random parameters, whose values change no time; on one thread.

    Three quarters of the GPUs are always busy, and sixteen jobs at a time arrive, see `busy_cluster`. Only the times
    differ between calls with the same arguments. `decisions` are measured after the warm-up; the round of the last one
    is finished. Raises a `ValueError` if their number is not in 1 to `MAX_DECISIONS`, or there are too many agents for
    the servers.
    """
    if not 1 <= decisions <= MAX_DECISIONS:
        raise ValueError(f"decisions: expected 1 to {MAX_DECISIONS}, got {decisions}.")
    from threadpoolctl import threadpool_limits

    busy = busy_cluster(num_servers, arrivals=WARM_UP + decisions + BURST, seed=seed)
    instance = busy.instance
    try:
        partitions = Partitions(instance, num_agents)
    except ValueError as error:
        expected = f"racks of their own, and one that can host every job, on {num_servers} servers"
        raise ValueError(f"agents: expected {expected}, got {num_agents} agents.") from error
    for_racks, for_weights, for_slots = np.random.default_rng(seed).spawn(3)
    parameters = initial_parameters(for_weights, ObservationSize.of(partitions))
    decider = TimedDecider(parameters, KAPPA, rng=for_slots)
    clock = decider.clock = Clock()
    rounds = TimedRounds(JobShapes(instance), partitions, decider, for_racks)
    simulator = Simulator(instance, rounds, Oracle(instance), HeavyEdge(instance))
    warm = None
    with threadpool_limits(1):
        for time in simulator.ticks():
            rounds.dispatch(time)
            if warm is None and len(clock.network) >= WARM_UP:
                warm = len(clock.network), len(clock.rounds)
            elif warm is not None and len(clock.network) >= warm[0] + decisions:
                break
    if warm is None or len(clock.network) < warm[0] + decisions:
        raise RuntimeError(f"decisions: expected {decisions} after the warm-up, got {len(clock.network)} with it.")
    first, first_round = warm
    return MeasuredDecisions(
        num_servers=num_servers,
        num_gpus=instance.num_gpus,
        num_agents=num_agents,
        groups=np.array(clock.groups[first:]),
        observation=np.array(clock.observation[first:]),
        network=np.array(clock.network[first:]),
        wall=np.array(clock.wall[first:]),
        rounds=np.array(clock.rounds[first_round:]),
        summaries=np.array(clock.summaries[first_round:]),
        decisions_of_round=np.array(clock.decisions_of_round[first_round:], dtype=np.int64),
        busy_share=np.array(clock.busy_share[first_round:]),
        waiting=np.array(clock.waiting[first_round:], dtype=np.int64),
        slots=tuple(clock.slots),
    )


@dataclass(slots=True, kw_only=True)
class Clock:
    """Seconds of decisions and rounds, in order, and the state of the cluster at each round.

    All times but `wall` are core time of this thread, which does not depend on what else the machine runs.
    """

    groups: list[float] = field(default_factory=list)
    observation: list[float] = field(default_factory=list)
    network: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    """Whole decisions."""
    summaries: list[float] = field(default_factory=list)
    """Rounds with a decision."""
    rounds: list[float] = field(default_factory=list)
    """Whole rounds with a decision, including starts."""
    decisions_of_round: list[int] = field(default_factory=list)
    busy_share: list[float] = field(default_factory=list)
    """Share of busy GPUs at the beginning of these rounds."""
    waiting: list[int] = field(default_factory=list)
    """Jobs in queues at the same time."""
    slots: list[int] = field(default_factory=list)


class TimedRounds(Rounds):
    """Rounds of which the first starts the jobs that run from start to end, without asking an agent.

    Each job is placed on one rack drawn at random, so that placements are the same for every number of agents. A job
    that fits on no rack waits in its queue.

    Parameters
    ----------
    decider
        Records its own times with the same clock.
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
        """Take the cluster, and time every request for groups."""
        super().begin(cluster)
        self._groups = TimedGroups(self._groups)  # type: ignore[assignment]  # it answers the same questions

    def dispatch(self, time_: int) -> list[int]:
        """Hold a round and return the jobs that start; the first round starts those that run from start to end."""
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
        """Return the object that has just found the groups of the current decision."""
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
        """Start without a measurement."""
        self._groups = groups
        self.seconds = self.wall = 0.0

    def forget(self, agent: int) -> None:
        """Forget the groups of an agent."""
        self._groups.forget(agent)

    def of(self, job: int, agent: int) -> list[Group]:
        """Return the groups."""
        begin, on_wall = time.thread_time(), time.perf_counter()
        found = self._groups.of(job, agent)
        self.seconds, self.wall = time.thread_time() - begin, time.perf_counter() - on_wall
        return found


class TimedDecider(NetworkDecider):
    """A network that records the times of its observations and forward passes; parameters as in `NetworkDecider`."""

    clock: Clock

    def begin_round(self, rounds: Rounds, time_: int) -> None:
        """Let the agents send their summaries."""
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
        """Return the observation of the agent."""
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
