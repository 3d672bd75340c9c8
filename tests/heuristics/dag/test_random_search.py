"""Tests of random search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import heft, place_by_list, schedule_of
from heuristics.dag.priorities import noisy_ranks, upward_ranks
from heuristics.dag.random_keys import MOST_POINTS, RandomKeys
from heuristics.dag.random_search import random_search
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations, TargetObjective
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from heuristics.search.progress import Progress
    from instances.dag.schedule import DagSchedule


class Trace(Callback):
    """Keeps the progress after every evaluation."""

    def __init__(self) -> None:
        self.states: list[Progress] = []

    def on_evaluation(self, progress: Progress) -> None:
        """Keep it."""
        self.states.append(progress)


def search(instance: DagInstance, seed: int, evaluations: int, **options: object) -> tuple[DagSchedule | None, Trace]:
    """Run a search and return its schedule and trace."""
    trace = Trace()
    rng = np.random.default_rng(seed)
    return random_search(instance, Objective.MAKESPAN, rng, MaxEvaluations(evaluations), trace, **options), trace


def test_budget_and_trace(example_e: DagInstance) -> None:
    """Tests that every evaluation counts once, the best never worsens, and the optimum of E is found."""
    schedule, trace = search(example_e, seed=0, evaluations=300)
    assert [state.evaluations for state in trace.states] == list(range(1, 301))
    objectives = [state.objective for state in trace.states]
    assert objectives[0] == 18
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == objective_value(example_e, schedule, Objective.MAKESPAN) == 15


@pytest.mark.parametrize("heft_seed", [True, False])
@pytest.mark.parametrize("decoding", ["ranked", "eft", "direct"])
def test_best_of_the_same_draws(example_e: DagInstance, decoding: str, heft_seed: bool) -> None:
    """Tests that the result is the first best of the points that the generator gives."""
    decoder = RandomKeys(example_e, Objective.MAKESPAN, decoding)
    rng = np.random.default_rng(3)
    points = [decoder.heft_keys()] if heft_seed else []
    points += [rng.random(decoder.num_keys) for _ in range(25 - len(points))]
    best = min(points, key=lambda point: decoder.evaluate(point))
    schedule, _ = search(example_e, seed=3, evaluations=25, decoding=decoding, heft_seed=heft_seed)
    assert schedule.start.tolist() == decoder.schedule(best).start.tolist()
    assert schedule.gpu.tolist() == decoder.schedule(best).gpu.tolist()


@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_never_worse_than_heft(instance: DagInstance, seed: int) -> None:
    """Tests that with HEFT's schedule as first point the result is at most as long, and there where HEFT's is."""
    expected = heft(instance)
    schedule, _ = search(instance, seed=seed, evaluations=10)
    if expected is not None:
        assert schedule is not None
        makespans = [objective_value(instance, one, Objective.MAKESPAN) for one in (schedule, expected)]
        assert makespans[0] <= makespans[1]


def test_target_stops(example_e: DagInstance) -> None:
    """Tests that the search ends with the evaluation that reaches a target."""
    trace = Trace()
    rng = np.random.default_rng(0)
    random_search(example_e, Objective.MAKESPAN, rng, TargetObjective(15), trace)
    assert [state.objective == 15 for state in trace.states] == [False] * (len(trace.states) - 1) + [True]


def test_nothing_fits() -> None:
    """Tests that without any point that keeps the limits there is no schedule."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    schedule, trace = search(instance, seed=0, evaluations=5)
    assert schedule is None
    assert {state.objective for state in trace.states} == {None}


def test_rank_noise_is_the_best_of_noisy_ranks(example_e: DagInstance) -> None:
    """Tests that orders around HEFT's ranks with earliest finish give the best of the orders that are drawn."""
    rank = upward_ranks(dag_arrays(example_e))
    rng, count = np.random.default_rng(5), 1
    best = None
    for count in (1, 30):
        rng.random((count if count == 1 else MOST_POINTS, example_e.num_tasks))
        orders = noisy_ranks(rank, rng, count if count == 1 else MOST_POINTS)[:count]
        for order in orders:
            placement = place_by_list(dag_arrays(example_e), order)
            made = schedule_of(example_e, placement)
            value = objective_value(example_e, made, Objective.MAKESPAN)
            best = value if best is None else min(best, value)
    _, trace = search(example_e, 5, 31, order="rank-noise", decoding="eft", heft_seed=False)
    assert trace.states[-1].objective == best
    assert trace.states[0].objective is not None


def test_order_is_checked(example_e: DagInstance) -> None:
    """Tests the messages for an unknown order, and for one that the decoding has no use for."""
    with pytest.raises(ValueError, match="order: expected uniform or rank-noise, got 'rank'"):
        search(example_e, 0, 1, order="rank")
    with pytest.raises(ValueError, match="order: expected 'uniform' with decoding 'load', got 'rank-noise'"):
        search(example_e, 0, 1, order="rank-noise", decoding="load")
