"""Tests of the clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from heuristics.search.clock import Stopwatch

if TYPE_CHECKING:
    import pytest


def test_seconds_since_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the clock reads now minus begin, not the other way round, and goes on."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    watch = Stopwatch()
    readings = [watch.seconds]
    for moment in (100.25, 103.0):
        now[0] = moment
        readings.append(watch.seconds)
    assert readings == [0.0, 0.25, 3.0]
