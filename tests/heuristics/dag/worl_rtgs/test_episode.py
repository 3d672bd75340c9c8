"""Tests of one placement by the network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list, schedule_of
from heuristics.dag.timeline import Placement, Timeline, objective_of
from heuristics.dag.worl_rtgs import network
from heuristics.dag.worl_rtgs.episode import play
from heuristics.dag.worl_rtgs.features import episode_data
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.dag.verify import verify_dag_schedule
from tests.compiled import compiled
from tests.heuristics.dag.worl_rtgs.recorded_episode import WEIGHTS, recorded, towards
from tests.strategies import changed, dag_instances

q_values = compiled(network.q_values)

HEFT_GPUS, OPTIMAL_GPUS = [0, 0, 0, 1, 0], [0, 1, 0, 1, 0]
NO_NOISE = np.empty((0, 0))
DEAD_END = DagInstance.from_lists([[3, 3], [3, 3], [3, 3]], task_memory=[2, 2, 2], gpu_memory=[3, 3])
"""Two GPUs have room for one task each."""


def _play(
    instance: DagInstance,
    *,
    wish: np.ndarray | None = None,
    lam: float = 0.0,
    noise: np.ndarray = NO_NOISE,
    temperature: float = 0.0,
    objective: Objective = Objective.MAKESPAN,
) -> Timeline:
    """Play with an untrained network."""
    data = episode_data(instance, objective)
    wish = np.empty(0) if wish is None else wish.astype(np.float64)
    return play(dag_arrays(instance), data, WEIGHTS, wish, lam, noise, temperature)


def test_rewards_along_heft(example_e: DagInstance) -> None:
    """Tests the hand-computed rewards of HEFT's placement, in 13ths: their sum is -18."""
    played = towards(example_e, HEFT_GPUS)
    assert 13 * played.rewards == pytest.approx([-4, -3, -3, -6, -2])
    assert played.actions.tolist() == [0, 0, 0, 0, 1]  # tasks 0, 2, 1, 4, 3
    assert played.timeline.start.tolist() == [0, 7, 4, 15, 10]


def test_rewards_along_the_optimum(example_e: DagInstance) -> None:
    """Tests the hand-computed rewards of the optimal placement, in 13ths: their sum is -15."""
    played = towards(example_e, OPTIMAL_GPUS)
    assert 13 * played.rewards == pytest.approx([-4, -3, -4, -2, -2])
    assert played.timeline.start.tolist() == [0, 8, 4, 12, 7]


def test_penalty_of_the_wish(example_e: DagInstance) -> None:
    """Tests that task 1 on GPU 0, far from its wish, costs .5 / 5 x .7 = .07 more."""
    wish = [4, 3, 7, 6, 13]
    with_wish = towards(example_e, HEFT_GPUS, wish=wish, lam=0.5)
    assert with_wish.rewards[2] == pytest.approx(-3 / 13 - 0.07)
    assert towards(example_e, OPTIMAL_GPUS, wish=wish, lam=0.5).rewards[2] == pytest.approx(-4 / 13)


@settings(deadline=None)
@given(
    instance=dag_instances(max_tasks=7),
    objective=st.sampled_from(FINISH_OBJECTIVES),
    lam=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 2**32),
)
def test_rewards_telescope(instance: DagInstance, objective: Objective, lam: float, seed: int) -> None:
    """Tests that rewards sum to -objective / LB, less what the wish and dead ends cost; empty jobs are not counted."""
    rng = np.random.default_rng(seed)
    played = recorded(
        instance,
        objective=objective,
        wish=rng.integers(0, 30, instance.num_tasks),
        lam=lam,
        epsilon=0.7,
        uniforms=rng.random((instance.num_tasks, 2)),
    )
    steps = np.arange(instance.num_tasks)
    distance = np.abs(played.rows[steps, played.actions, 0]).sum()
    value = objective_of(dag_arrays(instance), played.timeline, objective is Objective.WEIGHTED_COMPLETION)
    if objective is Objective.WEIGHTED_COMPLETION:
        empty = np.setdiff1d(np.arange(instance.num_jobs), instance.job_of_task)
        value -= (instance.weight * instance.release)[empty].sum()
    bound = episode_data(instance, objective).lower_bound
    rest = played.rewards.sum() + value / bound + lam / instance.num_tasks * distance
    dead_ends = round(-rest)
    assert rest == pytest.approx(-dead_ends, abs=1e-6)
    assert (dead_ends > 0) == (played.timeline.overflow[0] > 0)


@settings(deadline=None)
@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 2**32))
def test_takes_the_largest_value(instance: DagInstance, seed: int) -> None:
    """Tests that every action is the first of largest value among the GPUs that fit, with and without a record."""
    wish = np.random.default_rng(seed).integers(0, 30, instance.num_tasks)
    played = recorded(instance, wish=wish, lam=0.5)
    values = np.empty(instance.num_gpus, dtype=np.float32)
    for position in range(instance.num_tasks):
        q_values(WEIGHTS, played.rows[position], played.fits[position], values)
        assert played.actions[position] == values.argmax()
        assert played.fits[position, played.actions[position]]
    again = _play(instance, wish=wish, lam=0.5)
    assert np.array_equal(again.gpu, played.timeline.gpu)
    assert np.array_equal(again.start, played.timeline.start)


