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
    own, now = Compilation(), [0.0]
    monkeypatch.setattr("heuristics.search.clock.COMPILATION", own)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    watch = Stopwatch()
    with own.running(), own.running():
        now[0] = 3.0
        assert (watch.seconds, own.seconds, own.is_running) == (0.0, 3.0, True)
    now[0] = 5.0
    assert (watch.seconds, own.seconds, own.is_running) == (2.0, 3.0, False)


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


def test_what_cannot_be_kept_is_said_once() -> None:
    """Tests that the first kernel that cannot be kept warns with the reason, and the next one does not."""
    own = Compilation()
    with pytest.warns(RuntimeWarning, match=r"every process compiles them anew \(read-only\)") as warned:
        own.note_not_kept("read-only")
        own.note_not_kept("full")
    assert len(warned) == 1
