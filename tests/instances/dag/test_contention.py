"""Tests of the rules of contention by name."""

from __future__ import annotations

import pytest

from instances.dag.contention import Contention, server_of_gpu
from instances.dag.instance import DagInstance


def test_names_are_those_of_the_command_line() -> None:
    """Tests that the two rules are known by name."""
    assert (Contention("none"), Contention("nic")) == (Contention.NONE, Contention.NIC)
    assert [str(rule) for rule in Contention] == ["none", "nic"]


def test_unknown_rule() -> None:
    """Tests that another name is refused with the choices."""
    with pytest.raises(ValueError) as caught:
        Contention("link")
    assert str(caught.value) == "contention: expected one of none, nic, got 'link'."


def test_servers_are_numbered_as_they_appear() -> None:
    """Tests that GPUs with the same server name have the same number, in order of first appearance."""
    instance = DagInstance.from_lists([[1] * 5], gpu_servers=["z", "a", "z", "b", "a"])
    assert server_of_gpu(instance).tolist() == [0, 1, 0, 2, 1]


def test_one_server() -> None:
    """Tests that all GPUs share a server unless something else is said."""
    assert server_of_gpu(DagInstance.from_lists([[1, 1]])).tolist() == [0, 0]
