"""Tests of the network as a generator of placements."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list
from heuristics.dag.load_vector import final_loads, running_loads
from heuristics.dag.worl_rtgs import network
from heuristics.dag.worl_rtgs.features import episode_data
from heuristics.dag.worl_rtgs.generator import DdqnGenerator
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from tests.compiled import compiled
from tests.heuristics.dag.worl_rtgs.recorded_episode import WEIGHTS, recorded
from tests.strategies import dag_instances

q_values = compiled(network.q_values)


def _generator(instance: DagInstance, objective: Objective = Objective.MAKESPAN, **options: object) -> DdqnGenerator:
    """Return a generator with an untrained network."""
    return DdqnGenerator(instance=instance, objective=objective, **{"weights": WEIGHTS, **options})


@settings(deadline=None)
@given(
    instance=dag_instances(max_tasks=7),
    objective=st.sampled_from(FINISH_OBJECTIVES),
    running=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_litter_is_that_of_its_placements(
    instance: DagInstance, objective: Objective, running: bool, seed: int
) -> None:
    """Tests positions, bytes of overflow and objectives of a population against those of its placements."""
    rng = np.random.default_rng(seed)
    desired = rng.uniform(0, 30, (4, instance.num_tasks))
    population = _generator(instance, objective, temperature=1.0, running=running).generate(desired, rng, 2.0)
    assert population.gpu.shape == population.position.shape == desired.shape
    order = episode_data(instance).order
    loads = (
        running_loads(instance.durations, population.gpu, order)
        if running
        else final_loads(instance.durations, population.gpu)
    )
    assert np.array_equal(population.position, loads)
    for gpu, overflow, value in zip(population.gpu, population.overflow, population.objective, strict=True):
        placed = place_by_list(dag_arrays(instance), pinned=gpu)
        if overflow == 0:
            assert np.array_equal(placed.gpu, gpu)
            assert value == objective_value(instance, DagSchedule(gpu=gpu, start=placed.start), objective)
        used = np.bincount(gpu, instance.task_memory, instance.num_gpus)
        assert overflow == np.where(instance.gpu_memory < 0, 0, np.maximum(0, used - instance.gpu_memory)).sum()


def test_each_row_hears_its_own_wish(example_e: DagInstance) -> None:
    """Tests that a population without noise equals single episodes with the same desired loads."""
    desired = np.random.default_rng(0).uniform(0, 30, (6, 5))
    population = _generator(example_e, temperature=0.0, wish_weight=0.8).generate(
        desired, np.random.default_rng(0), 2.0
    )
    alone = [recorded(example_e, wish=wish, lam=0.8).timeline.gpu.tolist() for wish in desired]
    assert population.gpu.tolist() == alone


def test_same_draws_give_the_same_litter(example_e: DagInstance) -> None:
    """Tests that all noise comes from the generator of random numbers, and other numbers give other placements."""
    generator, desired = _generator(example_e, temperature=1.0), np.zeros((20, 5))
    first, second, other = (generator.generate(desired, np.random.default_rng(seed), 2.0) for seed in (1, 1, 2))
    assert all(np.array_equal(one, two) for one, two in zip(first, second, strict=True))
    assert not np.array_equal(first.gpu, other.gpu)


@pytest.mark.parametrize(("temperature", "a"), [(0.0, 2.0), (1.0, 0.0)])
def test_no_noise_draws_nothing(example_e: DagInstance, temperature: float, a: float) -> None:
    """Tests that at temperature 0, and at the end of a run, placements follow from the desired loads alone."""
    rng = np.random.default_rng(3)
    population = _generator(example_e, temperature=temperature).generate(np.full((3, 5), 7.0), rng, a)
    assert rng.random() == np.random.default_rng(3).random()
    assert (population.gpu == population.gpu[0]).all()


def test_noise_draws_by_the_values() -> None:
    """Tests that GPUs are drawn in proportion to exp(value / temperature), the temperature being halved at a = 1.

    Of 20,000 draws the share is within four standard errors, 4 x 0.5 / 141.
    """
    instance = DagInstance.from_lists([[4, 9]])
    played, values = recorded(instance), np.empty(2, dtype=np.float32)
    q_values(WEIGHTS, played.rows[0], played.fits[0], values)
    temperature = float(abs(values[0] - values[1]))
    generator = _generator(instance, wish_weight=0.0, temperature=2 * temperature)
    population = generator.generate(np.empty((20_000, 0)), np.random.default_rng(0), 1.0)
    favourite = int(values.argmax())
    assert (population.gpu[:, 0] == favourite).mean() == pytest.approx(1 / (1 + math.exp(-1)), abs=0.015)


def test_numbers_out_of_range(example_e: DagInstance) -> None:
    """Tests that weights of desired loads outside 0..1 and negative temperatures are refused, not a number too."""
    for wish_weight in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"wish_weight: expected a number in 0\.\.1, got"):
            _generator(example_e, wish_weight=wish_weight)
    for temperature in (-1e-9, math.inf, math.nan):
        with pytest.raises(ValueError, match=r"temperature: expected a number in 0\.\.1e\+06, got"):
            _generator(example_e, temperature=temperature)
