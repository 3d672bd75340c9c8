"""Tests of the features and of what is known of an instance before its tasks are placed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from heuristics.dag.worl_rtgs.features import episode_data
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from tests.heuristics.dag.worl_rtgs.plain_features import plain_steps
from tests.heuristics.dag.worl_rtgs.recorded_episode import recorded, towards
from tests.strategies import changed, dag_instances, reordered

HEFT_GPUS, OPTIMAL_GPUS = [0, 0, 0, 1, 0], [0, 1, 0, 1, 0]


def test_data_of_example_e(example_e: DagInstance) -> None:
    """Tests ranks, order, LB, units, longest durations and onward costs against the hand-computed table."""
    data = episode_data(example_e)
    assert data.rank.tolist() == [22.5, 13.5, 16, 5.5, 6]
    assert data.order.tolist() == [0, 2, 1, 4, 3]
    assert (data.lower_bound, data.max_rank, data.weighted) == (13.0, 22.5, False)
    assert data.unit.tolist() == [4.5, 3, 5.5, 5.5, 6]
    assert data.longest_duration.tolist() == [5, 3, 8, 8, 6]
    assert data.onward.tolist() == [[11, 13], [8, 3], [8, 8], [0, 0], [0, 0]]


def test_features_of_a_step_of_example_e(example_e: DagInstance) -> None:
    """Tests the hand-computed features of task 1 after 0 and 2 on GPU 0, wishing for the optimum's load."""
    played = towards(example_e, HEFT_GPUS, wish=[4, 3, 7, 6, 13], lam=0.5)
    assert played.rows[2, 0] == pytest.approx([-0.7, 0.5, 1, 0, 0.5, 0, 0.6, 1, 0, 0.6977, 0.4, 0.5714], abs=5e-5)
    expected = [0, 0.5, 1, 0.5714, -0.7273, 0.25, 0.6, 1, 0.5714, 0.7234, 0.4, 0]
    assert played.rows[2, 1] == pytest.approx(expected, abs=5e-5)
    assert played.fits[2].tolist() == [True, True]


def test_no_wish_feature_without_weight(example_e: DagInstance) -> None:
    """Tests that features 1 and 2 are 0 where lambda is 0, whatever the wish, and the others do not change."""
    with_wish = towards(example_e, HEFT_GPUS, wish=[4, 3, 7, 6, 13], lam=0.5).rows
    without = towards(example_e, HEFT_GPUS, wish=[4, 3, 7, 6, 13], lam=0.0).rows
    assert (without[:, :, :2] == 0).all()
    assert np.array_equal(without[:, :, 2:], with_wish[:, :, 2:])
    assert np.array_equal(without, towards(example_e, HEFT_GPUS).rows)


def test_weighted_lower_bound(example_e: DagInstance) -> None:
    """Tests LB of the weighted completion: the sum over jobs of weight times the longest path from the release.

    Smallest durations are 4, 3, 3, 3, 6: job 0 (release 2, tasks 0 to 3) ends at 2 + 4 + 3 + 3 = 12 at best, job 1
    (release 0, task 4) at 2 + 4 + 3 + 6 = 15, job 2 has no tasks and ends at its release, 7.
    """
    jobs = changed(
        example_e,
        job_of_task=np.array([0, 0, 0, 0, 1]),
        release=np.array([2, 0, 7]),
        weight=np.array([3, 5, 10]),
        job_names=("j0", "j1", "j2"),
    )
    data = episode_data(jobs, Objective.WEIGHTED_COMPLETION)
    assert (data.lower_bound, data.weighted) == (3 * 12 + 5 * 15 + 10 * 7, True)
    assert data.makespan_bound == 15.0
    assert episode_data(jobs).lower_bound == 15.0
    without_weight = changed(jobs, weight=np.zeros(3, dtype=np.int64))
    assert episode_data(without_weight, Objective.WEIGHTED_COMPLETION).lower_bound == 1.0


def test_area_in_the_lower_bound() -> None:
    """Tests that LB is ceil(sum of smallest durations / m) where that is more than the longest path: ceil(16 / 3)."""
    instance = DagInstance.from_lists([[4, 9, None], [5, 4, 4], [9, 9, 4], [4, 4, 8]])
    assert episode_data(instance).lower_bound == 6.0


def test_nothing_lasts() -> None:
    """Tests the quotients of 0 by 0 and LB = 1 where all durations are 0 and there is no memory."""
    instance = DagInstance.from_lists([[0, 0], [0, 0]], [(0, 1, 0)], gpu_memory=[0, None])
    data = episode_data(instance)
    assert (data.lower_bound, data.max_rank, data.unit.tolist()) == (1.0, 0.0, [1.0, 1.0])
    rows = towards(instance, [0, 1]).rows
    assert rows[1, 0].tolist() == pytest.approx([0, 0, 1, 0, 0, 0, 1, 0, 0, -0.8, 0.5, 0])
    assert rows[1, 1].tolist() == pytest.approx([0, 0, 1, 0, 0, 0, 1, 1, 0, -0.8, 0.5, 0])


