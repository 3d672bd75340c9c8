"""Tests that the shipped networks are what their documents say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import heuristics.dag.worl_rtgs.training_instances as stored
from heuristics.dag.worl_rtgs.evaluate import compare, obedience
from heuristics.dag.worl_rtgs.network import Weights, load_weights, shipped_weights, weights_sha256

FOLDER = Path(stored.__file__).parent / "weights"
NAMES = sorted(path.stem for path in FOLDER.glob("ddqn_v1*.npz"))  # ddqn_v1 is seed 0, ddqn_v1_seed1 another


def _shipped(name: str) -> tuple[Weights, dict[str, Any]]:
    """Return weights and their document."""
    return load_weights(FOLDER / f"{name}.npz"), json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_document_belongs_to_the_weights(name: str) -> None:
    """Tests the hash, that all seeds were trained alike on the stored sets, and that no path is in the document."""
    weights, document = _shipped(name)
    assert document["weights_sha256"] == weights_sha256(weights)
    assert document["seed"] == int(name.partition("_seed")[2] or 0)
    assert document["configuration"] == _shipped(NAMES[0])[1]["configuration"]
    assert document["fine_tuned_to"] is None
    assert not document["interrupted"]
    assert document["validation"]["instances_sha256"] == stored.dag_instances_sha256(stored.validation_instances())
    assert document["held_out"]["instances_sha256"] == stored.dag_instances_sha256(stored.held_out_instances())
    assert {"python", "numpy", "numba", "jax", "jaxlib", "optax"} <= set(document["versions"])
    assert "/" not in document["command"]
    assert document["seconds"] < 1800


@pytest.mark.parametrize("name", NAMES)
def test_curve_rises(name: str) -> None:
    """Tests that the network gets better: start, first quarter, last quarter, the one kept."""
    _, document = _shipped(name)
    curve = [point["validation_ratio"] for point in document["curve"]]
    quarter = len(curve) // 4
    first, last = curve[1 : 1 + quarter], curve[-quarter:]
    assert sum(last) / len(last) < sum(first) / len(first) < curve[0]
    assert document["validation"]["mean_ratio"] == min(curve) < curve[0]
    assert document["curve"][-1]["steps"] >= document["configuration"]["steps"]


@pytest.mark.whole
@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_held_out_result_is_the_recorded_one(name: str) -> None:
    """Tests the recorded numbers on all held-out instances: mean ratio within 0.01, and who beats whom."""
    weights, document = _shipped(name)
    recorded = document["held_out"]
    found = compare(stored.held_out_instances(), weights, weights)
    assert found.instances == recorded["instances"] == 200
    assert found.mean_ratio == pytest.approx(recorded["mean_ratio"], abs=0.01)
    assert found.better_than_rtgs_greedy == pytest.approx(recorded["better_than_rtgs_greedy"], abs=0.02)
    assert found.mean_ratio_rtgs_greedy == pytest.approx(recorded["mean_ratio_rtgs_greedy"], abs=0.01)
    assert found.better_than_rtgs_greedy >= 0.8


@pytest.mark.whole
def test_shipped_network_beats_itself_untrained() -> None:
    """Tests with the start weights made anew from the seed: better on at least 90 % of the held-out instances."""
    import numpy as np

    from heuristics.dag.worl_rtgs.network import initial_weights

    _, document = _shipped(NAMES[0])
    start = initial_weights(np.random.default_rng(np.random.SeedSequence(0).spawn(1)[0]))
    assert weights_sha256(start) == document["start_weights_sha256"]
    found = compare(stored.held_out_instances(), shipped_weights(), start)
    assert found.better_than_untrained == pytest.approx(document["held_out"]["better_than_untrained"], abs=0.02)
    assert found.better_than_untrained >= 0.9
    assert found.mean_ratio < found.mean_ratio_untrained


def test_the_trained_network_obeys() -> None:
    """Tests that with the loads of a placement as wish more of it comes back than with another placement's.

    The mean difference on the 64 validation instances is more than two standard errors over instances.
    """
    own, others = obedience(stored.validation_instances(), shipped_weights()).T
    assert (own - others).mean() > 2 * (own - others).std() / len(own) ** 0.5
