"""Tests of the log of rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.key_search import RoundLog
from heuristics.search.run import SearchRun
from heuristics.search.stop_criteria import MaxEvaluations
from tests.search_trace import SearchTrace

if TYPE_CHECKING:
    from numpy.typing import NDArray


def test_rows() -> None:
    """Tests means over members within the limits, unknown as None, keys on bounds, and the callback."""
    trace = SearchTrace()
    run: SearchRun[NDArray[np.float64]] = SearchRun(MaxEvaluations(9), trace)
    log = RoundLog(run, trace)
    points = np.array([[0.0, 0.5], [1.0, 1.0], [0.3, 0.2]])
    for fitness in ([[3, 1], [2, 9], [1, 5]], [[0, 10], [4, 1], [0, 13]], [[0, 8]]):
        run.record_many(np.array(fitness), points[: len(fitness)])
        log.record(points, np.array(fitness))
    seconds = [row["seconds"] for row in trace.rounds]
    assert seconds == sorted(seconds)
    assert [[row[name] for name in ("evaluations", "best", "mean", "at_bounds")] for row in trace.rounds] == [
        [3, None, None, 3 / 6],
        [6, 10, 11.5, 3 / 6],
        [7, 8, 8.0, 1 / 2],
    ]
    assert log.logbook.select("evaluations") == [3, 6, 7]
    assert str(log.logbook).splitlines()[0].split() == ["evaluations", "seconds", "best", "mean", "at_bounds"]


def test_points_without_keys() -> None:
    """Tests that no key is on a bound where there is none."""
    trace = SearchTrace()
    log = RoundLog(SearchRun(MaxEvaluations(9), trace), trace)
    log.record(np.empty((2, 0)), np.array([[0, 0], [0, 0]]))
    assert trace.rounds[0]["at_bounds"] == 0.0
