"""Tests of counting, remembering the best and stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.search.progress import Callback
from heuristics.search.run import SearchRun
from heuristics.search.stop_criteria import MaxEvaluations

if TYPE_CHECKING:
    from heuristics.search.progress import Progress


class Incumbents(Callback):
    """Keeps (evaluations, objective, improved_at) of every incumbent."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int | None, int]] = []

    def on_incumbent(self, progress: Progress) -> None:
        """Keep it."""
        self.seen.append((progress.evaluations, progress.objective, progress.improved_at))


def test_best_is_lexicographic_and_ties_keep_the_older() -> None:
    """Tests that overflow counts before the objective and that an equal fitness changes nothing."""
    incumbents = Incumbents()
    run: SearchRun[str] = SearchRun(MaxEvaluations(7), incumbents)
    fitnesses = [(5, 1), (4, 90), (0, 50), (0, 50), (1, 2), (0, 49), (0, 60)]
    best = []
    for number, fitness in enumerate(fitnesses):
        assert not run.stopped
        run.record(fitness, f"s{number}")
        best.append(run.best_solution)
    assert best == ["s0", "s1", "s2", "s2", "s2", "s5", "s5"]
    assert run.best_fitness == (0, 49)
    assert incumbents.seen == [(3, 50, 3), (6, 49, 6)]
    assert run.stopped


def test_overflow_is_no_objective() -> None:
    """Tests that a solution beyond a memory limit is remembered but gives no objective."""
    run: SearchRun[str] = SearchRun(MaxEvaluations(2), Callback())
    run.record((3, 10), "over")
    assert (run.best_solution, run.progress.objective, run.progress.improved_at) == ("over", None, 1)


def test_share_follows_the_criterion() -> None:
    """Tests that the used share of the budget is that of the stop criterion."""
    run: SearchRun[str] = SearchRun(MaxEvaluations(4), Callback())
    shares = [run.share]
    for _ in range(4):
        run.record((0, 1), "s")
        shares.append(run.share)
    assert shares == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_callback_stops() -> None:
    """Tests that a callback that wants to stop is obeyed after the evaluation that it saw."""

    class AtTwo(Callback):
        def on_evaluation(self, progress: Progress) -> None:
            self.wants_stop = progress.evaluations == 2

    run: SearchRun[str] = SearchRun(MaxEvaluations(100), AtTwo())
    stops = []
    for _ in range(2):
        run.record((0, 1), "s")
        stops.append(run.stopped)
    assert stops == [False, True]


def test_time_goes_on() -> None:
    """Tests that progress carries the time since the run began, which never falls."""
    run: SearchRun[str] = SearchRun(MaxEvaluations(3), Callback())
    seconds = []
    for _ in range(3):
        run.record((0, 1), "s")
        seconds.append(run.progress.seconds)
    assert seconds == sorted(seconds)
    assert seconds[0] > 0.0


def test_many_are_counted_one_by_one() -> None:
    """Tests that a batch ends at the stop, keeps a copy of the best, and forgets what comes after."""
    incumbents = Incumbents()
    run: SearchRun[list[int]] = SearchRun(MaxEvaluations(5), incumbents)
    rows = [[number] for number in range(4)]
    assert run.record_many(np.array([[3, 1], [0, 9], [0, 9], [0, 7]]), rows) == 4
    rows[3][0] = 99
    assert (run.best_fitness, run.best_solution) == ((0, 7), [3])
    assert not run.stopped
    assert run.record_many(np.array([[0, 8], [0, 1]]), [[5], [6]]) == 1
    assert (run.best_fitness, run.best_solution, run.progress.evaluations) == ((0, 7), [3], 5)
    assert run.stopped
    assert incumbents.seen == [(2, 9, 2), (4, 7, 4)]


def test_no_one_is_counted_of_none() -> None:
    """Tests that an empty batch changes nothing."""
    run: SearchRun[str] = SearchRun(MaxEvaluations(5), Callback())
    assert run.record_many(np.empty((0, 2), dtype=np.int64), []) == 0
    assert run.progress.evaluations == 0
