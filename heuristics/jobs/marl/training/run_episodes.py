"""Simulations for training, and for evaluation under true speeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.simulate_agents import simulate_agents
from heuristics.jobs.marl.training.recorded_episode import EpisodeRecorder
from heuristics.jobs.marl.training.teacher import Teacher
from heuristics.jobs.marl.training.training_speeds import at_training_speeds
from heuristics.jobs.predictors.predictor_named import predictor_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.interference_predictor import InterferencePredictor
    from heuristics.jobs.marl.agent_networks import AgentNetworks
    from heuristics.jobs.marl.decider import Decider
    from heuristics.jobs.marl.observation import ObservationSize
    from heuristics.jobs.marl.simulate_agents import AgentsRun
    from heuristics.jobs.marl.trained_network import TrainedNetwork
    from heuristics.jobs.marl.training.recorded_episode import RecordedEpisode
    from heuristics.jobs.marl.training.training_settings import TrainingSettings
    from heuristics.jobs.running_jobs import RunningJobs
    from instances.jobs.jobs_instance import JobsInstance

_DURATIONS = 1
"""Of the seed of predicted durations in evaluations, the same for every network."""


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
    """Return an episode at the speeds of training; None if nobody had anything to decide.

    Parameters
    ----------
    settings
        A, F, speeds, durations, gamma and reward.
    instance
        Of a training, with interference.
    rng
        Of slots and durations.
    kappa, size
        Of the observations.
    network
        Draws slots by its probabilities; None lets the teacher decide.
    predictor
        Of interference, where speeds are predicted.
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
    settings
        A, F and durations.
    instances
        Of any number of jobs but none.
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
    """Simulate, with the true model where there is no `running`."""
    run = simulate_agents(
        instance,
        decider,
        predictor_named(settings.durations, instance, for_durations),
        num_agents=settings.num_agents,
        max_forwards=settings.max_forwards,
        running=running,
    )
    assert run is not None  # nobody stops it
    return run
