"""Tests of the loop of RTGS with scripted generators."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.dag.greedy_generator import Population
from heuristics.dag.rtgs.population import improve_population
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations, TargetObjective


def population_of(objectives: list[int], overflow: list[int] | None = None) -> Population:
    """Return placements of two tasks that carry their objective as GPU of the first task and as position."""
    values = np.array(objectives, dtype=np.int64)
    gpu = np.column_stack([values, np.zeros_like(values)])
    bytes_over = np.zeros_like(values) if overflow is None else np.array(overflow, dtype=np.int64)
    return Population(gpu=gpu, position=gpu.astype(float), overflow=bytes_over, objective=values)


class Scripted:
    """Returns given populations in turn and keeps its arguments."""

    def __init__(self, *populations: Population) -> None:
        self.populations = list(populations)
        self.asked: list[tuple[np.ndarray, float]] = []

    def generate(self, desired: np.ndarray, rng: np.random.Generator, a: float) -> Population:
        """Return the next one; draw something, as a generator may."""
        rng.random()
        self.asked.append((desired, a))
        return self.populations[len(self.asked) - 1]


def test_rounds_budget_and_leader() -> None:
    """Tests one call per round, H - 1 rows of desired loads, a by the used share, and a leader that survives.

    With 4 whales and 13 evaluations rounds begin at 4, 7 and 10, so a = 2 (1 - 4/13) and so on.
    """
    generator = Scripted(population_of([9, 9, 9]), population_of([4, 8, 8]), population_of([7, 7, 7]))
    best = improve_population(
        np.random.default_rng(0), MaxEvaluations(13), Callback(), generator=generator, first=population_of([6, 5, 7, 5])
    )
    assert best.gpu[0].tolist() == [4, 0]
    assert [a for _, a in generator.asked] == pytest.approx([2 * (1 - used / 13) for used in (4, 7, 10)])
    assert [desired.shape for desired, _ in generator.asked] == [(3, 2)] * 3


def test_leader_stays_and_children_replace_parents() -> None:
    """Tests by the desired loads: where all whales stand at one point, h is that point whatever is drawn."""
    generator = Scripted(population_of([5, 5]), population_of([9, 9]), population_of([9, 9]))
    improve_population(
        np.random.default_rng(1), MaxEvaluations(9), Callback(), generator=generator, first=population_of([8, 5, 6])
    )
    first, second, third = (desired[:, 0].tolist() for desired, _ in generator.asked)
    assert first != [5.0, 5.0]  # 8 and 6 are still there
    assert second == [5.0, 5.0]  # the leader and its two children
    assert third != [5.0, 5.0]  # the leader stayed although its children of the first round did as well


def test_target_stops_in_the_middle_of_a_litter() -> None:
    """Tests that what comes after a stop is as if it had never been made."""
    generator = Scripted(population_of([6, 3, 1]))
    target = improve_population(
        np.random.default_rng(0), TargetObjective(3), Callback(), generator=generator, first=population_of([9] * 4)
    )
    assert target.gpu[0].tolist() == [3, 0]


def test_overflow_is_worse_than_any_objective() -> None:
    """Tests that the leader has the least overflow first, and that nothing is returned where all overflow."""
    first = population_of([1, 9, 2], overflow=[4, 0, 3])
    assert first.best == 1
    assert population_of([7, 3, 3], overflow=[2, 2, 2]).best == 1
    rng = np.random.default_rng(0)
    assert improve_population(rng, MaxEvaluations(3), Callback(), generator=Scripted(), first=first).gpu[
        0
    ].tolist() == [9, 0]
    hopeless = population_of([1, 9, 2], overflow=[4, 1, 3])
    assert improve_population(rng, MaxEvaluations(3), Callback(), generator=Scripted(), first=hopeless) is None
