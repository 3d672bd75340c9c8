"""Tests that rewards count every unfinished job once per tick, for the agent that has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import progress_rewards, round_rewards, time_scale
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from tests.heuristics.jobs.marl.deciders import FirstSlot, Forwarder, LastSlot, RandomSlot
from tests.interference_strategies import interfering_instances, two_jobs


def test_identity_on_the_example() -> None:
    """Tests section 9.2 of the reference: U = 1, 2, 1 on [0, 4), [4, 11), [11, 12), in all 19 = 12 + 7."""
    instance = two_jobs()
    run = simulate_agents(instance, FirstSlot(np.random.default_rng(0)), Oracle(instance), num_agents=1)
    assert run is not None
    found = round_rewards(run)
    assert (found.times.tolist(), found.ticks.tolist()) == ([0, 4, 11], [4, 7, 1])
    assert found.unfinished.tolist() == [[1], [2], [1]]
    assert found.total_jct() == 19 == 12 + (11 - 4)
    kappa = time_scale([instance])
    assert kappa == 7.5
    assert found.rewards(kappa).sum() * -kappa == pytest.approx(19)
    assert found.discounts(kappa).tolist() == pytest.approx([0.99 ** (ticks / 7.5) for ticks in (4, 7, 1)])


def test_progress_on_the_example() -> None:
    """Tests the shares of two jobs that run on [0, 12) and [4, 11): 4/12, then 7/12 and 1, then 1/12."""
    instance = two_jobs()
    run = simulate_agents(instance, FirstSlot(np.random.default_rng(0)), Oracle(instance), num_agents=1)
    assert run is not None
    assert progress_rewards(run).tolist() == pytest.approx([4 / 12, 7 / 12 + 1, 1 / 12])


def test_a_forwarded_job_counts_for_its_new_agent() -> None:
    """Tests two jobs that swap agents at arrival, and a third that waits at home and is forwarded at 10."""
    jobs = [Job(stages=[Stage(times=10)], release=r, weight=w) for r, w in ((0, 1), (0, 2), (4, 5))]
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)] * 2, jobs)
    run = simulate_agents(instance, LastSlot(np.random.default_rng(0)), Oracle(instance), num_agents=2)
    assert run is not None
    assert run.rounds.forwards == [(0, 0, 1), (0, 1, 0), (10, 2, 1)]
    found = round_rewards(run, is_weighted=True)
    assert (found.times.tolist(), found.ticks.tolist()) == ([0, 4, 10], [4, 6, 10])
    assert found.unfinished.tolist() == [[2, 1], [7, 1], [0, 5]]


@settings(max_examples=25, deadline=None)
@given(
    instance=interfering_instances(max_jobs=6, max_servers=4),
    decider=st.sampled_from([RandomSlot, Forwarder]),
    num_agents=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_identity_everywhere(instance: JobsInstance, decider: type[RandomSlot], num_agents: int, seed: int) -> None:
    """Tests that the counts sum to the total JCT, weighted too, and that rounds are where the deciders saw them."""
    try:
        Partitions(instance, num_agents)
    except ValueError:
        assume(False)
    chosen = decider(np.random.default_rng(seed))
    run = simulate_agents(instance, chosen, Oracle(instance), num_agents=num_agents)
    assert run is not None
    jct = run.simulation.completion - instance.release
    plain, weighted = round_rewards(run), round_rewards(run, is_weighted=True)
    assert plain.total_jct() == jct.sum()
    assert weighted.total_jct() == (jct * instance.weight).sum()
    assert plain.unfinished.min() >= 0
    assert chosen.times == [*plain.times.tolist(), run.simulation.completion.max()][: len(chosen.times)]


def test_time_scale_needs_jobs() -> None:
    """Tests that there is no unit of time without jobs."""
    with pytest.raises(ValueError, match="instances: expected at least one job, got none"):
        time_scale([])
