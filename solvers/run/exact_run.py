"""What an exact or improving method is given besides the instance, and the Ctrl-C that ends it in order."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from solvers.run.outcome import ScheduleT

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from ortools.sat.python import cp_model

    from heuristics.search.clock import Stopwatch
    from heuristics.search.progress import Progress

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExactRun(Generic[ScheduleT]):
    """Limits, warm start and stop signal of one run of an exact or improving method.

    Parameters
    ----------
    start
        A verified schedule to begin with; None for none.
    lower_bound
        Lower bound that is proven before the run.
    time_limit
        Seconds from the creation of `watch`; None for no limit.
    threads
        At least 1.
    watch
        Has run since the method began.
    report
        Receives every better (objective, lower bound), with None for the one that did not change.
    should_stop
        Asked about twenty times a second; True ends the run with what there is.
    deterministic_limit
        Of CP-SAT, None for no limit: work in units of its own, of the order of a second each. With one thread and no
        `time_limit` the end of the run then depends on nothing but the instance and the seed. Other solvers have none.
    """

    start: ScheduleT | None
    lower_bound: int
    time_limit: float | None
    threads: int
    seed: int
    watch: Stopwatch
    report: Callable[[int | None, int | None], None]
    should_stop: Callable[[], bool]
    deterministic_limit: float | None = None

    def seconds_left(self) -> float:
        """Return the rest of the time limit, at least 0; infinite without a limit."""
        return float("inf") if self.time_limit is None else max(0.0, self.time_limit - self.watch.seconds)

    def must_stop(self) -> bool:
        """Say whether the time is over or somebody wants the run to stop."""
        return self.seconds_left() <= 0 or self.should_stop()

    def seconds_of_share(self, share: float) -> Callable[[], float]:
        """Return what tells the seconds that are left of a share of the time that is left now, infinite without one."""
        left = self.seconds_left()
        until = (1.0 - share) * left if math.isfinite(left) else 0.0
        return lambda: 0.0 if self.should_stop() else max(0.0, self.seconds_left() - until)

    def stops_after(self, share: float) -> Callable[[], bool]:
        """Return what says when a share of the time that is left now is over, or the run is to stop."""
        left = self.seconds_of_share(share)
        return lambda: left() <= 0

    def limited_to(self, share: float) -> Self:
        """Return the same run with a time limit after a share of the time that is left now, without one as it is."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=self.time_limit - (1.0 - share) * self.seconds_left())


def cp_sat_solver(threads: int, seed: int, seconds: float) -> cp_model.CpSolver:
    """Return a CP-SAT solver with a time limit, or none where the seconds are infinite."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    solver.parameters.random_seed = seed % 2**31
    solver.parameters.catch_sigint_signal = False  # Ctrl-C is heard by `Interrupt`, which lets the run end in order
    if math.isfinite(seconds):
        solver.parameters.max_time_in_seconds = seconds
    return solver


def leave_signals_to_parent() -> None:
    """Ignore Ctrl-C, and let SIGTERM and the end of the parent end this process at once: the parent hears both."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def in_second_thread(work: Callable[[], T], should_stop: Callable[[], bool], stop: Callable[[], None]) -> T:
    """Return the result of work in a second thread, so that the first one can hear Ctrl-C and stop the search.

    From the moment at which `should_stop` returns True, `stop` is called about twenty times a second, because a solver
    may refuse to stop at first.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def keep() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=keep, name="solver", daemon=True)
    thread.start()
    is_stopping = False
    try:
        while thread.is_alive():
            thread.join(0.05)
            is_stopping = is_stopping or should_stop()
            if is_stopping:
                stop()
    except BaseException:  # a second Ctrl-C, say: no search goes on unseen
        while thread.is_alive():
            stop()
            thread.join(0.05)
        raise
    if errors:
        raise errors[0]
    return results[0]


class Interrupt:
    """Catches the first Ctrl-C while it is entered and remembers it; the second one ends the process as usual.

    One that is entered inside another tells that one too. Outside the main thread, where Python delivers no signals, it
    catches nothing.
    """

    def __init__(self) -> None:
        self.heard = False
        self._previous: Any = None
        self._listens = False
        self._outer: object = None

    def __enter__(self) -> Self:
        """Listen."""
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._hear)
            self._listens = True
            self._outer = getattr(self._previous, "__self__", None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop listening."""
        if self._listens:
            signal.signal(signal.SIGINT, signal.SIG_DFL if self._previous is None else self._previous)

    def __call__(self, progress: Progress) -> bool:
        """Return True once Ctrl-C was heard."""
        return self.heard

    def share(self, progress: Progress) -> float:
        """Return 0: an interrupt is no budget."""
        return 0.0

    def _hear(self, number: int, frame: FrameType | None) -> None:
        """Remember the first signal, pass the second one on."""
        if self.heard:
            raise KeyboardInterrupt
        self.heard = True
        if isinstance(self._outer, Interrupt):
            self._outer.heard = True
