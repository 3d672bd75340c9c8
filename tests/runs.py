"""Runs for tests of exact and improving methods, and of their parts."""

from __future__ import annotations

from typing import Any

from heuristics.search.clock import Stopwatch
from solvers.run.exact_run import ExactRun


def run_with(*, reported: list[int] | None = None, **fields: Any) -> ExactRun[Any]:
    """Return a run on one thread, without start, bound and limit unless given, that keeps the objectives it is told."""

    def report(objective: int | None, bound: int | None) -> None:
        if reported is not None and objective is not None:
            reported.append(objective)

    defaults = {
        "start": None,
        "lower_bound": 0,
        "time_limit": None,
        "threads": 1,
        "seed": 1,
        "watch": Stopwatch(),
        "report": report,
        "should_stop": lambda: False,
    }
    return ExactRun(**{**defaults, **fields})
