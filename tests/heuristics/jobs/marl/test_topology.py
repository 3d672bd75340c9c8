"""Tests the graphs inside and between servers."""

from __future__ import annotations

import dataclasses

import pytest

from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.topology import agent_graph, num_sockets, switch_of_gpu
from instances.jobs import Job, JobsInstance, JobsServer, Racks, Stage


@pytest.mark.parametrize(
    ("gpus", "switches"),
    [(1, [0]), (4, [0, 0, 0, 0]), (5, [0, 0, 0, 1, 1]), (6, [0, 0, 0, 1, 1, 1]), (8, [0, 0, 0, 0, 1, 1, 1, 1])],
)
def test_gpus_are_split_evenly(gpus: int, switches: list[int]) -> None:
    """Tests one socket up to four GPUs, two beyond."""
    assert switch_of_gpu(gpus).tolist() == switches
    assert num_sockets(gpus) == max(switches) + 1


def test_graphs_of_two_agents() -> None:
    """Tests servers of 1, 5 and 2 GPUs, the last two in racks of their own agents' view."""
    servers = [JobsServer(kind="F", gpus=gpus, nic_bytes_per_tick=1) for gpus in (1, 5, 2, 1)]
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times=1)])])
    racked = dataclasses.replace(instance, racks=Racks.of([-1, 1, 0, -1], [1, 1]))
    first, second = (agent_graph(Partitions(racked, 2), agent) for agent in range(2))
    assert first.has_gpu.tolist() == [[1, 0, 0, 0, 0], [1] * 5]
    assert first.has_socket.tolist() == [[1, 0], [1, 1]]
    assert first.on_switch.tolist() == [[[1, 0, 0, 0, 0], [0] * 5], [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]]
    assert first.in_rack.tolist() == [[1, 0], [0, 1]]  # that of no rack first
    assert second.in_rack.tolist() == [[0, 1], [1, 0]]
    assert agent_graph(Partitions(instance, 1), 0).in_rack.tolist() == [[1]] * 4
