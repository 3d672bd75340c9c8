"""One start of a training: its curve, and the best network on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from heuristics.jobs.marl.trained_network import TrainedNetwork
    from heuristics.jobs.marl.training.value_scale import ValueScale


class CurvePoint(NamedTuple):
    """A measurement during training; means since the point before are None before the first update."""

    updates: int
    validation: float  # mean over the validation instances of mean JCT / the teacher's
    train_jct: float | None  # mean JCT / kappa of the training episodes, at the speeds of training
    value_error: float | None  # mean squared, in units of the scale
    entropy: float | None  # mean over decisions


@dataclass(slots=True, eq=False)
class TrainingStart:
    """What a start has found so far.

    Parameters
    ----------
    network
        The best on the validation instances, the older one on a tie; at first that of the start.
    best
        Its validation; infinite before it was measured.
    imitated
        Network after imitation; None if there was none, or not to its end.
    scale
        Of the critic's numbers; None before there were episodes.
    curve
        Measurements.
    """

    network: TrainedNetwork
    best: float = np.inf
    imitated: TrainedNetwork | None = None
    scale: ValueScale | None = None
    curve: list[CurvePoint] = field(default_factory=list)
    _updates: list[tuple[float, float, float]] = field(default_factory=list, init=False)

    def add_update(self, train_jct: float, value_error: float, entropy: float) -> None:
        """Remember an update for the next measurement, see `CurvePoint`."""
        self._updates.append((train_jct, value_error, entropy))

    def add_validation(self, updates: int, validation: float, network: TrainedNetwork) -> None:
        """Add a measurement to the curve; keep its network where it is the best."""
        means = np.mean(self._updates, axis=0).tolist() if self._updates else [None, None, None]
        self.curve.append(CurvePoint(updates, validation, *means))
        self._updates = []
        if validation < self.best:
            self.best, self.network = validation, network
