"""Rows that predictors are fitted to and tested on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.predicted_speed import slowness

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.feature_space import FeatureSpace

Pair = tuple[str, str]
"""Two names of classes in alphabetical order; twice the same for two jobs of one class."""


def class_pairs(classes: Collection[str]) -> frozenset[Pair]:
    """Return the pairs among the jobs of a server, whose classes are given, one name per job."""
    names = sorted(classes)
    return frozenset((a, b) for position, a in enumerate(names) for b in names[position + 1 :])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CoLocationSample:
    """Co-locations: two or more jobs on one server for a while without events, and how fast each is.

    Parameters
    ----------
    space
        Which features.
    features
        Shape (rows, features), float64.
    speed
        What the server lets a job do, in per mille, shape (rows,), int64. Where a job is on several servers, its own
        speed is the least of them at most.
    co_location
        Number of the co-location of each row, ascending from 0, shape (rows,), int64.
    pairs
        Pairs of classes of each co-location.
    """

    space: FeatureSpace
    features: NDArray[np.float64]
    speed: NDArray[np.int64]
    co_location: NDArray[np.int64]
    pairs: tuple[frozenset[Pair], ...]

    @property
    def y(self) -> NDArray[np.float64]:
        """What is learned: ln(1000 / speed), shape (rows,)."""
        return slowness(self.speed)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.speed)

    def all_pairs(self) -> frozenset[Pair]:
        """Return the pairs of all co-locations."""
        return frozenset[Pair]().union(*self.pairs)

    def take(self, chosen: NDArray[np.bool_]) -> CoLocationSample:
        """Return some of the co-locations, numbered anew; `chosen` has one entry per co-location."""
        rows = chosen[self.co_location]
        number = np.cumsum(chosen) - 1
        return CoLocationSample(
            space=self.space,
            features=self.features[rows],
            speed=self.speed[rows],
            co_location=number[self.co_location[rows]],
            pairs=tuple(pairs for pairs, is_chosen in zip(self.pairs, chosen.tolist(), strict=True) if is_chosen),
        )
