"""Tests that evaluating in batches changes nothing but the number of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.callback import Callback
from heuristics.dag import point_evaluator
from heuristics.dag.point_evaluator import MOST_POINTS, PointEvaluator
from heuristics.dag.random_keys import RandomKeys
from heuristics.search_run import SearchRun
from heuristics.stop import MaxEvaluations, MaxSeconds
from instances import DagInstance, Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Clock:
    """Says that each point takes so many seconds; stands for the stopwatch and the kernel together."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds_per_point: float) -> None:
        self.now = 0.0
        self.calls: list[int] = []
        clock, evaluate = self, RandomKeys.evaluate_many

        class Watch:
            def __init__(self) -> None:
                self._begin = clock.now

            @property
            def seconds(self) -> float:
                return clock.now - self._begin

        def slowly(keys: RandomKeys, points: NDArray[np.float64]) -> NDArray[np.int64]:
            clock.calls.append(len(points))
            clock.now += seconds_per_point * len(points)
            return evaluate(keys, points)

        monkeypatch.setattr(point_evaluator, "Stopwatch", Watch)
        monkeypatch.setattr("heuristics.search_run.Stopwatch", Watch)
        monkeypatch.setattr(RandomKeys, "evaluate_many", slowly)


def test_fast_points_go_together(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a population that takes no time is one call, and that fitness comes in order."""
    keys = RandomKeys(example_e, Objective.MAKESPAN)
    points = keys.sample(np.random.default_rng(0), 50, heft_seed=True)
    expected = keys.evaluate_many(points).tolist()
    clock = Clock(monkeypatch, 1e-6)
    run: SearchRun[NDArray[np.float64]] = SearchRun(MaxEvaluations(1000), Callback())
    evaluate = PointEvaluator(keys, run)
    assert evaluate(points).tolist() == expected
    assert evaluate(points[:7]).tolist() == expected[:7]
    assert clock.calls == [50, 7]
    assert evaluate.batch == MOST_POINTS
    assert run.progress.evaluations == 57


def test_slow_points_go_one_by_one(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that with 8 ms a point calls become pairs, and that a time budget is overrun by no more than one."""
    clock = Clock(monkeypatch, 0.008)
    keys = RandomKeys(example_e, Objective.MAKESPAN)
    run: SearchRun[NDArray[np.float64]] = SearchRun(MaxSeconds(0.1), Callback())
    evaluate = PointEvaluator(keys, run)
    evaluate.batch = 1
    fitness = evaluate(keys.sample(np.random.default_rng(0), 50, heft_seed=False))
    assert clock.calls == [1, *[2] * 6]
    assert clock.now == pytest.approx(0.104)
    assert len(fitness) == run.progress.evaluations == 12  # the clock stops the run at the first of the last pair
    assert run.stopped


def test_huge_instances_begin_with_one_point() -> None:
    """Tests that the first call of 20,000 tasks on 16 GPUs is one point, that of 100 on 8 a whole population."""
    for tasks, gpus, batch in ((20_000, 16, 1), (100, 8, 250)):
        instance = DagInstance.from_lists([[1] * gpus] * tasks)
        run: SearchRun[NDArray[np.float64]] = SearchRun(MaxEvaluations(1), Callback())
        assert PointEvaluator(RandomKeys(instance, Objective.MAKESPAN), run).batch == batch


@pytest.mark.parametrize("budget", [1, 4, 5, 6, 49])
def test_budgets_hold_to_the_unit(example_e: DagInstance, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that points after the stop are neither counted nor returned nor kept as best."""
    clock = Clock(monkeypatch, 0.004)
    keys = RandomKeys(example_e, Objective.MAKESPAN)
    points = np.concatenate(
        [
            keys.sample(np.random.default_rng(0), 49, heft_seed=False),
            np.array([[0.2, 0.9, 0.5, 0.4, 0.6, 0, 0.8, 0, 0, 0]]),
        ]
    )
    run: SearchRun[NDArray[np.float64]] = SearchRun(MaxEvaluations(budget), Callback())
    fitness = PointEvaluator(keys, run)(points)
    assert len(fitness) == run.progress.evaluations == budget
    assert run.best_fitness == min(keys.evaluate(point) for point in points[:budget])
    assert len(clock.calls) > budget // MOST_POINTS
