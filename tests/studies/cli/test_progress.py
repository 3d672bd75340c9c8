"""Tests of the line that a long run shows."""

from __future__ import annotations

import io
import sys
import time
from typing import TYPE_CHECKING

from heuristics.search.progress import Progress
from studies.cli import progress as live_progress
from studies.cli.output import print_text
from studies.cli.progress import CommandProgress, Display, LiveProgress, RunProgress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def _shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a run of a fifth of a second writes to stderr if lines begin at once."""
    monkeypatch.setattr(live_progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with LiveProgress("heft", lower_bound=10) as progress:
        progress.on_incumbent(Progress(objective=12))
        deadline = time.monotonic() + 5.0
        while stream.isatty() and "incumbent" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    return stream.getvalue()


def test_line_has_incumbent_bound_and_gap() -> None:
    """Tests the text before and after the first schedule and bound."""
    progress = LiveProgress("cp-sat")
    assert progress.line().split("  ")[-3:] == ["cp-sat", "incumbent none", "bound none"]
    progress.on_incumbent(Progress(objective=15))
    progress.on_bound(Progress(objective=15, lower_bound=12))
    assert progress.line().endswith("cp-sat  incumbent 15  bound 12  gap 25.00 %")
    assert len(progress.line()) <= 80


def test_bound_never_falls() -> None:
    """Tests that a weaker bound of the method does not replace the one known before."""
    progress = LiveProgress("cp-sat", lower_bound=12)
    progress.on_bound(Progress(lower_bound=3))
    assert progress.lower_bound == 12


def test_what_follows_the_search_is_shown() -> None:
    """Tests that the end of a search shows what goes on, and changes nothing where nothing does."""
    progress = LiveProgress("cp-sat")
    progress.on_end(Progress())
    assert "  cp-sat  " in progress.line()
    progress.then = "confirmation"
    progress.on_end(Progress())
    assert "  confirmation  " in progress.line()


def test_terminal_sees_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a terminal is shown the state."""
    assert "heft  incumbent 12  bound 10  gap 20.00 %" in _shown(Terminal(), monkeypatch)


def test_pipe_sees_nothing_of_a_short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that stderr stays empty where it is no terminal and nothing takes long."""
    assert _shown(io.StringIO(), monkeypatch) == ""


def _told(progress: Display, stream: io.StringIO, what: str) -> bool:
    """Say whether a text comes on a stream while some progress is entered."""
    with progress:
        deadline = time.monotonic() + 10.0
        while what not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    return what in stream.getvalue()


def test_pipe_is_told_what_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that stderr is told the state where it is no terminal, by the innermost progress."""
    stream = io.StringIO()
    monkeypatch.setattr(live_progress, "QUIET_SECONDS", 0.01)
    monkeypatch.setattr(sys, "stderr", stream)
    runs = RunProgress()
    runs.update("dag-007", 7, 262)
    with CommandProgress("library check"):
        assert _told(runs, stream, "s 7 of 262 dag-007\n")
        assert _told(LiveProgress("heft", 5), stream, "s heft incumbent none bound 5\n")
    assert _told(CommandProgress("library check"), stream, "s library check\n")


def test_terminal_sees_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a bar replaces the line of the command on a terminal, and that answers do not go to stderr."""
    stream, answers = Terminal(), io.StringIO()
    for name, value in (("stderr", stream), ("stdout", answers)):
        monkeypatch.setattr(sys, name, value)
    monkeypatch.setattr(live_progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    runs = RunProgress()
    with CommandProgress("library check"):
        runs.update("dag-007", 7, 262)
        assert _told(runs, stream, "")
        assert _told(LiveProgress("x", is_search=False), stream, "s  x")
        print_text("answer")
    assert answers.getvalue() == "answer\n"
