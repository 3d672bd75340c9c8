"""Tests that the loss is what it is said to be, its gradient right, and padding without effect."""

from __future__ import annotations

import math

import numpy as np
import pytest

from heuristics.jobs.marl.network import Parameters, Variant, embed, initial_parameters, probabilities, scores, value
from heuristics.jobs.marl.observation import Observation, ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.training.learner import DecisionBatch, Descent, Learner
from heuristics.jobs.marl.training.recorded_episodes import stack_observations
from tests.heuristics.jobs.marl.seen import stream, watched_run

pytestmark = pytest.mark.whole

VALUE_WEIGHT, ENTROPY_WEIGHT = 0.5, 0.3


@pytest.fixture(scope="module")
def size() -> ObservationSize:
    """Return the size of the observations below."""
    return ObservationSize.of(Partitions(stream("jobs-co-located"), 2))


@pytest.fixture(scope="module")
def batch() -> DecisionBatch:
    """Return ten decisions of an untrained network with advantages and targets at random."""
    _, seen = watched_run(stream("jobs-co-located"), 2, Variant.FLAT)
    chosen = seen[:: max(1, len(seen) // 10)][:10]
    assert len(chosen) == 10
    assert any(not decision.mask.all() for decision, _, _ in chosen)
    rng = np.random.default_rng(2)
    return DecisionBatch(
        seen=stack_observations([each for _, each, _ in chosen]),
        slot=np.array([slot for _, _, slot in chosen], dtype=np.int32),
        advantage=rng.normal(size=10).astype(np.float32),
        target=rng.normal(size=10).astype(np.float32),
        weight=np.zeros(10, dtype=np.float32),
        logarithm=rng.uniform(-3.0, -0.5, size=10).astype(np.float32),
    )


def plain_loss(parameters: Parameters, batch: DecisionBatch, variant: Variant) -> tuple[float, float, float]:
    """Return the parts of the mean loss, decision by decision in double precision."""
    parts = []
    for number, slot in enumerate(batch.slot.tolist()):
        seen = Observation._make(
            array[number] if array.dtype == bool else array[number].astype(np.float64) for array in batch.seen
        )
        embedding = embed(np, parameters, seen, variant)
        chances = probabilities(np, scores(np, parameters, seen, embedding)).tolist()
        error = float(value(np, parameters, seen, embedding)) - float(batch.target[number])
        entropy = -sum(chance * math.log(chance) for chance in chances if chance > 0)
        parts.append((-float(batch.advantage[number]) * math.log(chances[slot]), error**2, entropy))
    policy, squared, entropy = np.mean(parts, axis=0).tolist()
    return policy, squared, entropy


def test_loss_and_gradient(size: ObservationSize, batch: DecisionBatch) -> None:
    """Tests the parts of the loss against NumPy, and the gradient against its finite differences; chunks do not matter.

    Ten decisions in chunks of four: the last chunk is padded by two. Other variants differ in the pass only, see there.
    """
    variant = Variant.FLAT
    parameters = initial_parameters(np.random.default_rng(1), size, variant)
    learner = Learner(variant, value_weight=VALUE_WEIGHT, chunk=4)
    gradient, parts = learner.gradient(parameters, batch, ENTROPY_WEIGHT)
    exact = {name: array.astype(np.float64) for name, array in parameters.items()}
    assert tuple(parts) == pytest.approx(plain_loss(exact, batch, variant), rel=1e-4, abs=1e-5)

    def whole(weights: Parameters) -> float:
        """Return the loss."""
        policy, squared, entropy = plain_loss(weights, batch, variant)
        return policy + VALUE_WEIGHT * squared - ENTROPY_WEIGHT * entropy

    rng, step = np.random.default_rng(6), 1e-6
    for name, array in exact.items():
        direction = rng.standard_normal(array.shape)
        up, down = (whole(exact | {name: array + sign * step * direction}) for sign in (1, -1))
        expected = (np.asarray(gradient[name], dtype=np.float64) * direction).sum()
        assert (up - down) / (2 * step) == pytest.approx(expected, rel=2e-3, abs=3e-4), name
    found, logarithms = learner.judged(parameters, batch.seen, batch.slot)
    for number, slot in enumerate(batch.slot.tolist()):
        seen = Observation._make(array[number] for array in batch.seen)
        embedding = embed(np, parameters, seen, variant)
        chance = probabilities(np, scores(np, parameters, seen, embedding))[slot]
        assert found[number] == pytest.approx(float(value(np, parameters, seen, embedding)), rel=1e-4, abs=1e-5)
        assert logarithms[number] == pytest.approx(np.log(chance), rel=1e-4, abs=1e-5)


@pytest.mark.slow
def test_clipped_ratio(size: ObservationSize, batch: DecisionBatch) -> None:
    """Tests the clipped part against a loop, and that at ratio 1 its gradient is that of the logarithm."""
    parameters = initial_parameters(np.random.default_rng(1), size, Variant.FLAT)
    plain, clipped = (Learner(Variant.FLAT, value_weight=VALUE_WEIGHT, chunk=4, clip=clip) for clip in (None, 0.2))
    values, now = plain.judged(parameters, batch.seen, batch.slot)
    ratios = np.exp(now - batch.logarithm)
    assert (ratios < 0.8).any()
    assert (ratios > 1.2).any()
    gained = [
        min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)
        for ratio, advantage in zip(ratios.tolist(), batch.advantage.tolist(), strict=True)
    ]
    assert clipped.gradient(parameters, batch, 0.0)[1].policy == pytest.approx(-np.mean(gained), rel=1e-4)
    fresh = batch._replace(logarithm=now, target=values.astype(np.float32))  # no error, so no gradient of values
    one, two = (learner.gradient(parameters, fresh, 0.0)[0] for learner in (plain, clipped))
    for name, array in one.items():
        assert np.asarray(two[name]) == pytest.approx(np.asarray(array), rel=1e-3, abs=1e-6), name


def test_rows(size: ObservationSize, batch: DecisionBatch) -> None:
    """Tests that some rows of a batch give the gradient of the batch of these rows."""
    parameters = initial_parameters(np.random.default_rng(1), size, Variant.FLAT)
    learner = Learner(Variant.FLAT, value_weight=VALUE_WEIGHT, chunk=4)
    rows = np.array([7, 2, 5])
    alone = DecisionBatch(Observation._make(array[rows] for array in batch.seen), *(array[rows] for array in batch[1:]))
    one, two = learner.gradient(parameters, batch, 0.1, rows)[0], learner.gradient(parameters, alone, 0.1)[0]
    for name, array in one.items():
        assert np.asarray(array).tolist() == np.asarray(two[name]).tolist()


def test_descent_limits_the_gradient() -> None:
    """Tests that gradients of norm 5 and 50 make the same step with a limit of 0.5, against Adam by hand."""
    for factor in (1.0, 10.0):
        descent = Descent({"a": np.zeros(2, dtype=np.float32)}, learning_rate=0.1, max_norm=0.5)
        descent.step({"a": np.array([3.0, 4.0], dtype=np.float32) * factor})
        descent.step({"a": np.array([0.0, 0.1], dtype=np.float32)})
        first = np.array([0.3, 0.4])
        second = np.array([0.0, 0.1])
        mean = (0.09 * first + 0.1 * second) / (1 - 0.9**2)
        square = (0.999 * 0.001 * first**2 + 0.001 * second**2) / (1 - 0.999**2)
        expected = -0.1 * first / (np.abs(first) + 1e-8) - 0.1 * mean / (np.sqrt(square) + 1e-8)
        assert np.asarray(descent.parameters["a"]) == pytest.approx(expected, rel=1e-4)
