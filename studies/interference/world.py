"""What the study of the interference predictor fits models to and tests them on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from heuristics.jobs.interference_predictor.co_location_sample import CoLocationSample


class WorldParts(NamedTuple):
    """Three samples of one seed; no pair of classes in `unseen` is in another."""

    train: CoLocationSample
    seen: CoLocationSample  # other co-locations of the pairs of `train`
    unseen: CoLocationSample
    held_out: frozenset[str]  # classes whose pairs among each other make up `unseen`


class World(Protocol):
    """A source of co-locations."""

    @property
    def name(self) -> str:
        """Short name."""
        ...

    @property
    def origin(self) -> str:
        """What is measured and what is modelled."""
        ...

    def parts(self, seed: int, count: int) -> WorldParts:
        """Return training and test co-locations.

        Parameters
        ----------
        seed
            Of everything random.
        count
            Co-locations to train on, where they can be made at will.
        """
        ...
