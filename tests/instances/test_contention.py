"""Tests of the rules of contention by name."""

from __future__ import annotations

import pytest

from instances import Contention


def test_names_are_those_of_the_command_line() -> None:
    """Tests that the two rules are known by name."""
    assert (Contention("none"), Contention("nic")) == (Contention.NONE, Contention.NIC)
    assert [str(rule) for rule in Contention] == ["none", "nic"]


def test_unknown_rule() -> None:
    """Tests that another name is refused with the choices."""
    with pytest.raises(ValueError) as caught:
        Contention("link")
    assert str(caught.value) == "contention: expected one of none, nic, got 'link'."
