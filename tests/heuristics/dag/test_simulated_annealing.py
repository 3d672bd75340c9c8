"""Tests of simulated annealing on random keys: acceptance and temperatures by hand, and runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.list_scheduling import heft
from heuristics.dag.random_keys import DECODINGS, RandomKeys
from heuristics.dag.simulated_annealing import is_accepted, mean_worsening, sa, with_new_keys
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from tests.heuristics.dag.watched_evaluations import watch_evaluations
from tests.search_trace import SearchTrace, search
from tests.strategies import dag_instances


def test_acceptance() -> None:
    """Tests exp(-3 / 2) = 0.2231 for 3 ticks more at temperature 2; what is not worse always, more overflow never."""
    assert is_accepted((0, 10), (0, 13), 2.0, 0.2231)
    assert not is_accepted((0, 10), (0, 13), 2.0, 0.2232)
    assert is_accepted((0, 10), (0, 10), 2.0, 0.9999)
    assert is_accepted((0, 10), (0, 4), 2.0, 0.9999)
    assert is_accepted((5, 10), (4, 90), 2.0, 0.9999)
    assert not is_accepted((4, 90), (5, 10), 1e9, 0.0)
    assert is_accepted((5, 10), (5, 13), 2.0, 0.2231)
    assert not is_accepted((0, 0), (0, 10**18), 1e-3, 1e-300)


def test_mean_worsening() -> None:
    """Tests the mean of 2 and 6 ticks more; better, equal and more overflow do not count; 1 where nothing is worse."""
    assert mean_worsening((0, 10), np.array([[0, 12], [0, 16], [0, 10], [0, 3], [7, 99]])) == 4.0
    assert mean_worsening((0, 10), np.array([[0, 10], [0, 9]])) == 1.0
    assert mean_worsening((0, 10), np.empty((0, 2), dtype=np.int64)) == 1.0


@given(seed=st.integers(0, 999), size=st.integers(0, 8), count=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_moves_change_few_keys(seed: int, size: int, count: int) -> None:
    """Tests that at most so many keys change, to numbers of the cube, and that the point itself stays."""
    point = np.full(size, 0.5)
    candidate = with_new_keys(point, np.random.default_rng(seed), count)
    changed = candidate != point
    assert changed.sum() <= count
    assert changed.any() or size == 0
    assert np.all((candidate >= 0.0) & (candidate < 1.0))
    assert (point == 0.5).all()


def test_run_equals_a_plain_loop(heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests all points of a run against a loop: samples round the start, then moves that are accepted or not."""
    evaluated: list[list[float]] = []
    with monkeypatch.context() as patched:
        watch_evaluations(patched, lambda points: evaluated.extend(points.tolist()))
        search(sa, heft_example, 4, 120, samples=10, first_acceptance=0.5, last_acceptance=0.01)
    decoder, rng = RandomKeys(heft_example, Objective.MAKESPAN), np.random.default_rng(4)

    def move(point: list[float]) -> list[float]:
        point = list(point)
        for _ in range(2):
            key = int(rng.integers(20))
            point[key] = rng.random()
        return point

    now = decoder.heft_keys().tolist()
    samples = [move(now) for _ in range(10)]
    value = decoder.evaluate(np.array(now))[1]
    worse = [found - value for found in (decoder.evaluate(np.array(one))[1] for one in samples) if found > value]
    first, last = (sum(worse) / len(worse) / -math.log(accepted) for accepted in (0.5, 0.01))
    expected, accepted_worse = [now, *samples], 0
    while len(expected) < 120:
        candidate, luck = move(now), rng.random()
        temperature = first * (last / first) ** (len(expected) / 120)
        expected.append(candidate)
        found = decoder.evaluate(np.array(candidate))[1]
        if found <= value or luck < math.exp(-(found - value) / temperature):
            accepted_worse += found > value
            now, value = candidate, found
    assert evaluated == expected
    assert accepted_worse > 0


@pytest.mark.parametrize("evaluations", [1, 2, 50, 51, 52])
def test_budget_within_the_samples(example_e: DagInstance, evaluations: int) -> None:
    """Tests budgets that end with the start, among the samples, with the last sample and right after."""
    schedule, trace = search(sa, example_e, 5, evaluations)
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == trace.objectives[-1]


@pytest.mark.parametrize("durations", [[[3, 2]], [[0, 0], [0, 0], [0, 0]], [[2], [2]], []])
def test_degenerate_instances(durations: list[list[int]]) -> None:
    """Tests one task, all durations 0, one GPU and no tasks, where no move is worse."""
    instance = DagInstance.from_lists(durations, num_gpus=2 if not durations else None)
    schedule, trace = search(sa, instance, 0, 70)
    assert trace.objectives == [{1: 2, 3: 0, 2: 4, 0: 0}[len(durations)]] * 70
    assert objective_value(instance, schedule, Objective.MAKESPAN) == trace.objectives[-1]


def test_result_is_the_best_evaluated(example_e: DagInstance) -> None:
    """Tests that the best never worsens, begins at HEFT, and is what is returned: the optimum of E."""
    schedule, trace = search(sa, example_e, 1, 400)
    assert trace.objectives[0] == 18
    assert trace.objectives == sorted(trace.objectives, reverse=True)
    assert trace.objectives[-1] == objective_value(example_e, schedule, Objective.MAKESPAN) == 15


@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 99), decoding=st.sampled_from(DECODINGS))
@settings(max_examples=40, deadline=None)
def test_never_worse_than_heft(instance: DagInstance, seed: int, decoding: str) -> None:
    """Tests that from HEFT's schedule the result is at most as long, and there where HEFT's is."""
    expected = heft(instance)
    schedule, _ = search(sa, instance, seed, 25, samples=5, decoding=decoding)
    if expected is not None:
        assert schedule is not None
        makespans = [objective_value(instance, one, Objective.MAKESPAN) for one in (schedule, expected)]
        assert makespans[0] <= makespans[1]


def test_seed_decides(heft_example: DagInstance) -> None:
    """Tests that one seed gives one schedule and other seeds others."""
    starts = [search(sa, heft_example, seed, 60)[0].start.tolist() for seed in (1, 1, 2, 3, 4)]
    assert starts[0] == starts[1]
    assert len({tuple(entry) for entry in starts}) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples: expected at least 1, got 0."),
        ({"first_acceptance": 1.0}, "first_acceptance: expected a number between 0 and 1, got 1.0."),
        ({"last_acceptance": 0.5}, "last_acceptance: expected a number above 0 and at most 0.4, got 0.5."),
        ({"keys_per_move": 0}, "keys_per_move: expected at least 1, got 0."),
    ],
)
def test_parameters_are_checked(example_e: DagInstance, options: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused before anything is evaluated."""
    trace = SearchTrace()
    with pytest.raises(ValueError) as caught:
        sa(example_e, Objective.MAKESPAN, np.random.default_rng(0), MaxEvaluations(5), trace, **options)
    assert str(caught.value) == message
    assert trace.objectives == []
