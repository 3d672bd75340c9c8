"""Tests that an episode has every decision and the discounted rewards of the team between them."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import Variant, initial_parameters
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import round_rewards
from heuristics.jobs.marl.simulate_agents import simulate_agents
from heuristics.jobs.marl.training.recorded_episode import EpisodeRecorder
from heuristics.jobs.predictors.oracle import Oracle
from instances.jobs import Job, JobsInstance, JobsServer, Stage
from tests.heuristics.jobs.marl.seen import stream


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_rewards_between_decisions(gamma: float) -> None:
    """Tests reward and discount of every step against a loop over the ticks of the rounds; time adds up."""
    instance = stream("jobs-co-located", jobs=14)
    size = ObservationSize.of(Partitions(instance, 2))
    recorder = EpisodeRecorder()
    times: list[int] = []
    decider = NetworkDecider(
        initial_parameters(np.random.default_rng(7), size, Variant.FLAT),
        1000.0,
        Variant.FLAT,
        rng=np.random.default_rng(0),
        watch=lambda *what: (times.append(what[0].time), recorder(*what))[0],
    )
    run = simulate_agents(instance, decider, Oracle(instance), num_agents=2)
    assert run is not None
    episode = recorder.episode(run, kappa=1000.0, gamma=gamma)
    assert episode is not None
    starts = sorted(set(times))
    assert [starts[step] for step in episode.step] == times
    assert episode.num_decisions == len(times) == run.rounds.num_decisions == len(episode.seen.mask)
    assert episode.seen.mask[np.arange(len(times)), episode.slot].all()
    found = round_rewards(run)
    rounds = list(zip(found.times.tolist(), found.rewards(1000.0).sum(axis=1).tolist(), strict=True))
    end = int(run.simulation.completion.max())
    for step, (begin, until) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        expected = sum(reward * gamma ** ((time - begin) / 1000) for time, reward in rounds if begin <= time < until)
        assert episode.reward[step] == pytest.approx(expected)
        assert episode.discount[step] == pytest.approx(gamma ** ((until - begin) / 1000))
    assert episode.mean_jct == pytest.approx((run.simulation.completion - instance.release).mean())
    if gamma == 1:
        before = sum(reward for time, reward in rounds if time < starts[0])
        assert episode.reward.sum() + before == pytest.approx(-episode.mean_jct * instance.num_jobs / 1000)


def test_nothing_to_decide() -> None:
    """Tests that one job on one server, which has one place, makes no episode."""
    instance = JobsInstance.from_parts(
        [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [Job(stages=[Stage(times=3)])]
    )
    recorder = EpisodeRecorder()
    size = ObservationSize.of(Partitions(instance, 1))
    decider = NetworkDecider(initial_parameters(np.random.default_rng(0), size), 1.0, watch=recorder)
    run = simulate_agents(instance, decider, Oracle(instance), num_agents=1)
    assert run is not None
    assert recorder.episode(run, kappa=1.0, gamma=0.99) is None
