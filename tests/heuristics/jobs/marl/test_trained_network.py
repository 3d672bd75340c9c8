"""Tests that networks survive their files bit for bit, and that broken files are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.jobs.hashed_arrays import load_arrays, save_arrays
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import Variant, initial_parameters
from heuristics.jobs.marl.trained_network import FORMAT, TrainedNetwork, load_network, save_network

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("A", "B")


def network(variant: Variant = Variant.INNER_OUTER, **changes: Any) -> TrainedNetwork:
    """Return an untrained network."""
    size = ObservationSize(kinds=KINDS, num_agents=3, num_servers=9, num_gpus=8, num_racks=2)
    given = {"parameters": initial_parameters(np.random.default_rng(1), size, variant), "kappa": 12.5}
    return TrainedNetwork(**{**given, "variant": variant, "kinds": KINDS, "num_agents": 3, **changes})


@pytest.mark.parametrize("variant", list(Variant))
def test_round_trip(variant: Variant, tmp_path: Path) -> None:
    """Tests that what is read is what was written, and that writing twice gives the same bytes."""
    first = network(variant)
    for name in ("a.npz", "b.npz"):
        save_network(tmp_path / name, first)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = load_network(tmp_path / "a.npz")
    assert read.sha256 == first.sha256
    assert (read.kappa, read.variant, read.kinds, read.num_agents) == (12.5, variant, KINDS, 3)
    for name, array in first.parameters.items():
        assert read.parameters[name].tobytes() == array.tobytes()
    assert network(variant, kappa=12.6).sha256 != first.sha256


def test_broken_files(tmp_path: Path) -> None:
    """Tests a file of text, another format, a changed number, and arrays that do not belong together."""
    path = tmp_path / "n.npz"
    path.write_text("no arrays")
    with pytest.raises(ValueError, match="expected a file of a network, got something else"):
        load_network(path)
    save_arrays(path, {"format": np.array("other")})
    with pytest.raises(ValueError, match="expected format 'optgap/marl-network 1', got 'other'"):
        load_network(path)
    save_network(path, network())
    arrays = load_arrays(path, "network", FORMAT)
    save_arrays(path, {**arrays, "num_agents": np.array(2)})
    with pytest.raises(ValueError, match=r"critic.hidden.weight: expected float32 \(56, 64\), got float32 \(68, 64\)"):
        load_network(path)
    save_arrays(path, {name: array for name, array in arrays.items() if name != "kappa"})
    with pytest.raises(ValueError, match="expected an array 'kappa', got none"):
        load_network(path)
    save_network(path, network())
    with np.load(path) as stored:
        changed = dict(stored)
    changed["kappa"] = np.array(1.0)
    np.savez(path, **changed)
    with pytest.raises(ValueError, match="expected content of SHA-256"):
        load_network(path)


def test_wrong_parts() -> None:
    """Tests numbers and arrays that no network has."""
    with pytest.raises(ValueError, match=r"kappa: expected a finite number of ticks above 0, got 0\.0"):
        network(kappa=0.0)
    with pytest.raises(ValueError, match="num_agents: expected at least 1, got 0"):
        network(num_agents=0)
    flat = network(Variant.FLAT).parameters
    with pytest.raises(ValueError, match="parameters: expected those of inner, got more or less: "):
        network(Variant.INNER, parameters=flat)
    with pytest.raises(ValueError, match=r"wait.score.bias: expected finite numbers, got nan"):
        network(Variant.FLAT, parameters={**flat, "wait.score.bias": np.array([np.nan], dtype=np.float32)})
