"""Tests that nothing has changed that a refactoring must leave as it is; see `make_record`."""

from __future__ import annotations

import pytest

from tests.record.make_record import differences, parts, read_record
from tests.record.slow_parts import slow_parts

SHOWN = 40
"""Differences that a failing test lists."""


@pytest.mark.parametrize("part", parts())
def test_part_is_as_recorded(part: str) -> None:
    """Tests that instances, methods, bounds, studies, files and commands give what is recorded, item by item."""
    _compare(part, {part: dict(parts()[part]())})


@pytest.mark.slow
@pytest.mark.parametrize("part", slow_parts())
def test_slow_part_is_as_recorded(part: str) -> None:
    """Tests the same of parts that take longer."""
    _compare(part, {part: dict(slow_parts()[part]())})


def test_record_has_all_parts() -> None:
    """Tests that no part was forgotten when the record was made."""
    assert list(read_record()) == [*parts(), *slow_parts()]


def _compare(part: str, got: dict[str, object]) -> None:
    """Fail with a list of the items that differ."""
    found = differences({part: read_record()[part]}, got)
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    assert not found, "\n".join([f"{len(found)} items differ.", *found[:SHOWN], *more])
