"""Tests that the seconds of compilation are counted once, and that no clock counts them."""

from __future__ import annotations

import io
import sys
import time

import pytest

from heuristics.search.clock import Stopwatch
from instances import compilation
from instances.compilation import Compilation, print_progress


def test_clocks_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a stopwatch leaves out what is counted here, also while it lasts, and that nesting counts once."""
    own = Compilation()
    monkeypatch.setattr("heuristics.search.clock.COMPILATION", own)
    watch = Stopwatch()
    with own.running(), own.running():
        time.sleep(0.3)
        assert watch.seconds < 0.2
        assert own.is_running
    assert not own.is_running
    assert 0.3 <= own.seconds < 0.6
    assert watch.seconds < 0.2
    time.sleep(0.05)
    assert watch.seconds >= 0.05


def test_watchers_hear_the_outermost_compilation() -> None:
    """Tests that `watch` hears when counting begins and ends, not what is nested, and also after an error."""
    own, heard = Compilation(), []
    own.watch = heard.append
    with pytest.raises(ZeroDivisionError), own.running(), own.running():
        raise ZeroDivisionError
    assert heard == [True, False]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_line(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> None:
    """Tests that a terminal shows one line that counts, and that a file gets one line."""
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(compilation, "PATIENCE_SECONDS", 0.0)
    own = Compilation()
    monkeypatch.setattr(compilation, "COMPILATION", own)
    with own.running():
        own.note_function()
        own.note_function()
    own.note_function()
    assert stream.getvalue().count("\n") == 1
    assert ("3 functions" in stream.getvalue()) == is_terminal


def test_a_closed_stream_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that progress without a stream to write to is left out."""
    for stream in (None, io.StringIO()):
        if stream is not None:
            stream.close()
        monkeypatch.setattr(sys, "stderr", stream)
        print_progress(1, 1.0, is_over=True)
