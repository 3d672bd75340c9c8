"""Tests of the choice between models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heuristics.jobs.interference_predictor.fit import (
    NETWORK,
    RIDGE,
    FittedPredictors,
    fit_predictor,
    prediction_errors,
    split_by_classes,
)
from heuristics.jobs.interference_predictor.models import fit_ridge
from heuristics.jobs.interference_predictor.samples import CoLocationSample, random_co_locations
from tests.heuristics.jobs.interference_predictor.worlds import small_instance, space_of


@pytest.fixture(scope="module")
def sample() -> CoLocationSample:
    """Return a small sample of co-locations."""
    instance = small_instance()
    return random_co_locations(space_of(instance), [instance], np.random.default_rng(0), count=300)


@pytest.fixture(scope="module")
def fitted(sample: CoLocationSample) -> FittedPredictors:
    """Return the models of the sample."""
    return fit_predictor(sample, np.random.default_rng(0), epochs=60, blocks=2)


@pytest.mark.slow
def test_choice_by_unseen_pairs(sample: CoLocationSample, fitted: FittedPredictors) -> None:
    """Tests that errors are those on held-out pairs of models fitted to the others, and the smaller one decides."""
    errors = []
    for held_out in fitted.held_out:
        seen, unseen = split_by_classes(sample, held_out)
        assert not seen.all_pairs() & unseen.all_pairs()
        errors.append(np.abs(fit_ridge(seen.features, seen.y).predict(unseen.features) - unseen.y).mean())
    assert len(errors) == 2
    assert fitted.errors[RIDGE] == pytest.approx(np.mean(errors))
    assert fitted.errors[fitted.chosen] == min(fitted.errors[RIDGE], fitted.errors[NETWORK])
    assert fitted.predictor.model is fitted.models[fitted.chosen]
    assert fitted.predictor.space == sample.space
    assert len(fitted.losses) == 60
    everything = fit_ridge(sample.features, sample.y)
    assert fitted.models[RIDGE].predict(sample.features) == pytest.approx(everything.predict(sample.features))


@pytest.mark.slow
def test_learned_beats_constant(fitted: FittedPredictors) -> None:
    """Tests that on unseen pairs of generated co-locations the chosen model is better than the constant."""
    assert fitted.errors[fitted.chosen] < 0.7 * fitted.errors["constant"]


@pytest.mark.whole
def test_same_seed_same_bytes(sample: CoLocationSample, fitted: FittedPredictors) -> None:
    """Tests that held-out classes and the network repeat."""
    again = fit_predictor(sample, np.random.default_rng(0), epochs=60, blocks=2)
    assert (again.held_out, again.chosen) == (fitted.held_out, fitted.chosen)
    assert again.losses.tobytes() == fitted.losses.tobytes()
    features = sample.features
    assert again.models[NETWORK].predict(features).tobytes() == fitted.models[NETWORK].predict(features).tobytes()


def test_prediction_errors() -> None:
    """Tests both errors by hand, and that no rows are refused."""
    errors = prediction_errors([0.0, np.log(2.0)], [1000, 400])
    assert errors.y == pytest.approx(np.log(2.5 / 2.0) / 2)
    assert errors.speed == 50.0
    with pytest.raises(ValueError, match=r"^rows: expected at least one, got none\.$"):
        prediction_errors([], [])


def test_nothing_to_hold_out(sample: CoLocationSample) -> None:
    """Tests that a sample without a pair among held-out classes, and no blocks, are refused."""
    few = sample.take(np.arange(len(sample.pairs)) < 1)
    lone = replace(few, pairs=(frozenset({("a", "b"), ("b", "c")}),))
    with pytest.raises(
        ValueError, match=r"^sample: expected co-locations of seen and of held-out pairs of classes, got"
    ):
        fit_predictor(lone, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"^blocks: expected at least 1, got 0\.$"):
        fit_predictor(sample, np.random.default_rng(0), blocks=0)
