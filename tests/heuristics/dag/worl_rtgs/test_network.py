"""Tests of the value network: the forward pass, the first weights, and the files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import heuristics.dag.worl_rtgs.network as module
from heuristics.dag.worl_rtgs.network import (
    DOES_NOT_FIT,
    OTHER_TRAININGS,
    SHAPES,
    SHIPPED,
    Weights,
    initial_weights,
    load_weights,
    matching_weights,
    save_weights,
    shipped_weights,
    weights_from,
    weights_sha256,
)
from tests.compiled import compiled

q_values = compiled(module.q_values)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _values(weights: Weights, rows: NDArray[np.float32], fits: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return what the kernel writes."""
    out = np.full(len(fits), np.nan, dtype=np.float32)
    q_values(weights, rows, fits, out)
    return out


def _plain_values(weights: Weights, rows: NDArray[np.float32], fits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the values by matrix products in double precision."""
    w1, b1, w2, b2, w3, b3 = (array.astype(np.float64) for array in weights)
    fitting = rows[fits].astype(np.float64)
    context = np.concatenate([fitting.mean(axis=0), fitting.max(axis=0)])
    inputs = np.hstack([fitting, np.tile(context, (len(fitting), 1))])
    hidden = np.maximum(np.maximum(inputs @ w1 + b1, 0) @ w2 + b2, 0)
    values = np.full(len(fits), float(DOES_NOT_FIT))
    values[fits] = (hidden @ w3 + b3)[:, 0]
    return values


def _random_case(seed: int, m: int) -> tuple[Weights, NDArray[np.float32], NDArray[np.bool_]]:
    """Return weights with biases, rows with nonsense for GPUs that do not fit, and which fit."""
    rng = np.random.default_rng(seed)
    weights = Weights(*(rng.normal(scale=0.3, size=shape).astype(np.float32) for shape in SHAPES.values()))
    rows, fits = rng.uniform(-1, 1, (m, 12)).astype(np.float32), rng.random(m) < 0.6
    fits[rng.integers(m)] = True
    rows[~fits] = np.nan
    return weights, rows, fits


@pytest.mark.parametrize("m", [1, 2, 3, 8, 50])
@pytest.mark.parametrize("seed", range(5))
def test_equals_matrix_products(seed: int, m: int) -> None:
    """Tests the kernel against NumPy; GPUs that do not fit have no say in the others' values."""
    weights, rows, fits = _random_case(seed, m)
    assert _values(weights, rows, fits) == pytest.approx(_plain_values(weights, rows, fits), abs=1e-5)


@pytest.mark.parametrize("active", [0, 1, 4, 63, 64])
def test_any_number_of_active_units(active: int) -> None:
    """Tests first layers of which none, few or all units are switched on."""
    weights, rows, fits = _random_case(1, 4)
    weights = weights._replace(b1=np.where(np.arange(64) < active, 50, -50).astype(np.float32))
    assert _values(weights, rows, fits) == pytest.approx(_plain_values(weights, rows, fits), rel=1e-5, abs=1e-5)


def test_renaming_gpus_permutes_values() -> None:
    """Tests that values follow their GPUs, to the last bits of a mean."""
    rng = np.random.default_rng(3)
    for seed in range(20):
        weights, rows, fits = _random_case(seed, 8)
        gpus = rng.permutation(8)
        assert _values(weights, rows[gpus], fits[gpus]) == pytest.approx(_values(weights, rows, fits)[gpus], abs=1e-6)


def test_initial_weights() -> None:
    """Tests number, variance and repeatability of the first weights: He, biases 0, the last layer times 0.1."""
    weights = initial_weights(np.random.default_rng(0))
    assert sum(array.size for array in weights) == 6593
    assert {name: array.shape for name, array in weights._asdict().items()} == SHAPES
    assert all(array.dtype == np.float32 for array in weights)
    assert not weights.b1.any() and not weights.b2.any() and not weights.b3.any()
    assert weights.w1.std() == pytest.approx((2 / 36) ** 0.5, rel=0.05)
    assert weights.w2.std() == pytest.approx((2 / 64) ** 0.5, rel=0.05)
    assert weights.w3.std() == pytest.approx(0.1 * (2 / 64) ** 0.5, rel=0.3)
    assert weights_sha256(weights) == weights_sha256(initial_weights(np.random.default_rng(0)))
    assert weights_sha256(weights) != weights_sha256(initial_weights(np.random.default_rng(1)))


def test_hash_is_that_of_the_bytes_in_order() -> None:
    """Tests the content hash, and that one changed bit changes it."""
    weights = initial_weights(np.random.default_rng(0))
    assert weights_sha256(weights) == hashlib.sha256(b"".join(array.tobytes() for array in weights)).hexdigest()
    other = weights.b2.copy()
    other[7] = np.float32(1e-30)
    assert weights_sha256(weights._replace(b2=other)) != weights_sha256(weights)


def test_files(tmp_path: Path) -> None:
    """Tests that weights come back bit for bit, and that the same weights give the same file."""
    weights = _random_case(0, 2)[0]
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    save_weights(first, weights)
    loaded = load_weights(first)
    save_weights(second, loaded)
    assert weights_sha256(loaded) == weights_sha256(weights)
    assert first.read_bytes() == second.read_bytes()
    with np.load(first) as stored:
        assert list(stored) == list(SHAPES)


def test_file_of_something_else(tmp_path: Path) -> None:
    """Tests that what is no file of weights is refused with its name."""
    weights = initial_weights(np.random.default_rng(0))._asdict()
    path = tmp_path / "weights.npz"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"weights\.npz: expected a file of weights"):
        load_weights(path)
    np.savez(path, **{name: array for name, array in weights.items() if name != "b2"})
    with pytest.raises(
        ValueError, match=r"weights\.npz: expected arrays w1, b1, w2, b2, w3, b3, got w1, b1, w2, w3, b3"
    ):
        load_weights(path)
    np.savez(path, **{**weights, "w2": weights["w2"][:, :32]})
    with pytest.raises(ValueError, match=r"expected w2 float32 \(64, 64\), got float32 \(64, 32\)"):
        load_weights(path)
    np.savez(path, **{**weights, "b1": weights["b1"].astype(np.float64)})
    with pytest.raises(ValueError, match=r"expected b1 float32 \(64,\), got float64 \(64,\)"):
        load_weights(path)
    np.savez(path, **{**weights, "b3": np.array([np.nan], dtype=np.float32)})
    with pytest.raises(ValueError, match="expected finite numbers in b3, got nan"):
        load_weights(path)
    np.savez(path, **{**weights, "b3": np.array([object()])})
    with pytest.raises(ValueError, match="expected a file of weights"):
        load_weights(path)


FOLDER = Path(module.__file__).parent / "weights"


def _write(folder: Path, provenance: str) -> tuple[Path, Path]:
    """Write random weights and a text file next to them."""
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
    assert weights_sha256(weights_from(SHIPPED)) == weights_sha256(weights)
    others = {weights_sha256(weights_from(name)) for name in OTHER_TRAININGS}
    assert len(others | {weights_sha256(weights)}) == 1 + len(OTHER_TRAININGS)


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
