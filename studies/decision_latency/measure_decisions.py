"""Measures the decisions of agents in a busy cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import initial_parameters
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.predictors.oracle import Oracle
from heuristics.jobs.simulator import Simulator
from studies.decision_latency.busy_cluster import BURST, BURST_TICKS, RUN_TICKS, busy_cluster
from studies.decision_latency.timed_rounds import Clock, TimedDecider, TimedRounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

WARM_UP = 2 * BURST
"""Decisions that are taken before and not counted: the first calls compile and fill caches."""

MAX_DECISIONS = BURST * (RUN_TICKS // BURST_TICKS) // 2
"""More would outlast the jobs that run throughout."""

KAPPA = 1e6
"""Unit of time of observations in ticks; times of decisions do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeasuredDecisions:
    """Decisions of one number of servers and agents, after the warm-up.

    Parameters
    ----------
    num_servers, num_gpus, num_agents
        Of the cluster and on it.
    groups, observation, network
        Seconds of a core in each decision for candidate placements, observation and forward pass, shape (decisions,).
    wall
        Seconds on the wall of whole decisions, shape (decisions,); more than those of a core where others want it too.
    rounds, summaries
        Seconds of a core in each round in which somebody decided, one agent after the other on one thread, with starts;
        and of the summaries that all agents make at its beginning; shape (rounds,).
    decisions_of_round
        Shape (rounds,).
    busy_share, waiting
        Share of busy GPUs and jobs in queues at the beginning of rounds, shape (rounds,).
    slots
        That were chosen, of all decisions from the first of the warm-up on.
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
        """Seconds of a core for all that an agent does in each decision, shape (decisions,)."""
        return self.groups + self.observation + self.network


def measure_decisions(num_servers: int, num_agents: int, decisions: int, seed: int) -> MeasuredDecisions:
    """Measure decisions of agents with random parameters, whose values change no time; on one thread.

    Three quarters of the GPUs are taken throughout; now and then sixteen jobs arrive at once, see `busy_cluster`. All
    but time is the same for the same arguments.

    Parameters
    ----------
    num_servers, num_agents
        M and A.
    decisions
        To measure, after the warm-up; the round of the last one is finished.
    seed
        Of jobs, racks, parameters and slots.

    Raises
    ------
    ValueError
        If `decisions` is not in 1 to `MAX_DECISIONS`, or there are too many agents for the servers.
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
