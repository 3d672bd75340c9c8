"""Tests of callbacks: when each hook is called, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.random_search import random_search
from heuristics.search.progress import Callback, Progress
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.objective import Objective
from solvers.solve import solve

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


class Diary(Callback):
    """Writes down every call."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.calls: list[tuple[str, Progress | None]] = []
        self._stop_at = stop_at

    def on_start(self) -> None:
        """Write it down."""
        self.calls.append(("start", None))

    def on_evaluation(self, progress: Progress) -> None:
        """Write it down."""
        self.calls.append(("evaluation", progress))
        self.wants_stop = progress.evaluations == self._stop_at

    def on_incumbent(self, progress: Progress) -> None:
        """Write it down."""
        self.calls.append(("incumbent", progress))

    def on_bound(self, progress: Progress) -> None:
        """Write it down."""
        self.calls.append(("bound", progress))

    def on_end(self, progress: Progress) -> None:
        """Write it down."""
        self.calls.append(("end", progress))

    def names(self) -> list[str]:
        """Return the hooks in the order in which they were called."""
        return [name for name, _ in self.calls]


def test_search_tells_every_evaluation(example_e: DagInstance) -> None:
    """Tests that a search calls start, then incumbent before its evaluation, then end, with counts from 1."""
    diary = Diary()
    solve(example_e, "random-search", stop=MaxEvaluations(6), callback=diary)
    assert diary.names()[:3] == ["start", "incumbent", "evaluation"]
    assert diary.names()[-1] == "end"
    counts = [progress.evaluations for name, progress in diary.calls if name == "evaluation" and progress]
    assert counts == [1, 2, 3, 4, 5, 6]
    found = [progress.objective for name, progress in diary.calls if name == "incumbent" and progress]
    assert found == sorted(set(found), reverse=True)
    assert found[0] == 18


def test_exact_method_tells_bounds(heft_example: DagInstance) -> None:
    """Tests that an exact method reports its start, bounds that rise and objectives that fall, and no evaluations."""
    diary = Diary()
    solve(heft_example, "cp-sat", threads=1, callback=diary)
    assert "evaluation" not in diary.names()
    bounds = [progress.lower_bound for name, progress in diary.calls if name == "bound" and progress]
    objectives = [progress.objective for name, progress in diary.calls if name == "incumbent" and progress]
    assert bounds == sorted(set(bounds))
    assert objectives == sorted(set(objectives), reverse=True)
    assert 63 <= bounds[0] <= bounds[-1] <= 73 == objectives[-1]


def test_callback_stops_at_once(example_e: DagInstance) -> None:
    """Tests that a callback that wants to stop ends a search after that evaluation."""
    diary = Diary(stop_at=4)
    random_search(example_e, Objective.MAKESPAN, np.random.default_rng(0), MaxEvaluations(100), diary)
    assert diary.names().count("evaluation") == 4


def test_empty_hooks_do_nothing() -> None:
    """Tests that a plain callback has every hook, returns nothing and never wants to stop."""
    callback = Callback()
    returned = [callback.on_start(), *(getattr(callback, f"on_{name}")(Progress()) for name in HOOKS)]
    assert returned == [None] * 5
    assert callback.wants_stop is False


HOOKS = ("evaluation", "incumbent", "bound", "end")


@pytest.mark.parametrize("name", ["heft", "random-search"])
def test_watching_changes_nothing(name: str, example_e: DagInstance) -> None:
    """Tests that a run with a callback finds the same schedule as without."""
    watched, alone = (solve(example_e, name, seed=5, callback=callback) for callback in (Diary(), None))
    assert watched.schedule is not None
    assert alone.schedule is not None
    assert watched.schedule.start.tolist() == alone.schedule.start.tolist()
