"""Tests of predictors in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.interference_predictor.features import FeatureSpace
from heuristics.jobs.interference_predictor.models import NeuralNetworkModel, fit_constant, fit_ridge, initial_layers
from heuristics.jobs.interference_predictor.predictor import (
    InterferencePredictor,
    load_predictor,
    predictor_sha256,
    save_predictor,
)

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize("name", ["constant", "ridge", "network"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    """Tests that a predictor comes back to the bit, and that the same one gives the same bytes."""
    predictor = InterferencePredictor(space=SPACE, model=model(name))
    for file in ("one.npz", "two.npz"):
        save_predictor(tmp_path / file, predictor)
    again = load_predictor(tmp_path / "one.npz")
    assert type(again.model) is type(predictor.model)
    assert again.space == SPACE
    assert again.model.predict(FEATURES).tobytes() == predictor.model.predict(FEATURES).tobytes()
    assert predictor_sha256(again) == predictor_sha256(predictor)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_hash_knows_every_part() -> None:
    """Tests that another name, number or model changes the hash."""
    hashes = {
        predictor_sha256(InterferencePredictor(space=space, model=one))
        for space in (SPACE, FeatureSpace(classes=("a", "c"), resources=(), kinds=("F",)))
        for one in (model("ridge"), fit_ridge(FEATURES, FEATURES[:, 0]), model("constant"))
    }
    assert len(hashes) == 6


def changed(path: Path, **arrays: object) -> None:
    """Replace arrays of a file and leave its hash."""
    with np.load(path) as stored:
        whole = dict(stored) | {name: np.asarray(array) for name, array in arrays.items()}
    np.savez(path, **whole)


def test_damaged_files(tmp_path: Path) -> None:
    """Tests that changed numbers, other files and pickles are refused in one line."""
    path = tmp_path / "p.npz"
    save_predictor(path, InterferencePredictor(space=SPACE, model=model("ridge")))
    changed(path, intercept=np.array(0.5))
    with pytest.raises(ValueError, match=r"p\.npz: expected content of SHA-256 [0-9a-f]{64}, got [0-9a-f]{64}\.$"):
        load_predictor(path)
    changed(path, format=np.array("something else"))
    with pytest.raises(ValueError, match=r"p\.npz: expected format 'optgap/interference-predictor 1', got 'some"):
        load_predictor(path)
    np.savez(path, weights=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"p\.npz: expected a file of a predictor, got something else"):
        load_predictor(path)
    path.write_text("no archive")
    with pytest.raises(ValueError, match=r"p\.npz: expected a file of a predictor, got something else"):
        load_predictor(path)


def test_parts_that_do_not_belong_together(tmp_path: Path) -> None:
    """Tests that a model of other features than the space has is refused, though its hash is right."""
    path = tmp_path / "p.npz"
    other = FeatureSpace(classes=("a",), resources=(), kinds=("F",))
    save_predictor(path, InterferencePredictor(space=other, model=model("ridge")))
    with pytest.raises(ValueError, match=r"p\.npz: expected mean of \(4,\) numbers, got float64 \(6,\)\.$"):
        load_predictor(path)
    broken = fit_ridge(FEATURES, np.full(20, np.nan))
    save_predictor(path, InterferencePredictor(space=SPACE, model=broken))
    with pytest.raises(ValueError, match=r"p\.npz: expected finite numbers in weights, got others\.$"):
        load_predictor(path)
