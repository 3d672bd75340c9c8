"""Tests of the weights that come with the package."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import heuristics.dag.worl_rtgs.shipped_weights as module
from heuristics.dag.worl_rtgs.network import initial_weights, load_weights, save_weights, weights_sha256
from heuristics.dag.worl_rtgs.shipped_weights import matching_weights, shipped_weights, weights_from

FOLDER = Path(module.__file__).parent / "weights"


def _write(folder: Path, provenance: str) -> tuple[Path, Path]:
    """Write random weights and a text beside them."""
    paths = folder / "ddqn.npz", folder / "ddqn.json"
    save_weights(paths[0], initial_weights(np.random.default_rng(1)))
    paths[1].write_text(provenance, encoding="utf-8")
    return paths


def test_shipped_weights_match_their_provenance() -> None:
    """Tests that what is shipped is what its provenance describes, and is read once."""
    weights = shipped_weights()
    provenance = json.loads((FOLDER / "ddqn_v1.json").read_text(encoding="utf-8"))
    assert weights_sha256(weights) == provenance["weights_sha256"]
    assert weights_sha256(weights) == weights_sha256(load_weights(FOLDER / "ddqn_v1.npz"))
    assert shipped_weights() is weights
    assert weights_from(None) is weights


def test_weights_from_a_path(tmp_path: Path) -> None:
    """Tests that a path gives the weights of that file."""
    path, _ = _write(tmp_path, "{}")
    assert weights_sha256(weights_from(path)) == weights_sha256(initial_weights(np.random.default_rng(1)))


def test_matching(tmp_path: Path) -> None:
    """Tests that weights are returned where the hash is right."""
    digest = weights_sha256(initial_weights(np.random.default_rng(1)))
    weights = matching_weights(*_write(tmp_path, json.dumps({"weights_sha256": digest})))
    assert weights_sha256(weights) == digest


@pytest.mark.parametrize(
    ("provenance", "message"),
    [
        (
            '{"weights_sha256": "00"}',
            r"ddqn\.npz: expected weights of SHA-256 00, as in ddqn\.json, got [0-9a-f]{64}\.",
        ),
        ("{}", r"ddqn\.npz: expected weights of SHA-256 None"),
        ("[]", r"ddqn\.npz: expected weights of SHA-256 None"),
        ("{", r"ddqn\.json: expected a JSON document, got something else"),
    ],
)
def test_not_matching(tmp_path: Path, provenance: str, message: str) -> None:
    """Tests that weights that are not those of their provenance are refused."""
    with pytest.raises(ValueError, match=message):
        matching_weights(*_write(tmp_path, provenance))
