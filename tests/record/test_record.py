"""Tests that nothing has changed that a refactoring must leave as it is; see `make_record`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.record.make_record import differences, flat, parts, read_record, sampled_parts, whole_parts
from tests.record.slow_parts import slow_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOWN = 40
"""Differences that a failing test lists."""

EVERY = 8
"""By default each method and each bound is computed on one of so many instances, on others for the next method."""

LONG = ("study online-quick", "study marl-quick")
"""Parts that take long as a whole: the other studies show by default that studies are as recorded."""


@pytest.mark.parametrize(
    "part", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in whole_parts()]
)
def test_part_is_as_recorded(part: str) -> None:
    """Tests that instances, studies, files and commands give what is recorded, item by item."""
    _compare(part, whole_parts()[part]())


@pytest.mark.parametrize("part", sampled_parts())
def test_sample_is_as_recorded(part: str) -> None:
    """Tests that every method and every bound gives what is recorded, on a sample of the instances of each."""
    found = flat(sampled_parts(EVERY)[part]())
    recorded = flat(read_record()[part])
    assert len(found) >= len(recorded) / (2 * EVERY)
    _compare(part, found, {place: recorded[place] for place in found if place in recorded})


@pytest.mark.slow
@pytest.mark.parametrize("part", sampled_parts())
def test_all_is_as_recorded(part: str) -> None:
    """Tests that every method and every bound gives what is recorded, item by item."""
    _compare(part, sampled_parts()[part]())


@pytest.mark.slow
@pytest.mark.parametrize("part", slow_parts())
def test_slow_part_is_as_recorded(part: str) -> None:
    """Tests the same of parts that take longer."""
    _compare(part, slow_parts()[part]())


def test_record_has_all_parts() -> None:
    """Tests that no part was forgotten when the record was made."""
    assert list(read_record()) == [*parts(), *slow_parts()]


def _compare(part: str, got: Mapping[str, object], expected: Mapping[str, object] | None = None) -> None:
    """Fail with a list of the items that differ from the record, or from those of its items that are expected."""
    found = differences({part: read_record()[part] if expected is None else expected}, {part: dict(got)})
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    assert not found, "\n".join([f"{len(found)} items differ.", *found[:SHOWN], *more])