@settings(deadline=None)
@given(instance=dag_instances(max_tasks=7), objective=st.sampled_from(FINISH_OBJECTIVES), seed=st.integers(0, 2**32))
def test_schedules_verify(instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that noisy placements verify or exceed a memory limit, and that list scheduling repeats them."""
    noise = np.random.default_rng(seed).gumbel(size=instance.durations.shape)
    timeline = _play(instance, noise=noise, temperature=1.0, objective=objective)
    schedule = schedule_of(instance, Placement(timeline.gpu, timeline.start, int(timeline.overflow[0])))
    if schedule is None:
        assert (np.bincount(timeline.gpu, instance.task_memory, instance.num_gpus) > instance.gpu_memory).any()
    else:
        assert verify_dag_schedule(instance, schedule) == []
        repeated = place_by_list(dag_arrays(instance), pinned=timeline.gpu)
        assert np.array_equal(repeated.gpu, timeline.gpu)
        assert np.array_equal(repeated.start, timeline.start)


def test_reserved_memory_is_no_choice(example_e_with_memory: DagInstance) -> None:
    """Tests that GPU 0 is closed for task 1 when 0 and 2 are there: 4 of its 12 bytes are kept for task 4."""
    uniforms = np.zeros((5, 2))  # GPU 0 wherever it fits
    played = recorded(example_e_with_memory, epsilon=1.0, uniforms=uniforms)
    assert played.fits.tolist() == [[True, True], [True, True], [False, True], [True, False], [False, True]]
    assert played.timeline.gpu.tolist() == OPTIMAL_GPUS
    assert played.timeline.finish.max() == 15
    assert played.rows[:2, 0, 7] == pytest.approx([8 / 12, 4 / 12])
    assert (played.rows[:2, 1, 7] == 1).all()
    assert not played.rows[2, 0].any()
    assert played.rows[3, 0, 7] == 0


def test_dead_end() -> None:
    """Tests the third of three tasks where two fit: one GPU is the only choice, one byte over, and costs 1 more."""
    played = recorded(DEAD_END)
    assert played.fits[0].tolist() == [True, True]
    assert played.fits.sum(axis=1).tolist() == [2, 1, 1]
    assert played.timeline.overflow[0] == 1
    assert played.rewards.sum() == pytest.approx(-6 / 5 - 1)  # LB is ceil(9 / 2)
    assert played.rewards[2] == pytest.approx(-3 / 5 - 1)
    assert played.rows[2, played.actions[2], 7] == pytest.approx(-1 / 3)


def test_noise_decides_at_high_temperature(example_e: DagInstance) -> None:
    """Tests that the noise of a task chooses its GPU where the temperature is high, and has no say at temperature 0."""
    noise = np.zeros((5, 2))
    noise[np.arange(5), OPTIMAL_GPUS] = 1.0
    assert _play(example_e, noise=noise, temperature=1e6).gpu.tolist() == OPTIMAL_GPUS
    noise[:, 1] = 100.0
    assert _play(example_e, noise=noise, temperature=1e6).gpu.tolist() == [1, 1, 1, 1, 0]
    assert _play(example_e, noise=noise).gpu.tolist() == _play(example_e).gpu.tolist()


def test_ties_go_to_the_lowest_gpu() -> None:
    """Tests a task on three equal GPUs."""
    assert _play(DagInstance.from_lists([[4, 4, 4]])).gpu.tolist() == [0]


def test_exploration_is_uniform_over_gpus_that_fit() -> None:
    """Tests which GPU the second random number chooses among those that fit: 0, 2 and 3 of four."""
    instance = DagInstance.from_lists([[4, None, 4, 4]])
    for number, gpu in ((0.0, 0), (0.33, 0), (0.34, 2), (0.66, 2), (0.67, 3), (0.9999, 3)):
        played = recorded(instance, epsilon=0.5, uniforms=np.array([[0.49, number]]))
        assert played.timeline.gpu.tolist() == [gpu]
    greedy = recorded(instance, epsilon=0.5, uniforms=np.array([[0.5, 0.9999]]))
    assert greedy.timeline.gpu.tolist() == _play(instance).gpu.tolist()


def test_wish_is_heard_only_with_a_weight(example_e: DagInstance) -> None:
    """Tests that a wish without weight changes nothing, and one with weight what the network sees."""
    wish = np.array([400, 3, 0, 6, 13])
    assert _play(example_e, wish=wish).gpu.tolist() == _play(example_e).gpu.tolist()
    rows = recorded(example_e, wish=wish, lam=1.0).rows
    assert rows[0, 0, 0] == pytest.approx((396 / 4.5) / (1 + 396 / 4.5))


def test_no_tasks() -> None:
    """Tests that nothing is placed where there is nothing."""
    instance = DagInstance.from_lists([], num_gpus=2)
    assert len(_play(instance).gpu) == 0
    assert len(recorded(instance).rewards) == 0


def test_releases_count_for_rewards(example_e: DagInstance) -> None:
    """Tests that waiting for a release of 10 ticks lengthens the partial makespan: -14 / 23 for the first task."""
    later = changed(example_e, release=np.array([10]))
    assert episode_data(later).lower_bound == 23.0
    assert 23 * towards(later, HEFT_GPUS).rewards == pytest.approx([-14, -3, -3, -6, -2])
