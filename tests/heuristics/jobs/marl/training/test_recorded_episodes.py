"""Tests that advantages of instances weigh alike, whatever their returns."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.network import Variant, initial_parameters
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import round_rewards
from heuristics.jobs.marl.training.recorded_episodes import (
    EpisodeRecorder,
    RecordedEpisode,
    ValueScale,
    decision_targets,
    lambda_returns,
    mean_of_others,
    scale_of,
)
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from tests.heuristics.jobs.marl.seen import stream


def test_a_single_decision_does_not_drown_others() -> None:
    """Tests instances of one job, with an episode each: advantages of 1e8 would leave gradients of nobody else."""
    assert scale_of(np.array([-40.0])) == 40
    assert scale_of(np.zeros(3)) == 1
    assert scale_of(np.array([-3.0, 3.0])) == 3


def plain_advantages(reward: list[float], discount: list[float], value: list[float], decay: float) -> list[float]:
    """Return the generalised advantage estimates as a double sum over temporal differences."""
    ahead = [*value[1:], 0.0]
    delta = [r + d * then - now for r, d, now, then in zip(reward, discount, value, ahead, strict=True)]
    found = []
    for first in range(len(reward)):
        total, factor = 0.0, 1.0
        for step in range(first, len(reward)):
            total += factor * delta[step]
            factor *= discount[step] * decay
        found.append(total)
    return found


@pytest.mark.parametrize("decay", [0.0, 0.6, 0.95, 1.0])
def test_against_a_plain_transcription(decay: float) -> None:
    """Tests returns less values against the sum of temporal differences."""
    rng = np.random.default_rng(4)
    reward, value = rng.normal(size=9), rng.normal(size=9)
    discount = rng.uniform(0.3, 1.0, 9)
    found = lambda_returns(reward, discount, value, decay) - value
    assert found == pytest.approx(plain_advantages(reward.tolist(), discount.tolist(), value.tolist(), decay))


def test_ends_of_lambda() -> None:
    """Tests three steps by hand: lambda 1 is what was earned, lambda 0 looks one step ahead."""
    reward, discount, value = np.array([-1.0, -2.0, -4.0]), np.array([0.5, 0.25, 0.9]), np.array([3.0, 5.0, 7.0])
    assert lambda_returns(reward, discount, value, 1.0).tolist() == [-1 + 0.5 * (-2 + 0.25 * -4), -2 + 0.25 * -4, -4]
    assert lambda_returns(reward, discount, value, 0.0).tolist() == [-1 + 0.5 * 5, -2 + 0.25 * 7, -4]


def test_decisions_of_a_step_share_its_target() -> None:
    """Tests that the value of a step is the mean over its decisions, and all of them have its return."""
    episode = RecordedEpisode(
        seen=None,  # type: ignore[arg-type]  # not looked at
        slot=np.zeros(3, dtype=np.int32),
        step=np.array([0, 1, 1]),
        time=np.array([0, 10]),
        reward=np.array([-1.0, -2.0]),
        discount=np.array([0.5, 0.5]),
        mean_jct=1.0,
    )
    found = decision_targets(episode, np.array([9.0, 4.0, 8.0]), 0.5)
    assert found.tolist() == [-1 + 0.5 * (0.5 * 6 + 0.5 * -2), -2, -2]


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


def test_three_episodes_by_hand() -> None:
    """Tests values between, before and after the steps of the others."""
    times = [np.array([0, 10]), np.array([5]), np.array([2, 4, 20])]
    gains = [np.array([1.0, 3.0]), np.array([8.0]), np.array([0.0, 2.0, -6.0])]
    found = mean_of_others(times, gains)
    assert found[0].tolist() == [(8 + 0) / 2, (8 + 2 - 8 * 6 / 16) / 2]
    assert found[1].tolist() == [(2 + 2 - 8 * 1 / 16) / 2]
    assert found[2].tolist() == [(1.4 + 8) / 2, (1.8 + 8) / 2, (3 + 8) / 2]


def test_an_episode_alone_has_none() -> None:
    """Tests one episode, and that a baseline does not change with the episode's own gains."""
    times = [np.array([0, 10]), np.array([3, 6])]
    one = mean_of_others(times, [np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    two = mean_of_others(times, [np.array([9.0, 9.0]), np.array([3.0, 4.0])])
    assert one[0].tolist() == two[0].tolist()
    assert one[1].tolist() != two[1].tolist()
    assert mean_of_others(times[:1], [np.array([1.0, 2.0])])[0].tolist() == [0.0, 0.0]


def test_there_and_back() -> None:
    """Tests returns of mean 5 and deviation 3, the scale that changes nothing, and returns that are all alike."""
    returns = np.array([2.0, 8.0])
    scale = ValueScale.of(returns)
    assert scale == (5, 3)
    assert scale.values(returns).tolist() == [-1, 1]
    assert scale.returns(np.array([-1.0, 1.0])).tolist() == [2, 8]
    assert ValueScale().values(returns).tolist() == ValueScale().returns(returns).tolist() == [2, 8]
    assert ValueScale.of(np.full(3, 7.0)).values(np.full(3, 7.0)).tolist() == [0, 0, 0]
