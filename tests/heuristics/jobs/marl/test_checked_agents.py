"""Tests how many agents an instance gets, and what is said of numbers that do not fit."""

from __future__ import annotations

import dataclasses

import pytest

from heuristics.jobs.marl.checked_agents import checked_agents, most_agents
from heuristics.jobs.marl.partitions import Partitions
from instances.jobs import Job, JobsInstance, JobsServer, Racks, Stage
from tests.heuristics.jobs.marl.test_partitions import servers_and_jobs


@pytest.mark.parametrize(
    ("gpus", "gangs", "expected"),
    [
        ([2] * 8, [], 4),
        ([2] * 8, [4], 4),
        ([2] * 8, [5], 3),  # two, three and three servers
        ([2] * 8, [9], 1),
        ([8], [8], 1),
        ([2, 2, 2], [1], 3),
        ([1, 1, 1, 9], [9, 1], 4),
    ],
)
def test_largest_number_with_homes(gpus: list[int], gangs: list[int], expected: int) -> None:
    """Tests the largest of at most four against partitions by hand, and that None stands for it."""
    instance = servers_and_jobs(gpus, gangs)
    assert most_agents(instance) == expected
    assert checked_agents(instance, None) == expected
    assert Partitions(instance, expected).num_agents == expected


def test_a_gap_between_numbers_that_fit() -> None:
    """Tests that three agents may do where two do not: the cut in the middle parts the only servers of a kind."""
    servers = [JobsServer(kind=kind, gpus=1, nic_bytes_per_tick=1) for kind in "FFGGFF"]
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times={"F": None, "G": 1}, replicas=2)])])
    with pytest.raises(ValueError, match=r"^agents: expected a number under which every job has a home, such as 3, "):
        checked_agents(instance, 2)
    assert checked_agents(instance, 3) == 3


@pytest.mark.parametrize("agents", [-1, 0, 2, 9])
def test_numbers_that_do_not_fit(agents: int) -> None:
    """Tests one line for too few, too many for a job, and too many for the servers."""
    instance = servers_and_jobs([2] * 8, [9])
    message = rf"^agents: expected a number under which every job has a home, such as 1, got {agents}\.$"
    with pytest.raises(ValueError, match=message):
        checked_agents(instance, agents)


def test_racks_stay_whole() -> None:
    """Tests that two racks leave no more than two agents."""
    instance = dataclasses.replace(servers_and_jobs([2] * 8, [1]), racks=Racks.of([0] * 4 + [1] * 4, [9, 9]))
    assert most_agents(instance) == 2
    with pytest.raises(ValueError, match=r"such as 2, got 3\.$"):
        checked_agents(instance, 3)
