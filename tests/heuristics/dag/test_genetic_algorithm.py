"""Tests of the genetic algorithm: operators by hand, and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.genetic_algorithm import (
    RANDOM_START_MUTATION,
    GeneticSettings,
    cross_uniformly,
    ga,
    mutate_uniformly,
    select_by_tournament,
)
from heuristics.dag.list_scheduling import heft
from heuristics.dag.random_keys import DECODINGS, RandomKeys
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.objective import Objective, objective_value
from tests.search_trace import SearchTrace, search
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def test_tournaments() -> None:
    """Tests that the best of each drawn group becomes a parent, ties to the lowest index, and overflow counts first."""
    fitness = [(0, -7), (-2, -1), (0, -4), (0, -4), (0, -9)]  # as DEAP weighs them
    rank = {2: 0, 3: 1, 0: 2, 4: 3, 1: 4}
    for seed in range(20):
        groups = np.random.default_rng(seed).integers(5, size=(5, 3)).tolist()
        expected = [min(group, key=lambda member: rank[member]) for group in groups]
        assert select_by_tournament(np.random.default_rng(seed), fitness, size=3).tolist() == expected


def test_tournaments_of_one_choose_at_random() -> None:
    """Tests that without competition every member becomes a parent about as often."""
    rng = np.random.default_rng(0)
    chosen = [select_by_tournament(rng, [(0, -k) for k in range(4)], size=1) for _ in range(500)]
    assert np.bincount(np.ravel(chosen)).min() > 400


def test_crossover_swaps_keys_of_pairs() -> None:
    """Tests that children have between them the keys of their parents, about half swapped; an odd one stays."""
    parents = np.arange(5 * 400, dtype=float).reshape(5, 400)
    before = parents.copy()
    children = cross_uniformly(np.random.default_rng(3), parents, probability=1.0)
    for first in (0, 2):
        swapped = children[first] == parents[first + 1]
        assert 150 < swapped.sum() < 250
        assert np.array_equal(children[first], np.where(swapped, parents[first + 1], parents[first]))
        assert np.array_equal(children[first + 1], np.where(swapped, parents[first], parents[first + 1]))
    assert np.array_equal(children[4], parents[4])
    assert np.array_equal(parents, before)
    assert np.array_equal(cross_uniformly(np.random.default_rng(3), parents, probability=0.0), parents)


def test_mutation_replaces_keys() -> None:
    """Tests that about the wanted share of keys is replaced by other numbers of [0, 1)."""
    points = np.full((10, 1000), 2.0)
    mutants = mutate_uniformly(np.random.default_rng(1), points, probability=0.1)
    assert 850 < (mutants != 2.0).sum() < 1150
    assert np.all((mutants == 2.0) | ((mutants >= 0.0) & (mutants < 1.0)))
    assert np.array_equal(mutate_uniformly(np.random.default_rng(1), points, probability=0.0), points)
    assert (points == 2.0).all()


@given(seed=st.integers(0, 999), count=st.integers(2, 7), keys=st.integers(0, 6), rate=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_operators_keep_the_cube(seed: int, count: int, keys: int, rate: float) -> None:
    """Tests that children of points of the unit cube are points of it, of the same shape."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 2, size=(count, keys)).astype(float)
    children = mutate_uniformly(rng, cross_uniformly(rng, points, probability=rate), probability=rate)
    assert children.shape == points.shape
    assert np.all((children >= 0.0) & (children <= 1.0))


def test_best_parent_survives(heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that every generation but the first is bred from a population that holds the best point so far."""
    decoder = RandomKeys(heft_example, Objective.MAKESPAN)
    populations = []

    def watched(rng: np.random.Generator, parents: np.ndarray, *, probability: float) -> np.ndarray:
        populations.append(parents)
        return cross_uniformly(rng, parents, probability=probability)

    monkeypatch.setattr("heuristics.dag.genetic_algorithm.cross_uniformly", watched)
    # tournaments of so many members choose the best one only
    _, trace = search(ga, heft_example, 5, 200, population=10, tournament=200, mutation=0.5, heft_seed=False)
    best = [objective for objective in trace.objectives[9::10]]
    assert [decoder.evaluate(parents[0])[1] for parents in populations] == best[: len(populations)]
    assert len(populations) == 19
    assert best[0] > best[-1]


def test_result_is_the_best_evaluated(example_e: DagInstance) -> None:
    """Tests that the best never worsens, begins at HEFT, and is what is returned: the optimum of E."""
    schedule, trace = search(ga, example_e, 1, 400)
    assert trace.objectives[0] == 18
    assert trace.objectives == sorted(trace.objectives, reverse=True)
    assert trace.objectives[-1] == objective_value(example_e, schedule, Objective.MAKESPAN) == 15
    assert [row["evaluations"] for row in trace.rounds] == list(range(20, 401, 20))


@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 99), decoding=st.sampled_from(DECODINGS))
@settings(max_examples=40, deadline=None)
def test_never_worse_than_heft(instance: DagInstance, seed: int, decoding: str) -> None:
    """Tests that with HEFT's schedule as member 0 the result is at most as long, and there where HEFT's is."""
    expected = heft(instance)
    schedule, _ = search(ga, instance, seed, 25, population=5, decoding=decoding)
    if expected is not None:
        assert schedule is not None
        makespans = [objective_value(instance, one, Objective.MAKESPAN) for one in (schedule, expected)]
        assert makespans[0] <= makespans[1]


@pytest.mark.parametrize(
    ("options", "num_keys", "rate"),
    [
        ({}, 200, 1 / 200),
        ({}, 0, 1.0),
        ({"heft_seed": False}, 200, RANDOM_START_MUTATION),
        ({"heft_seed": False}, 20, 1 / 20),
        ({"heft_seed": False, "mutation": 0.0}, 200, 0.0),
        ({"mutation": 0.3}, 200, 0.3),
    ],
)
def test_mutation_rate(
    options: dict[str, float], num_keys: int, rate: float, example_e: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests the default with and without HEFT's schedule, that a rate that is given wins, and that a run uses it."""
    assert GeneticSettings(**options).mutation_rate(num_keys) == rate
    used: list[float] = []
    monkeypatch.setattr(GeneticSettings, "mutation_rate", lambda settings, keys: used.append(keys) or 0.0)
    search(ga, example_e, 5, 30, population=10, **options)
    assert used == [RandomKeys(example_e, Objective.MAKESPAN).num_keys]


def test_seed_decides(heft_example: DagInstance) -> None:
    """Tests that one seed gives one schedule and other seeds others."""
    starts = [search(ga, heft_example, seed, 60)[0].start.tolist() for seed in (1, 1, 2, 3, 4)]
    assert starts[0] == starts[1]
    assert len({tuple(entry) for entry in starts}) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: expected at least 2, got 1."),
        ({"tournament": 0}, "tournament: expected at least 1, got 0."),
        ({"crossover": 1.1}, "crossover: expected a probability in 0..1, got 1.1."),
        ({"mutation": -0.5}, "mutation: expected a probability in 0..1, got -0.5."),
    ],
)
def test_parameters_are_checked(example_e: DagInstance, options: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused before anything is evaluated."""
    trace = SearchTrace()
    with pytest.raises(ValueError) as caught:
        ga(example_e, Objective.MAKESPAN, np.random.default_rng(0), MaxEvaluations(5), trace, **options)
    assert str(caught.value) == message
    assert trace.objectives == []
