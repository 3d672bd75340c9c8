"""Pairs of classes that a predictor does not see before it is judged by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heuristics.jobs.interference_predictor.co_location_sample import CoLocationSample

HELD_OUT_SHARE = 0.4
"""Of the classes that a sample has: with 8 classes 3, and 6 of 36 pairs; with 26 classes 10, and 55 of 351 pairs."""


def held_out_classes(classes: Sequence[str], rng: np.random.Generator, share: float = HELD_OUT_SHARE) -> frozenset[str]:
    """Draw classes whose pairs among each other, twins too, are held out; each of them is seen beside other classes.

    A block of classes (ours) rather than single pairs: with several jobs on a server both parts then have co-locations
    of every size.

    Raises
    ------
    ValueError
        If there are fewer than 3 classes, of which 1 would be held out and 2 would be left.
    """
    names = sorted(set(classes))
    if len(names) < 3:
        raise ValueError(f"classes: expected at least 3 to hold out pairs, got {len(names)}.")
    count = min(len(names) - 2, max(1, round(share * len(names))))
    return frozenset(np.array(names)[np.sort(rng.permutation(len(names))[:count])].tolist())


def split_by_classes(sample: CoLocationSample, held_out: frozenset[str]) -> tuple[CoLocationSample, CoLocationSample]:
    """Return the co-locations with no pair, and those with nothing but pairs, among held-out classes.

    Those with pairs of both sorts are in neither part, so that no pair is in both.
    """
    unseen = [[set(pair) <= held_out for pair in pairs] for pairs in sample.pairs]
    seen_part = np.array([not any(which) for which in unseen], dtype=bool)
    unseen_part = np.array([all(which) for which in unseen], dtype=bool)
    return sample.take(seen_part), sample.take(unseen_part)
