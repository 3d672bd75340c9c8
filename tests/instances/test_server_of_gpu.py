"""Tests of servers by number."""

from __future__ import annotations

from instances import DagInstance
from instances.server_of_gpu import server_of_gpu


def test_servers_are_numbered_as_they_appear() -> None:
    """Tests that GPUs with the same server name have the same number, in order of first appearance."""
    instance = DagInstance.from_lists([[1] * 5], gpu_servers=["z", "a", "z", "b", "a"])
    assert server_of_gpu(instance).tolist() == [0, 1, 0, 2, 1]


def test_one_server() -> None:
    """Tests that all GPUs share a server unless something else is said."""
    assert server_of_gpu(DagInstance.from_lists([[1, 1]])).tolist() == [0, 0]
