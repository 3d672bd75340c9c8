"""Tests that the environment is PettingZoo's, schedules as the agents do, and rewards what the total JCT says."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils import parallel_to_aec

from heuristics.jobs.marl import environment
from heuristics.jobs.marl.environment import AgentsRun, parallel_env, simulate_agents
from heuristics.jobs.marl.network import Variant, embed, initial_parameters, scores
from heuristics.jobs.marl.observation import Observation, ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import round_rewards, time_scale
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.marl.seen import stream, watched_run
from tests.interference_strategies import interfering_instances
from tests.jobs_strategies import jobs_instances

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.jobs.marl.jobs_environment import JobsEnvironment
    from heuristics.jobs.marl.rounds import Decision, Rounds

KAPPA = 7.0


class Mixer:
    """Decides by agent, job, tick and what is possible, so that the order of the agents does not matter."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def slot(self, agent: int, job: int, time: int, mask: np.ndarray) -> int:
        """Return a slot."""
        return int(np.random.default_rng([self.seed, agent, job, time]).choice(np.flatnonzero(mask)))

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Remember nothing."""

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return a slot."""
        return self.slot(decision.agent, decision.job, decision.time, decision.mask)


def play(
    env: JobsEnvironment, choose: Callable[[int, dict[str, Any], dict[str, Any]], int], seed: int | None = None
) -> tuple[list[dict[str, dict[str, Any]]], list[dict[str, float]]]:
    """Play an episode and return infos (also those of the reset) and rewards."""
    observations, infos = env.reset(seed=seed)
    all_infos, all_rewards = [infos], []
    while env.agents:
        actions = {name: choose(agent, observations[name], infos[name]) for agent, name in enumerate(env.agents)}
        for name, seen in observations.items():
            assert env.observation_space(name).contains(seen)
            assert env.action_space(name).contains(actions[name])
            if infos[name]["job"] is None:
                assert np.flatnonzero(seen["action_mask"]).tolist() == [env.size.num_slots - 1]
                assert not any(array.any() for array in seen["observation"].values())
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert set(terminations.values()) == {not env.agents}
        assert set(truncations.values()) == {False}
        all_infos.append(infos)
        all_rewards.append(rewards)
    return all_infos, all_rewards


def check_same(env: JobsEnvironment, run: AgentsRun, infos: list[dict[str, dict[str, Any]]]) -> None:
    """Check that an episode did what the agents did, and that its rewards are those of the run."""
    done, wanted = env.simulation, run.simulation
    assert done is not None
    for name in ("start", "entry_server", "entry_count"):
        assert getattr(done.schedule, name).tolist() == getattr(wanted.schedule, name).tolist()
    assert (done.schedule.gpu is None) == (wanted.schedule.gpu is None)
    if done.schedule.gpu is not None and wanted.schedule.gpu is not None:
        assert done.schedule.gpu.tolist() == wanted.schedule.gpu.tolist()
    assert done.completion.tolist() == wanted.completion.tolist()
    assert verify_jobs_schedule(run.rounds.instance, done.schedule) == []
    found = round_rewards(run)
    by_agent = (found.unfinished * found.ticks[:, None]).sum(axis=0).tolist()
    assert [sum(step[name]["job_ticks"] for step in infos) for name in env.possible_agents] == by_agent
    assert sum(by_agent) == infos[-1]["agent_0"]["total_jct"]
    assert sum(step["agent_0"]["ticks"] for step in infos) == found.ticks.sum()


@settings(max_examples=60, deadline=None)
@given(
    instance=st.one_of(
        jobs_instances(max_jobs=6, max_servers=4, max_gpus=4),
        interfering_instances(max_jobs=6, max_servers=4, max_gpus=3),
    ),
    num_agents=st.sampled_from([1, 2, 3]),
    max_forwards=st.sampled_from([0, 1, 3]),
    seed=st.integers(0, 9),
)
def test_schedule_of_any_decisions(instance: JobsInstance, num_agents: int, max_forwards: int, seed: int) -> None:
    """Tests that agents that decide together do what they do one after another, and that rewards sum to the JCT."""
    try:
        Partitions(instance, num_agents)
    except ValueError:
        assume(False)
    mixer = Mixer(seed)
    run = simulate_agents(instance, mixer, Oracle(instance), num_agents=num_agents, max_forwards=max_forwards)
    assert run is not None
    env = parallel_env(instance, num_agents=num_agents, max_forwards=max_forwards, kappa=KAPPA, is_strict=True)
    wait = env.size.num_slots - 1

    def choose(agent: int, seen: dict[str, Any], info: dict[str, Any]) -> int:
        return wait if info["job"] is None else mixer.slot(agent, info["job"], info["time"], seen["action_mask"])

    infos, rewards = play(env, choose)
    check_same(env, run, infos)
    decided = sum(info["job"] is not None for step in infos for info in step.values())
    assert decided == run.rounds.num_decisions
    jct = run.simulation.completion - instance.release
    assert -KAPPA * sum(sum(step.values()) for step in rewards) == pytest.approx(jct.sum())


