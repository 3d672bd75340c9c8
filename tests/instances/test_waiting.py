"""Tests of waiting for what another process holds."""

from __future__ import annotations

import re

import pytest

from instances import waiting
from instances.waiting import turns


def test_a_wait_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a short wait is silent, and that a longer one has a line at once and then one every ten seconds."""
    now = [100.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(waiting.time, "sleep", lambda seconds: None)
    tries = turns("place")
    for seconds, lines in ((0.0, []), (0.4, []), (0.6, ["1"]), (5.0, []), (10.7, ["11"]), (20.0, []), (21.0, ["21"])):
        now[0] = 100.0 + seconds
        if not lines:
            next(tries)
            continue
        with pytest.warns(UserWarning) as told:
            next(tries)
        assert [re.sub(r"\D", "", str(each.message)) for each in told] == lines
        assert str(told[0].message) == f"place: locked by another process; waiting for it since {lines[0]} s."
