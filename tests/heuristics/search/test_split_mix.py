"""Tests of the random numbers of the reinsertion search."""

from __future__ import annotations

import numpy as np

from heuristics.search import split_mix
from tests.compiled import compiled

below, uniform = compiled(split_mix.below), compiled(split_mix.uniform)


def test_published_stream() -> None:
    """Tests that the first numbers after seed 1234567 are those of the published generator."""
    state = np.array([1234567], dtype=np.uint64)
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [uniform(state) for _ in words] == [(word >> 11) / 2**53 for word in words]


def test_integers_are_even() -> None:
    """Tests that all integers below a bound come up about as often."""
    state = np.array([7], dtype=np.uint64)
    counts = np.bincount([below(state, 5) for _ in range(5000)], minlength=5)
    assert len(counts) == 5
    assert (abs(counts - 1000) < 120).all()  # about four standard deviations