@pytest.mark.whole
@pytest.mark.parametrize("family", ["jobs-co-located", "jobs-shared-gpus"])
def test_schedule_of_a_network(family: str) -> None:
    """Tests that a network that sees nothing but the observations schedules as it does in a simulation."""
    instance = stream(family, jobs=12, seed=3)
    run, watched = watched_run(instance, 4, Variant.INNER_OUTER, seed=None)
    env = parallel_env(instance, num_agents=4)
    parameters = initial_parameters(np.random.default_rng(7), env.size, Variant.INNER_OUTER)

    def choose(agent: int, given: dict[str, Any], info: dict[str, Any]) -> int:
        seen = Observation(**given["observation"], mask=given["action_mask"] == 1)
        return int(scores(np, parameters, seen, embed(np, parameters, seen, Variant.INNER_OUTER)).argmax())

    infos, _ = play(env, choose)
    check_same(env, run, infos)
    assert env.kappa == time_scale([instance])
    assert run.rounds.forwards
    asked = [sum(info["job"] is not None for info in step.values()) for step in infos]
    assert sum(asked) == len(watched)
    assert max(asked) > 1
    assert infos[-1]["agent_0"]["mean_jct"] == (run.simulation.completion - instance.release).mean()


def test_weighted_rewards() -> None:
    """Tests by hand two weighted jobs on one GPU, of which the second waits: 2 * 4 + 5 * (8 - 1)."""
    jobs = [Job(stages=[Stage(times=4)], release=r, weight=w) for r, w in ((10, 2), (11, 5))]
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], jobs)
    env = parallel_env(instance, num_agents=1, kappa=1.0, is_weighted=True)
    infos, rewards = play(env, lambda *_: 8)
    assert [step["agent_0"] for step in rewards] == [-(2 * 4 + 5 * 7)]
    assert (infos[-1]["agent_0"]["total_jct"], infos[-1]["agent_0"]["mean_jct"]) == (43, 5.5)
    assert (infos[-1]["agent_0"]["time"], infos[-1]["agent_0"]["ticks"]) == (18, 8)
    assert env.simulation is not None


def two_servers(num_jobs: int) -> JobsInstance:
    """Return jobs of one GPU that all arrive at once, for two servers of one GPU."""
    servers = [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)] * 2
    return JobsInstance.from_parts(servers, [Job(stages=[Stage(times=10)])] * num_jobs)


def test_agents_decide_together() -> None:
    """Tests by hand that both agents take their first decision in one step, and what a masked action becomes.

    Four jobs at 0, homes 0, 1, 0, 1; slots: 8 groups, forward, wait. Both agents have one group and may not wait: wait
    becomes the group. Then both have a job without a group: one forwards, the other waits. In the second pass agent 1
    has the forwarded job, with no group and no further forward: nobody is asked. At 10 it starts unasked, for nothing
    runs there any more, and job 3 waits beside it. At 20 that must start or be forwarded, and is forwarded.
    """
    env = parallel_env(two_servers(4), num_agents=2, kappa=10.0)
    observations, infos = env.reset()
    assert [infos[name]["job"] for name in env.agents] == [0, 1]
    assert [np.flatnonzero(observations[name]["action_mask"]).tolist() for name in env.agents] == [[0, 8]] * 2
    observations, rewards, _, _, infos = env.step({"agent_0": 9, "agent_1": 0})
    assert [infos[name]["is_replaced"] for name in env.agents] == [True, False]
    assert [infos[name]["job"] for name in env.agents] == [2, 3]
    assert rewards == {"agent_0": 0.0, "agent_1": 0.0}
    assert [np.flatnonzero(observations[name]["action_mask"]).tolist() for name in env.agents] == [[8, 9]] * 2
    observations, rewards, _, _, infos = env.step({"agent_0": 8, "agent_1": 9})
    assert [infos[name]["time"] for name in env.agents] == [10, 10]
    assert [infos[name]["job"] for name in env.agents] == [None, 3]
    assert [infos[name]["is_replaced"] for name in env.agents] == [False, False]
    assert rewards == {"agent_0": -1.0, "agent_1": -3.0}
    assert np.flatnonzero(observations["agent_1"]["action_mask"]).tolist() == [8, 9]
    observations, rewards, _, _, infos = env.step({"agent_0": 9, "agent_1": 9})
    assert rewards == {"agent_0": 0.0, "agent_1": -2.0}
    assert [(infos[name]["time"], infos[name]["job"]) for name in env.agents] == [(20, None), (20, 3)]
    assert np.flatnonzero(observations["agent_1"]["action_mask"]).tolist() == [0, 8]
    _, rewards, terminations, _, infos = env.step({"agent_0": 9, "agent_1": 8})
    assert rewards == {"agent_0": -1.0, "agent_1": 0.0}
    assert terminations == {"agent_0": True, "agent_1": True}
    assert env.simulation is not None
    assert env.simulation.schedule.start.tolist() == [0, 0, 10, 20]
    assert infos["agent_0"]["total_jct"] == 70


