"""Tests that placements take free GPUs and give them back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from tests.placement_instances import worked_example


def test_take_and_release() -> None:
    """Tests that a placement takes its GPUs, stages on one server together, and gives them back."""
    instance = worked_example()
    found = HeavyEdge(instance).place(1, instance.num_gpus_of)
    assert found is not None
    free = np.array(instance.num_gpus_of)
    found.take(free)
    assert free.tolist() == [0, 1]
    found.release(free)
    assert free.tolist() == [2, 2]
    assert found.matrix(2, 2).tolist() == [[1, 1], [1, 0]]
    assert (found.num_servers, found.alpha, found.comm) == (2, 14, Fraction(2))
    assert found.duration(2) == 28
