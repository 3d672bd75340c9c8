"""HiGHS in a process of its own, which can be stopped hard: what it had reported by then is kept."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

from heuristics.search.clock import Stopwatch
from solvers.backends.highs import HighsAnswer, run_highs

if TYPE_CHECKING:
    from collections.abc import Callable

    from solvers.backends.highs import CompiledMilp


GRACE_SECONDS = 2.0
"""How long a worker may overrun its time limit before it is killed."""


def run_highs_in_worker(
    milp: CompiledMilp,
    *,
    time_limit: float,
    report: Callable[[float | None, float | None], None] = lambda objective, bound: None,
    should_stop: Callable[[], bool] = lambda: False,
    **options: Any,
) -> HighsAnswer:
    """Do what `run_highs` does, in another process that is killed where it overruns its time limit or dies by itself.

    Such a worker has no solution, but the best dual bound that it had reported.
    """
    watch = Stopwatch()
    worker = subprocess.Popen(
        [sys.executable, "-m", "solvers.backends.highs_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is the parent's: it stops the worker in order
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    heard = _Heard(worker.stdout, report)
    listener = threading.Thread(target=heard.listen, name="highs-worker", daemon=True)
    listener.start()
    try:
        pickle.dump((milp, {"time_limit": time_limit, **options}), worker.stdin)
        worker.stdin.flush()
        while listener.is_alive():
            listener.join(0.05)
            if should_stop() or watch.seconds > time_limit + GRACE_SECONDS:
                break
    except BrokenPipeError:  # it died before it had read everything
        pass
    finally:
        worker.kill()
        worker.wait()
        listener.join()
        worker.stdin.close()
        worker.stdout.close()
    if heard.answer is not None:
        return heard.answer
    return HighsAnswer(
        solution=None, dual_bound=heard.bound, is_finished=False, is_infeasible=False, seconds=watch.seconds
    )


class _Heard:
    """What a worker has said so far."""

    def __init__(self, stream: IO[bytes], report: Callable[[float | None, float | None], None]) -> None:
        self._stream = stream
        self._report = report
        self.bound: float | None = None
        self.answer: HighsAnswer | None = None

    def listen(self) -> None:
        """Read messages until the answer, or until the worker is gone."""
        try:
            while self.answer is None:
                message = pickle.load(self._stream)
                if isinstance(message, HighsAnswer):
                    self.answer = message
                    return
                objective, bound = message
                if bound is not None and (self.bound is None or bound > self.bound):
                    self.bound = bound
                self._report(objective, bound)
        except (EOFError, pickle.UnpicklingError, ValueError):
            return


def _work(source: IO[bytes], target: IO[bytes]) -> None:
    """Solve the MILP that comes in, and send reports and the answer out."""
    milp, options = pickle.load(source)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    last: list[float | None] = [None]

    def send(message: object) -> None:
        pickle.dump(message, target)
        target.flush()

    def report(objective: float | None, bound: float | None) -> None:
        if objective is None and (bound is None or (last[0] is not None and bound <= last[0])):
            return
        last[0] = bound if bound is not None else last[0]
        send((objective, bound))

    send(run_highs(milp, report=report, **options))


def _end_with_parent() -> None:
    """End this process when the other end of its input is closed: nobody waits for the answer any more."""
    while os.read(0, 1):  # nothing comes
        pass
    os._exit(1)


def _main() -> None:
    """Speak over the descriptor that was standard output; what libraries print there goes nowhere."""
    with os.fdopen(os.dup(1), "wb") as target, open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        _work(sys.stdin.buffer, target)


if __name__ == "__main__":
    _main()
