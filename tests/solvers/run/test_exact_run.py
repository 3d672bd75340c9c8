"""Tests of Ctrl-C as a stop criterion, and of solvers in a second thread."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace

import pytest

from heuristics.search.progress import Progress
from solvers.run.exact_run import Interrupt, in_second_thread
from tests.runs import run_with


def test_first_signal_is_remembered_second_ends() -> None:
    """Tests that the first Ctrl-C only stops the method and that the second one is a KeyboardInterrupt."""
    with Interrupt() as interrupt:
        before = interrupt(Progress())
        signal.raise_signal(signal.SIGINT)
        assert (before, interrupt(Progress()), interrupt.heard) == (False, True, True)
        assert interrupt.share(Progress(evaluations=10**6)) == 0.0
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_previous_handler_comes_back() -> None:
    """Tests that leaving restores what listened before, also after an error."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="inside"), Interrupt():
        assert signal.getsignal(signal.SIGINT) is not before
        raise RuntimeError("inside")
    assert signal.getsignal(signal.SIGINT) is before


def test_nested_runs_hear_one_signal_together() -> None:
    """Tests that both of two nested runs hear a signal, and that the outer one passes on the next."""
    with Interrupt() as outer:
        with Interrupt() as inner:
            signal.raise_signal(signal.SIGINT)
        assert (outer.heard, inner.heard) == (True, True)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_other_threads_hear_nothing() -> None:
    """Tests that outside the main thread nothing is installed, nothing heard and nothing broken."""
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def run() -> None:
        with Interrupt() as interrupt:
            seen.append((interrupt.heard, signal.getsignal(signal.SIGINT) is before))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [(False, True)]


def test_second_thread() -> None:
    """Tests the result, an error of the work, that a stop that is refused at first is repeated, and a second Ctrl-C."""
    assert in_second_thread(lambda: 7, lambda: False, lambda: None) == 7
    with pytest.raises(ZeroDivisionError):
        in_second_thread(lambda: 1 // 0, lambda: False, lambda: None)
    asked, over, answers = [], threading.Event(), iter([False, True])

    def stop() -> None:
        asked.append(None)
        if len(asked) == 2:
            over.set()

    assert in_second_thread(over.wait, lambda: next(answers), stop)
    assert len(asked) >= 2
    over.clear()

    def interrupt() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_second_thread(over.wait, interrupt, over.set)


def test_a_share_of_the_time_that_is_left() -> None:
    """Tests that a run for a share of its time ends then, and has no limit where there was none."""
    run = run_with(time_limit=100.0)
    half = run.limited_to(0.5)
    assert 49.0 < half.time_limit <= 50.0 + run.watch.seconds
    assert half.watch is run.watch
    assert run_with().limited_to(0.5).time_limit is None
    assert not run.stops_after(0.5)()
    assert run.stops_after(0.0)()
    assert replace(run, should_stop=lambda: True).stops_after(0.5)()
