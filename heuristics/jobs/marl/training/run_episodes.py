"""Simulations for training and for evaluation under true speeds, and the rule that networks imitate first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observer import Observer
from heuristics.jobs.marl.training.instances import at_training_speeds
from heuristics.jobs.marl.training.recorded_episodes import EpisodeRecorder
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.predictors.predictor import predictor_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.predictor import InterferencePredictor
    from heuristics.jobs.marl.environment import AgentsRun
    from heuristics.jobs.marl.network_decider import Watch
    from heuristics.jobs.marl.network_files import AgentNetworks, TrainedNetwork
    from heuristics.jobs.marl.observation import ObservationSize
    from heuristics.jobs.marl.rounds import Decider, Decision, Rounds
    from heuristics.jobs.marl.training.recorded_episodes import RecordedEpisode
    from heuristics.jobs.marl.training.settings import TrainingSettings
    from heuristics.jobs.placements.running_jobs import RunningJobs
    from instances.jobs.instance import JobsInstance


class Teacher:
    """Starts jobs by predicted duration in their first groups; others wait. See docs/methods/multi_agent.md, section 8.

    Agents are asked by (arrival, number), not by predicted duration. Therefore at the beginning of a round every queue
    is walked by (predicted duration, arrival, number) with Heavy-Edge, the first group, on the GPUs that are free then;
    when asked, jobs that found a placement there take their first group, others wait (ours). If waiting is not allowed,
    the first group is taken. No job is forwarded.

    Parameters
    ----------
    watch
        Receives every decision; may be None.
    kappa, size
        Unit of time and size of the observations for `watch`, see `Observer`.
    """

    def __init__(self, watch: Watch | None = None, kappa: float = 1.0, size: ObservationSize | None = None) -> None:
        self._watch, self._kappa, self._size = watch, kappa, size
        self._observer: Observer | None = None
        self._rule: HeavyEdge | None = None
        self._chosen: set[int] = set()

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Walk the queues."""
        if self._watch is not None:
            if self._observer is None:
                self._observer = Observer(rounds, self._kappa, self._size)
            self._observer.begin_round(time)
        if self._rule is None:
            self._rule = HeavyEdge(rounds.instance)
        self._chosen = set()
        for agent in range(rounds.num_agents):
            self._walk(rounds, agent, self._rule)

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return the first group of a job that found a placement, else the last slot, which means waiting."""
        may_wait, has_group = bool(decision.mask[-1]), bool(decision.groups)
        slot = 0 if has_group and (decision.job in self._chosen or not may_wait) else len(decision.mask) - 1
        if self._watch is not None and self._observer is not None:
            self._watch(decision, self._observer.observe(decision), slot)
        return slot

    def _walk(self, rounds: Rounds, agent: int, rule: HeavyEdge) -> None:
        """Find the jobs of a queue that start; jobs of one round never share a GPU (ours)."""
        own = rounds.partitions.servers_of(agent)
        taken = np.zeros(rounds.instance.num_servers, dtype=np.int64)
        for _, _, job in sorted((rounds.predicted_ticks[job], time, job) for time, job in rounds.queues[agent]):
            free = np.zeros_like(taken)
            free[own] = np.maximum(rounds.cluster.free_for(job)[own] - taken[own], 0)
            if free.sum() < rounds.gang_size[job]:
                continue
            placement = rule.place(job, free)
            if placement is not None:
                placement.release(taken)  # adds its replicas
                self._chosen.add(job)


_DURATIONS = 1
"""Part of the seed of predicted durations in evaluations, the same for every network."""


def training_episode(
    settings: TrainingSettings,
    instance: JobsInstance,
    rng: np.random.Generator,
    *,
    kappa: float,
    size: ObservationSize,
    network: TrainedNetwork | None,
    predictor: InterferencePredictor | None,
) -> RecordedEpisode | None:
    """Return an episode at the speeds of training; None if there was no decision.

    Parameters
    ----------
    instance
        Instance with interference.
    network
        Draws slots by its probabilities; None lets the teacher decide.
    predictor
        Predictor of interference, needed if speeds are predicted.
    """
    instance, running = at_training_speeds(settings, instance, predictor)
    recorder = EpisodeRecorder()
    for_slots, for_durations = rng.spawn(2)
    decider: Decider
    if network is None:
        decider = Teacher(recorder, kappa, size)
    else:
        decider = NetworkDecider(network.parameters, kappa, network.variant, size=size, rng=for_slots, watch=recorder)
    run = _simulated(settings, instance, decider, for_durations, running)
    episode = recorder.episode(run, kappa=kappa, gamma=settings.gamma, reward=settings.reward)
    if episode is not None and not settings.offers:
        episode.seen.offers[:] = 0
    return episode


def mean_jcts(
    settings: TrainingSettings, instances: Sequence[JobsInstance], network: TrainedNetwork | AgentNetworks | None
) -> NDArray[np.float64]:
    """Return the mean JCT of each instance in ticks, shape (instances,): greedily and under true speeds.

    Parameters
    ----------
    instances
        Instances with at least one job.
    network
        Decides greedily; None for the teacher.
    """
    found = []
    for number, instance in enumerate(instances):
        decider: Decider = Teacher()
        if network is not None:
            decider = NetworkDecider(network.parameters, network.kappa, network.variant, size=None)
        run = _simulated(settings, instance, decider, np.random.default_rng([_DURATIONS, number]))
        found.append(float((run.simulation.completion - instance.release).mean()))
    return np.array(found)


def _simulated(
    settings: TrainingSettings,
    instance: JobsInstance,
    decider: Decider,
    for_durations: np.random.Generator,
    running: RunningJobs | None = None,
) -> AgentsRun:
    """Simulate, with the true model if `running` is None."""
    run = simulate_agents(
        instance,
        decider,
        predictor_named(settings.durations, instance, for_durations),
        num_agents=settings.num_agents,
        max_forwards=settings.max_forwards,
        running=running,
    )
    assert run is not None  # no callback stops it
    return run
