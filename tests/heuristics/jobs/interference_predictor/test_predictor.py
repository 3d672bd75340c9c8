"""Tests of the hash of predictors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.features import FeatureSpace
from heuristics.jobs.interference_predictor.models import NeuralNetworkModel, fit_constant, fit_ridge, initial_layers
from heuristics.jobs.interference_predictor.predictor import InterferencePredictor, predictor_sha256

if TYPE_CHECKING:
    from heuristics.jobs.interference_predictor.models import SpeedModel


SPACE = FeatureSpace(classes=("a", "ResNet-50 β"), resources=(), kinds=("F",))
FEATURES = np.random.default_rng(0).random((20, SPACE.num_features))


def model(name: str) -> SpeedModel:
    """Return a model of the features."""
    y = FEATURES @ np.arange(SPACE.num_features)
    if name == "constant":
        return fit_constant(y)
    if name == "ridge":
        return fit_ridge(FEATURES, y)
    layers = initial_layers(SPACE.num_features, np.random.default_rng(1))
    return NeuralNetworkModel(mean=FEATURES.mean(axis=0), scale=np.ones(SPACE.num_features), **layers)


def test_hash_knows_every_part() -> None:
    """Tests that another name, number or model changes the hash."""
    hashes = {
        predictor_sha256(InterferencePredictor(space=space, model=one))
        for space in (SPACE, FeatureSpace(classes=("a", "c"), resources=(), kinds=("F",)))
        for one in (model("ridge"), fit_ridge(FEATURES, FEATURES[:, 0]), model("constant"))
    }
    assert len(hashes) == 6