@settings(max_examples=150, deadline=None)
@given(
    instance=dag_instances(max_tasks=7),
    objective=st.sampled_from(FINISH_OBJECTIVES),
    lam=st.sampled_from([0.0, 0.4, 1.0]),
    seed=st.integers(0, 2**32),
)
def test_equals_plain_features(instance: DagInstance, objective: Objective, lam: float, seed: int) -> None:
    """Tests features, GPUs to choose from and rewards of random episodes against the plain loops."""
    rng = np.random.default_rng(seed)
    wish, uniforms = rng.integers(0, 30, instance.num_tasks), rng.random((instance.num_tasks, 2))
    played = recorded(instance, wish=wish, lam=lam, epsilon=1.0, uniforms=uniforms, objective=objective, more_gpus=1)
    steps = plain_steps(instance, objective, played.timeline.gpu.tolist(), wish.tolist(), lam)
    assert [step.task for step in steps] == episode_data(instance, objective).order.tolist()
    for position, step in enumerate(steps):
        assert np.flatnonzero(played.fits[position]).tolist() == sorted(step.rows)
        for k in range(instance.num_gpus + 1):
            assert played.rows[position, k] == pytest.approx(step.rows.get(k, [0.0] * 12), abs=1e-6)
        assert played.rewards[position] == pytest.approx(step.reward, abs=1e-6)


@settings(deadline=None)
@given(instance=dag_instances(max_tasks=6, max_gpus=4), seed=st.integers(0, 2**32), data=st.data())
def test_renaming_gpus_permutes_features(instance: DagInstance, seed: int, data: st.DataObject) -> None:
    """Tests that features follow their GPUs when these are renamed."""
    gpus = data.draw(st.permutations(range(instance.num_gpus)))
    rng = np.random.default_rng(seed)
    wish, uniforms = rng.integers(0, 30, instance.num_tasks), rng.random((instance.num_tasks, 2))
    played = recorded(instance, wish=wish, lam=0.7, epsilon=1.0, uniforms=uniforms)
    assume(played.timeline.overflow[0] == 0)  # ties of overflow go by index
    new = reordered(instance, list(range(instance.num_tasks)), list(gpus))
    chosen = [gpus.index(k) for k in played.timeline.gpu]
    order = episode_data(instance).order
    for position, task in enumerate(order):
        fitting = np.flatnonzero(played.fits[position][list(gpus)]).tolist()
        uniforms[position] = (0.0, (fitting.index(chosen[task]) + 0.5) / len(fitting))
    renamed = recorded(new, wish=wish, lam=0.7, epsilon=1.0, uniforms=uniforms)
    assert renamed.timeline.gpu.tolist() == chosen
    assert np.array_equal(renamed.fits, played.fits[:, list(gpus)])
    assert np.array_equal(renamed.rows, played.rows[:, list(gpus)])
    assert renamed.rewards == pytest.approx(played.rewards)


@settings(deadline=None)
@given(
    instance=dag_instances(max_tasks=6, unit_bandwidth=True),
    factor=st.sampled_from([2, 3, 7, 1000]),
    seed=st.integers(0, 2**32),
)
def test_a_factor_on_all_times_leaves_features_alone(instance: DagInstance, factor: int, seed: int) -> None:
    """Tests that features know no unit of time, from mean durations of 1 tick on and where LB is not rounded up."""
    durations = np.where(instance.durations >= 0, instance.durations + 1, instance.durations)
    one = changed(instance, durations=durations)
    many = changed(
        one,
        durations=np.where(durations >= 0, factor * durations, durations),
        edge_bytes=factor * one.edge_bytes,
        latency=factor * one.latency,
        release=factor * one.release,
    )
    assume(episode_data(many).lower_bound == factor * episode_data(one).lower_bound)
    assume(np.array_equal(episode_data(many).order, episode_data(one).order))  # equal ranks may be rounded apart
    rng = np.random.default_rng(seed)
    wish, uniforms = rng.integers(0, 30, one.num_tasks), rng.random((one.num_tasks, 2))
    played = recorded(one, wish=wish, lam=0.5, epsilon=1.0, uniforms=uniforms)
    longer = recorded(many, wish=factor * wish, lam=0.5, epsilon=1.0, uniforms=uniforms)
    assert np.array_equal(longer.timeline.gpu, played.timeline.gpu)
    assert longer.rows == pytest.approx(played.rows, abs=1e-6)
    assert longer.rewards == pytest.approx(played.rewards)


def test_data_is_kept(example_e: DagInstance) -> None:
    """Tests that the data is made once per instance and objective."""
    assert episode_data(example_e) is episode_data(example_e)
    assert episode_data(example_e) is not episode_data(example_e, Objective.WEIGHTED_COMPLETION)
