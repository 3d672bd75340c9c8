"""Tests of training and of how its networks are judged."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.worl_rtgs.evaluate import compare, heft_fitness, network_fitness, ratios, rtgs_greedy_fitness
from heuristics.dag.worl_rtgs.fine_tuning_stream import fine_tuning_stream
from heuristics.dag.worl_rtgs.network import Weights, initial_weights, weights_sha256
from heuristics.dag.worl_rtgs.stored_instances import validation_instances
from heuristics.dag.worl_rtgs.train import DdqnTrainer
from heuristics.dag.worl_rtgs.training_config import TrainingConfig
from heuristics.dag.worl_rtgs.training_stream import training_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances import DagInstance

SHORT = TrainingConfig(steps=6_000, warm_up=500, validate_every=2_000, target_every=100, replay=5_000)


@pytest.fixture(scope="module")
def validation() -> list[DagInstance]:
    """Return a quarter of the validation instances."""
    return validation_instances()[::4]


@pytest.fixture(scope="module")
def trained(validation: list[DagInstance]) -> DdqnTrainer:
    """Return a training of some seconds."""
    return DdqnTrainer(SHORT, seed=3).fit(validation)


def test_training_improves_over_its_own_start(trained: DdqnTrainer, validation: list[DagInstance]) -> None:
    """Tests that some seconds of training take away more than half of what the start loses against HEFT."""
    start, best = trained.curve_[0].validation_ratio, trained.best_ratio_
    assert best - 1.0 < 0.5 * (start - 1.0)
    assert min(point.validation_ratio for point in trained.curve_) == best
    found = compare(validation, trained.weights_, trained.start_weights_)
    assert found.mean_ratio == pytest.approx(best)
    assert found.mean_ratio_untrained == pytest.approx(start)
    assert found.better_than_untrained >= 0.75


def test_curve_covers_the_training(trained: DdqnTrainer) -> None:
    """Tests that the curve begins before training, goes on at the steps asked for, and has losses once there are."""
    steps = [point.steps for point in trained.curve_]
    assert steps[0] == 0
    assert [step // SHORT.validate_every for step in steps] == [0, 1, 2, 3]
    assert trained.curve_[0].loss is None
    assert all(point.loss is not None and 0 < point.loss < 1 for point in trained.curve_[1:])
    assert trained.seconds_ > 0
    assert not trained.is_interrupted_


def test_same_seed_same_bytes(trained: DdqnTrainer, validation: list[DagInstance]) -> None:
    """Tests that a training can be repeated bit for bit, and that another seed gives another network."""
    again = DdqnTrainer(SHORT, seed=3).fit(validation)
    assert again.curve_ == trained.curve_
    assert weights_sha256(again.weights_) == weights_sha256(trained.weights_)
    few = TrainingConfig(steps=300, warm_up=100)
    assert weights_sha256(DdqnTrainer(few, seed=4).fit(validation).start_weights_) != weights_sha256(
        trained.start_weights_
    )


def test_interrupting_keeps_the_best_so_far(validation: list[DagInstance]) -> None:
    """Tests that Ctrl-C ends the training with the best network that was measured."""

    def interrupted(rng: np.random.Generator) -> Iterator[DagInstance]:
        yield from itertools.islice(training_stream(rng), 20)
        raise KeyboardInterrupt

    trainer = DdqnTrainer(SHORT, seed=3).fit(validation, stream=interrupted)
    assert trainer.is_interrupted_
    assert trainer.best_ratio_ == min(point.validation_ratio for point in trainer.curve_)
    assert ratios(network_fitness(validation, trainer.weights_), heft_fitness(validation)).mean() == pytest.approx(
        trainer.best_ratio_
    )


def test_fine_tuning_is_never_worse_than_its_start_on_the_instance(
    trained: DdqnTrainer, validation: list[DagInstance]
) -> None:
    """Tests that tuning to one instance begins with the given weights and keeps the best on that instance."""
    instance = validation[1]
    config = TrainingConfig(steps=1_500, warm_up=200, validate_every=300, learning_rate=1e-4, epsilon_start=0.1)
    tuned = DdqnTrainer(config, seed=0).fit(
        [instance],
        stream=fine_tuning_stream(instance, 0.1),
        max_gpus=instance.num_gpus,
        start=trained.weights_,
    )
    assert weights_sha256(tuned.start_weights_) == weights_sha256(trained.weights_)
    before = network_fitness([instance], trained.weights_)[0, 1]
    after = network_fitness([instance], tuned.weights_)[0, 1]
    assert after <= before
    assert len(tuned.curve_) >= 4


def test_rivals_are_judged_alike(example_e: DagInstance, example_e_with_memory: DagInstance) -> None:
    """Tests HEFT's fitness of example E, that overflow counts as 1 more, and that shares come from pairs."""
    assert heft_fitness([example_e, example_e_with_memory]).tolist() == [[0, 18], [0, 15]]
    assert ratios(np.array([[0, 9], [4, 18]]), np.array([[0, 18], [0, 18]])).tolist() == [0.5, 2.0]
    greedy = rtgs_greedy_fitness([example_e, example_e])
    assert greedy[0].tolist() == greedy[1].tolist()
    assert greedy[0, 1] >= 15
    weights = initial_weights(np.random.default_rng(0))
    same = compare([example_e], weights, weights)
    assert (same.better_than_untrained, same.equal_to_untrained) == (0.0, 1.0)


def test_exploration_falls_linearly() -> None:
    """Tests epsilon at the start, half-way down, and after its share of the steps; and the number of updates."""
    config = TrainingConfig(steps=1_000, warm_up=200, epsilon_share=0.2)
    assert [config.epsilon(steps) for steps in (0, 100, 200, 900)] == pytest.approx([1.0, 0.525, 0.05, 0.05])
    assert config.updates == 200


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("steps", 0, "steps: expected at least 1, got 0."),
        ("gamma", 0.0, "gamma: expected a number above 0, at most 1, got 0.0."),
        ("epsilon_end", 1.5, "epsilon_end: expected a number in 0..1, got 1.5."),
        ("learning_rate", float("nan"), "learning_rate: expected a finite number above 0, got nan."),
        ("warm_up", -1, "warm_up: expected at least 0, got -1."),
        ("updates_per_call", 30, "updates_per_call: expected a divisor of target_every, 500, got 30."),
    ],
)
def test_configuration_is_checked(field: str, value: float, message: str) -> None:
    """Tests that numbers out of range are refused in one sentence."""
    with pytest.raises(ValueError) as caught:
        TrainingConfig(**{field: value})
    assert str(caught.value) == message


def test_weights_are_plain_arrays(trained: DdqnTrainer) -> None:
    """Tests that what training returns is NumPy, float32 and C-contiguous, as the kernels want it."""
    assert isinstance(trained.weights_, Weights)
    assert all(type(array) is np.ndarray and array.dtype == np.float32 for array in trained.weights_)
    assert all(array.flags.c_contiguous for array in trained.weights_)