def test_errors() -> None:
    """Tests masked actions where they are an error, actions of nobody, and steps without an episode."""
    env = parallel_env(two_servers(4), num_agents=2, is_strict=True)
    with pytest.raises(RuntimeError, match="step: expected a reset before"):
        env.step({})
    env.reset()
    with pytest.raises(ValueError, match=r"actions\[agent_1\]: expected one of \[0, 8\], got 9\."):
        env.step({"agent_0": 0, "agent_1": 9})
    with pytest.raises(ValueError, match=r"actions\[agent_0\]: expected 0\.\.9, got 10\."):
        env.step({"agent_0": 10, "agent_1": 0})
    with pytest.raises(TypeError, match="integer"):
        env.step({"agent_0": 0.5, "agent_1": 0})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="actions: expected one of each of"):
        env.step({"agent_0": 0})
    env.step({"agent_0": 0, "agent_1": 0})
    env.close()
    with pytest.raises(RuntimeError, match="step: expected a reset before"):
        env.step({"agent_0": 9, "agent_1": 9})
    with pytest.raises(ValueError, match=r"max_steps: expected at least 1, got 0\."):
        parallel_env(two_servers(1), num_agents=2, max_steps=0)
    with pytest.raises(ValueError, match="kappa: expected a number of ticks above 0"):
        parallel_env(two_servers(1), num_agents=2, kappa=0.0)
    with pytest.raises(ValueError, match="size: expected one, as instances are drawn, got None"):
        parallel_env(lambda rng: two_servers(1), num_agents=2)
    with pytest.raises(ValueError, match="predictor: expected one of"):
        parallel_env(two_servers(1), num_agents=2, predictor="crystal-ball")
    size = ObservationSize.of(Partitions(two_servers(1), 2))
    with pytest.raises(ValueError, match=r"size\.num_agents: expected 1, got 2\."):
        parallel_env(two_servers(1), num_agents=1, size=size)


@pytest.mark.parametrize("num_jobs", [0, 1])
def test_nothing_to_decide(num_jobs: int) -> None:
    """Tests that an episode without any choice ends with the first step, and brings all its rewards."""
    env = parallel_env(two_servers(num_jobs), num_agents=2, kappa=1.0, max_forwards=0)
    infos, rewards = play(env, lambda *_: 9)
    assert rewards == [{"agent_0": -10.0 * num_jobs, "agent_1": 0.0}]
    assert infos[-1]["agent_0"]["total_jct"] == 10 * num_jobs
    assert infos[-1]["agent_0"]["mean_jct"] == (10 if num_jobs else None)


def test_truncation() -> None:
    """Tests that an episode can be cut, and that one that ends by itself at that step is not."""
    for max_steps, ends in ((3, (False, True)), (4, (True, False))):
        env = parallel_env(two_servers(4), num_agents=2, max_steps=max_steps)
        env.reset()
        for actions in ((0, 0), (8, 9), (9, 9), (9, 8))[:max_steps]:
            assert env.agents
            _, _, terminations, truncations, infos = env.step(dict(zip(env.agents, actions, strict=True)))
        assert not env.agents
        assert (terminations["agent_1"], truncations["agent_1"]) == ends
        assert ("total_jct" in infos["agent_0"], env.simulation is not None) == (ends[0], ends[0])


def sampled_env(**parameters: Any) -> JobsEnvironment:
    """Return an environment with another stream of jobs in every episode, and noisy predictions."""

    def draw(rng: np.random.Generator) -> JobsInstance:
        return stream("jobs-co-located", jobs=int(rng.integers(8, 14)), seed=int(rng.integers(1000)))

    size = ObservationSize.of(Partitions(draw(np.random.default_rng(0)), 3))
    return parallel_env(draw, num_agents=3, size=size, kappa=100.0, predictor="noisy-oracle", **parameters)


def test_pettingzoo() -> None:
    """Tests PettingZoo's own checks, also in turns; of these only that of seeds does not respect masks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(sampled_env(is_strict=True), num_cycles=400)
        parallel_seed_test(sampled_env, num_cycles=50)
        warnings.filterwarnings("ignore", message="Observation (is not a NumPy array|space for each agent)")  # a Dict
        api_test(parallel_to_aec(sampled_env(is_strict=True)), num_cycles=100)


def test_seeds() -> None:
    """Tests that a seed gives the same episodes whatever was before, one after another different ones."""

    def first(agent: int, seen: dict[str, Any], info: dict[str, Any]) -> int:
        return int(np.flatnonzero(seen["action_mask"])[0])

    env, other = sampled_env(), sampled_env()
    default = [play(env, first) for _ in range(2)]
    assert default[0] != default[1]
    seeded = [play(env, first, seed=3), play(env, first)]
    assert seeded == [play(other, first, seed=3), play(other, first)]
    assert default == [play(other, first, seed=0), play(other, first)]
    assert seeded[0] != default[0]


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests what is said where PettingZoo is not installed."""
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pettingzoo: expected the packages of the extra marl \(pip install"):
        parallel_env(two_servers(1), num_agents=2)
