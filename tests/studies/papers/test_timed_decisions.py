"""Tests that what is measured are decisions in a busy cluster, the same ones again for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.marl.partitions import Partitions
from studies.papers.timed_decisions import (
    BURST,
    BURST_TICKS,
    MAX_DECISIONS,
    RUN_TICKS,
    WARM_UP,
    busy_cluster,
    measure_decisions,
)

pytestmark = pytest.mark.whole


def test_busy_cluster_is_what_it_says() -> None:
    """Tests sizes, releases and lengths of the jobs that run throughout and of those that arrive."""
    busy = busy_cluster(40, arrivals=40, seed=3)
    instance, running = busy.instance, busy.num_running
    assert (instance.num_servers, instance.num_gpus, instance.num_jobs) == (40, 320, running + 40)
    assert instance.server_kind.tolist() == [0, 1, 2, 3] * 10
    assert instance.racks is not None
    assert instance.racks.rack_of_server.tolist() == [server // 4 for server in range(40)]
    gangs = instance.gang_size[:running]
    assert 240 - 16 < gangs.sum() <= 240
    assert (np.diff(gangs) <= 0).all()
    assert instance.release[:running].tolist() == [0] * running
    assert instance.release[running:].tolist() == [1 + BURST_TICKS * (number // BURST) for number in range(40)]
    assert instance.iterations[running:].tolist() == [1] * 40
    times = np.where(instance.time_of > 0, instance.time_of, RUN_TICKS)  # -1: not allowed
    fastest = [times[instance.stages_of(job)].min(axis=1).max() for job in range(running)]
    assert (instance.iterations[:running] * fastest >= RUN_TICKS).all()
    assert Partitions(instance, 4).num_gpus_of.tolist() == [64, 96, 64, 96]
    assert busy_cluster(40, arrivals=40, seed=3).instance.sha256 == instance.sha256
    assert busy_cluster(40, arrivals=40, seed=4).instance.sha256 != instance.sha256


@pytest.mark.parametrize("num_agents", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_decisions_are_measured_after_a_warm_up(num_agents: int) -> None:
    """Tests the numbers of decisions and rounds, the state they were taken in, and that they can be repeated."""
    measured = measure_decisions(40, num_agents, 30, seed=1)
    number = len(measured.seconds)
    assert number >= 30
    for part in (measured.groups, measured.observation, measured.network, measured.wall):
        assert part.shape == (number,)
        assert (part >= 0).all()
    assert measured.seconds == pytest.approx(measured.groups + measured.observation + measured.network)
    assert measured.decisions_of_round.sum() == number
    assert (measured.decisions_of_round > 0).all()
    assert measured.rounds.shape == measured.summaries.shape == measured.busy_share.shape == measured.waiting.shape
    assert (measured.rounds >= measured.summaries).all()
    assert ((measured.busy_share > 0.5) & (measured.busy_share < 0.9)).all()
    assert measured.waiting.max() > 0
    assert len(measured.slots) >= WARM_UP + number
    assert measure_decisions(40, num_agents, 30, seed=1).slots == measured.slots
    assert measure_decisions(40, num_agents, 30, seed=2).slots != measured.slots


def test_clusters_are_busy_with_the_same_jobs_for_every_number_of_agents() -> None:
    """Tests the share of busy GPUs in the first rounds, before decisions make a difference."""
    shares = [float(measure_decisions(40, agents, 1, seed=0).busy_share[0]) for agents in (1, 2, 4)]
    assert max(shares) - min(shares) < 0.1  # half a burst


def test_sizes_that_cannot_be() -> None:
    """Tests the messages."""
    with pytest.raises(ValueError, match=rf"^decisions: expected 1 to {MAX_DECISIONS}, got 0\.$"):
        measure_decisions(40, 1, 0, seed=0)
    with pytest.raises(ValueError, match=r"^num_servers: expected at least 1, got 0\.$"):
        busy_cluster(0, arrivals=1, seed=0)
    with pytest.raises(ValueError, match=r"^arrivals: expected at least 1, got 0\.$"):
        busy_cluster(4, arrivals=0, seed=0)
    with pytest.raises(ValueError, match=r"^agents: expected racks of their own, .* on 16 servers, got 4 agents\.$"):
        measure_decisions(16, 4, 1, seed=0)
