"""Tests how many agents an instance gets, and what is said of numbers that do not fit."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from heuristics.jobs.marl.partitions import Partitions, checked_agents, most_agents
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer, Racks


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


def servers_and_jobs(gpus: list[int], gangs: list[int], kinds: str = "") -> JobsInstance:
    """Return servers, each with its number of GPUs, and jobs of one stage."""
    names = kinds or "F" * len(gpus)
    servers = [JobsServer(kind=k, gpus=g, nic_bytes_per_tick=1) for k, g in zip(names, gpus, strict=True)]
    return JobsInstance.from_parts(servers, [Job(stages=[Stage(times=1, replicas=gang)]) for gang in gangs])


@pytest.mark.parametrize(
    ("num_agents", "cuts"), [(1, [0, 10]), (2, [0, 5, 10]), (3, [0, 3, 6, 10]), (4, [0, 2, 5, 7, 10])]
)
def test_cuts_without_racks(num_agents: int, cuts: list[int]) -> None:
    """Tests floor(a M / A) on ten servers."""
    found = Partitions(servers_and_jobs([1] * 10, [1]), num_agents)
    assert found.cuts == cuts
    assert [found.servers_of(agent) for agent in range(num_agents)] == [
        slice(begin, end) for begin, end in itertools.pairwise(cuts)
    ]


def test_cuts_move_to_the_nearest_border_of_racks() -> None:
    """Tests ten servers in racks 0-2, 3-6, 7-8 and server 9 in none: borders 3, 7, 9; a tie goes to the lower one."""
    instance = dataclasses.replace(
        servers_and_jobs([1, 2, 1, 1, 1, 1, 1, 1, 1, 1], [1]), racks=Racks.of([0, 0, 0, 1, 1, 1, 1, 2, 2, -1], [1] * 3)
    )
    assert Partitions(instance, 2).cuts == [0, 3, 10]  # 5 lies between 3 and 7
    three = Partitions(instance, 3)
    assert three.cuts == [0, 3, 7, 10]  # 3 and 6
    assert three.agent_of_server.tolist() == [0] * 3 + [1] * 4 + [2] * 3
    assert three.num_gpus_of.tolist() == [4, 4, 3]
    with pytest.raises(ValueError, match=r"num_agents: expected cuts at different borders of racks, got \[3, 3, 7\]"):
        Partitions(instance, 4)  # 2, 5 and 7
    with pytest.raises(ValueError, match=r"num_agents: expected at most 4, as racks stay whole, got 5\."):
        Partitions(instance, 5)


def test_racks_that_are_interleaved_are_never_split() -> None:
    """Tests racks 0, 1, 0, 1, 2, 2: the only border is before server 4."""
    instance = dataclasses.replace(servers_and_jobs([1] * 6, [1]), racks=Racks.of([0, 1, 0, 1, 2, 2], [1] * 3))
    assert Partitions(instance, 2).cuts == [0, 4, 6]
    whole = dataclasses.replace(instance, racks=Racks.of([0] * 6, [1]))
    assert Partitions(whole, 1).cuts == [0, 6]
    with pytest.raises(ValueError, match="expected at most 1, as racks stay whole, got 2"):
        Partitions(whole, 2)


def test_home_is_number_i_mod_e_of_those_that_can_host() -> None:
    """Tests three agents with 2, 4 and 4 GPUs: jobs of 3 GPUs alternate between the last two."""
    found = Partitions(servers_and_jobs([2, 4, 4], [3, 3, 1, 1, 2, 4]), 3)
    assert found.can_host.tolist() == [[False, False, True, True, True, False], [True] * 6, [True] * 6]
    assert found.home.tolist() == [1, 2, 2, 0, 1, 2]


def test_hosting_knows_kinds() -> None:
    """Tests that a job that may use one kind only lives where that kind is."""
    servers = [JobsServer(kind=kind, gpus=2, nic_bytes_per_tick=1) for kind in "FS"]
    jobs = [Job(stages=[Stage(times={"S": 1}, replicas=2)]), Job(stages=[Stage(times={"F": 1}), Stage(times={"S": 1})])]
    instance = JobsInstance.from_parts(servers, jobs)
    assert Partitions(instance, 1).home.tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"num_agents: for jobs\[1\] expected few enough .*, got 2; lower"):
        Partitions(instance, 2)
    alone = Partitions(JobsInstance.from_parts(servers, jobs[:1]), 2)
    assert alone.home.tolist() == [1]


@pytest.mark.parametrize("num_agents", [0, 3])
def test_agents_own_a_server_each(num_agents: int) -> None:
    """Tests that there are as many servers as agents."""
    with pytest.raises(ValueError, match=f"num_agents: expected 1 to 2, one server each, got {num_agents}"):
        Partitions(servers_and_jobs([1, 1], [1]), num_agents)
