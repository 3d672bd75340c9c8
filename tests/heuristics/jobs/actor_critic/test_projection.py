"""Tests of the projection around the first weights."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.actor_critic.projection import project


def test_projection_layer_by_layer() -> None:
    """Tests the worked example: a difference of norm 5 with B = 2 is scaled by 0.4, one of norm 2 is left alone."""
    centre = np.random.default_rng(0).normal(size=(3, 2, 2)).astype(np.float32)
    difference = np.zeros((3, 2, 2), dtype=np.float32)
    difference[0] = [[3.0, 0.0], [0.0, 4.0]]
    difference[1, 1, 0] = 1.99
    layers = centre + difference
    projected, outside = (np.asarray(part) for part in project(layers, centre, 2.0))
    assert outside.tolist() == [True, False, False]
    assert projected[0] == pytest.approx(centre[0] + 0.4 * difference[0], abs=1e-5)
    assert (projected[1:] == layers[1:]).all()
    assert np.linalg.norm(projected[0] - centre[0]) == pytest.approx(2.0, abs=1e-5)


def test_projection_of_many_agents() -> None:
    """Tests that agents share the centre, that nothing ends beyond B, and that a second projection changes little."""
    rng = np.random.default_rng(1)
    centre = rng.normal(size=(2, 4, 4)).astype(np.float32)
    layers = centre + rng.normal(size=(5, 2, 4, 4)).astype(np.float32) * np.linspace(0.1, 2, 5)[:, None, None, None]
    projected, outside = project(layers.astype(np.float32), centre, 3.0)
    norms = np.linalg.norm(np.asarray(projected) - centre, axis=(2, 3))
    assert norms.max() <= 3.0 + 1e-4
    assert (np.asarray(outside) == (np.linalg.norm(layers - centre, axis=(2, 3)) > 3.0)).all()
    assert 0 < np.asarray(outside).sum() < 10
    again, _ = project(projected, centre, 3.0)
    assert np.asarray(again) == pytest.approx(np.asarray(projected), abs=1e-5)
