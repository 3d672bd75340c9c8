"""Tests of several chains at once."""

from __future__ import annotations

import threading

import pytest

from solvers.lns.team import work_together
from tests.runs import run_with


class Worker:
    """Waits until it is told to stop, or ends or fails at once."""

    def __init__(self, run, *, ends: bool = False, fails: bool = False) -> None:
        self._run, self._ends, self._fails = run, ends, fails
        self.seconds, self.thread = 1.5, ""

    def work(self) -> None:
        """Work."""
        self.thread = threading.current_thread().name
        if self._fails:
            raise ZeroDivisionError("a worker failed")
        while not self._ends and not self._run.should_stop():
            threading.Event().wait(0.005)


def test_all_stop_with_the_first() -> None:
    """Tests that the first one works in the calling thread, and that the others stop when it ends."""
    made: list[Worker] = []

    def make(run, member: int) -> Worker:
        made.append(Worker(run, ends=member == 0))
        return made[-1]

    assert work_together(make, run_with(threads=3)) == 4.5
    assert made[0].thread == threading.current_thread().name
    assert len({worker.thread for worker in made}) == 3


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_ends_the_run(failing: int) -> None:
    """Tests that whoever fails, all stop and the failure is raised."""
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="a worker failed"):
        work_together(lambda run, member: Worker(run, fails=member == failing), run_with(threads=2))
    assert threading.active_count() == before
