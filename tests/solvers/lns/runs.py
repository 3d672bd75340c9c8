"""Runs for tests of the parts of `lns`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.stopwatch import Stopwatch
from solvers.exact_run import ExactRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances import DagSchedule


def run_with(
    *,
    start: DagSchedule | None = None,
    lower_bound: int = 0,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 1,
    reported: list[int] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ExactRun:
    """Return a run that keeps the objectives that it is told."""

    def report(objective: int | None, bound: int | None) -> None:
        if reported is not None and objective is not None:
            reported.append(objective)

    return ExactRun(
        start=start,
        lower_bound=lower_bound,
        time_limit=time_limit,
        threads=threads,
        seed=seed,
        watch=Stopwatch(),
        report=report,
        should_stop=should_stop,
    )
