"""Tests of shaped rewards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.worl_rtgs.episode import play
from heuristics.dag.worl_rtgs.features import episode_data
from heuristics.dag.worl_rtgs.network import initial_weights
from heuristics.dag.worl_rtgs.shaping import expected_makespans, shaped_rewards
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from instances import DagInstance

WEIGHTS = initial_weights(np.random.default_rng(0))


def _expected_makespans(instance: DagInstance) -> tuple[np.ndarray, int]:
    """Return E before and after each placement in ticks, and the makespan, of the untrained network's placement."""
    arrays, data = dag_arrays(instance), episode_data(instance)
    timeline = play(arrays, data, WEIGHTS, np.empty(0), 0.0, np.empty((0, 0)), 0.0)
    expected, makespan = expected_makespans(arrays, data, timeline)
    assert np.array_equal(makespan, np.maximum.accumulate(np.concatenate([[0], timeline.finish[data.order]])))
    return expected, int(timeline.finish.max())


def test_expected_makespans_of_the_example(example_e: DagInstance) -> None:
    """Tests E along one placement of example E by hand: onward costs, loads and LB 13."""
    arrays, data = dag_arrays(example_e), episode_data(example_e)
    timeline = play(arrays, data, WEIGHTS, np.empty(0), 0.0, np.empty((0, 0)), 0.0)
    onward = {(0, 0): 11, (0, 1): 13, (1, 0): 8, (1, 1): 3, (2, 0): 8, (2, 1): 8}
    shortest, expected, longest = [4, 3, 3, 3, 6], [13.0], 0
    for step, task in enumerate([0, 2, 1, 4, 3]):
        longest = max(longest, timeline.finish[task] + onward.get((task, int(timeline.gpu[task])), 0))
        placed = [0, 2, 1, 4, 3][: step + 1]
        work = sum(shortest[i] for i in range(5) if i not in placed)
        work += sum(int(example_e.durations[i, timeline.gpu[i]]) for i in placed)
        expected.append(max(13.0, longest, work / 2))
    found, makespan = _expected_makespans(example_e)
    assert found == pytest.approx(expected)
    assert found[-1] == makespan


@settings(max_examples=60, deadline=None)
@given(instance=dag_instances(max_jobs=2))
def test_expected_makespan_rises_to_the_makespan(instance: DagInstance) -> None:
    """Tests that E begins at LB or above, never falls, and ends at the makespan: so it is a lower bound throughout."""
    found, makespan = _expected_makespans(instance)
    assert found[0] >= episode_data(instance).lower_bound - 1e-9
    assert (np.diff(found) >= -1e-9).all() or makespan == 0
    assert found[-1] == pytest.approx(makespan)


def test_rewards_are_the_fall_of_what_is_expected() -> None:
    """Tests by hand: makespans 0, 4, 4, 6, expected 5, 5, 6, 6, LB 4, unit 10, a wish term in the second reward."""
    makespan, expected = np.array([0.0, 4.0, 4.0, 6.0]), np.array([5.0, 5.0, 6.0, 6.0])
    reward = np.array([-4 / 4, -0.25, -2 / 4])
    found = shaped_rewards(reward, expected, makespan, lower_bound=4.0, unit=10.0, gamma=1.0)
    assert found == pytest.approx([0.0, -0.25 - 0.1, 0.0])
    discounted = shaped_rewards(reward, expected, makespan, lower_bound=4.0, unit=10.0, gamma=0.5)
    assert discounted == pytest.approx([-0.4 - 0.05 + 0.5, -0.25 - 0.1 + 0.1, -0.2 + 0.2])


def test_returns_of_an_instance_differ_by_the_makespan_only(example_e: DagInstance) -> None:
    """Tests that shaped rewards add up to (E at the start - makespan) / unit, whatever is placed where."""
    arrays, data = dag_arrays(example_e), episode_data(example_e)
    for seed in range(5):
        weights = initial_weights(np.random.default_rng(seed))
        timeline = play(arrays, data, weights, np.empty(0), 0.0, np.empty((0, 0)), 0.0)
        expected, makespan = expected_makespans(arrays, data, timeline)
        reward = -np.diff(makespan) / data.lower_bound
        shaped = shaped_rewards(reward, expected, makespan, lower_bound=data.lower_bound, unit=18.0, gamma=1.0)
        assert shaped.sum() == pytest.approx((13 - timeline.finish.max()) / 18)
        assert (shaped <= 1e-12).all()
