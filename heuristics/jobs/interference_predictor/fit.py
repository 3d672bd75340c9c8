"""Fits the models to one sample and chooses between them by pairs of classes that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.features import predicted_speed, slowness
from heuristics.jobs.interference_predictor.models import fit_constant, fit_ridge
from heuristics.jobs.interference_predictor.predictor import InterferencePredictor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from heuristics.jobs.interference_predictor.models import SpeedModel
    from heuristics.jobs.interference_predictor.samples import CoLocationSample


HELD_OUT_SHARE = 0.4
"""Share of the classes that are held out: 3 of 8 classes, 6 of 36 pairs; 10 of 26 classes, 55 of 351 pairs."""


def held_out_classes(classes: Sequence[str], rng: np.random.Generator, share: float = HELD_OUT_SHARE) -> frozenset[str]:
    """Draw classes whose pairs among each other, twins too, are held out; each is still seen with other classes.

    A block of classes (ours) rather than single pairs: with several jobs on a server both parts then have co-locations
    of every size.

    Raises a `ValueError` if there are fewer than 3 classes, of which 1 would be held out and 2 would be left.
    """
    names = sorted(set(classes))
    if len(names) < 3:
        raise ValueError(f"classes: expected at least 3 to hold out pairs, got {len(names)}.")
    count = min(len(names) - 2, max(1, round(share * len(names))))
    return frozenset(np.array(names)[np.sort(rng.permutation(len(names))[:count])].tolist())


def split_by_classes(sample: CoLocationSample, held_out: frozenset[str]) -> tuple[CoLocationSample, CoLocationSample]:
    """Return the co-locations with no pair, and those with nothing but pairs, among held-out classes.

    Co-locations with pairs of both sorts are in neither part, so that no pair is in both.
    """
    unseen = [[set(pair) <= held_out for pair in pairs] for pairs in sample.pairs]
    seen_part = np.array([not any(which) for which in unseen], dtype=bool)
    unseen_part = np.array([all(which) for which in unseen], dtype=bool)
    return sample.take(seen_part), sample.take(unseen_part)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionErrors:
    """Mean absolute errors over rows.

    Parameters
    ----------
    y
        Error of y = ln(1000 / speed).
    speed
        Error of the speed that simulators would use, in per mille.
    """

    y: float
    speed: float


def prediction_errors(predicted: ArrayLike, speed: ArrayLike) -> PredictionErrors:
    """Compare predicted y with true speeds in per mille, shape (rows,) each, at least one row.

    Raises a `ValueError` if there are no rows.
    """
    y, true = np.asarray(predicted, dtype=np.float64), np.asarray(speed, dtype=np.int64)
    if not len(true):
        raise ValueError("rows: expected at least one, got none.")
    return PredictionErrors(
        y=float(np.abs(y - slowness(true)).mean()), speed=float(np.abs(predicted_speed(y) - true).mean())
    )


CONSTANT, RIDGE, NETWORK = "constant", "ridge", "network"
"""Names of the models; the constant is a control and is never chosen."""


BLOCKS = 4
"""Number of times that pairs are held out for the choice; a single block of classes would decide by chance (ours)."""

_DRAWS = 100  # of a block, until there are co-locations on both sides


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FittedPredictors:
    """All models and the chosen one.

    Parameters
    ----------
    models
        By name, fitted to all co-locations.
    errors
        Mean absolute error of y of each, fitted without them, on held-out pairs; the mean over blocks.
    chosen
        Ridge or network, whichever has the smaller error there; ridge if they are equal.
    held_out
        For every block the classes whose pairs among each other were held out.
    losses
        Losses per epoch of the network that was fitted to all co-locations.
    """

    models: Mapping[str, SpeedModel]
    errors: Mapping[str, float]
    chosen: str
    predictor: InterferencePredictor
    held_out: tuple[frozenset[str], ...]
    losses: NDArray[np.float32]


def fit_models(
    sample: CoLocationSample, rng: np.random.Generator, *, epochs: int | None = None
) -> tuple[dict[str, SpeedModel], NDArray[np.float32]]:
    """Fit constant, ridge and network to all rows.

    `epochs` are passes over all rows, by default `EPOCHS`. Returns the models by name, and the losses of the network.
    """
    from heuristics.jobs.interference_predictor.fit_network import EPOCHS, fit_network

    network = fit_network(sample.features, sample.y, rng, epochs=EPOCHS if epochs is None else epochs)
    ridge, constant = fit_ridge(sample.features, sample.y), fit_constant(sample.y)
    return {CONSTANT: constant, RIDGE: ridge, NETWORK: network.model}, network.losses


def fit_predictor(
    sample: CoLocationSample, rng: np.random.Generator, *, epochs: int | None = None, blocks: int = BLOCKS
) -> FittedPredictors:
    """Choose between ridge and network by pairs of classes that they have not seen, then fit to everything.

    A reconstruction of ours, as are several blocks and the fit to everything: docs/methods/multi_agent.md, section 6.

    Parameters
    ----------
    sample
        Co-locations of at least 3 classes.
    epochs
        Passes of a network over all rows; default `EPOCHS`.
    blocks
        Number of times that pairs are held out, at least 1.

    Raises
    ------
    ValueError
        If there are fewer than 3 classes, or no co-locations that consist of held-out pairs only.
    """
    if blocks < 1:
        raise ValueError(f"blocks: expected at least 1, got {blocks}.")
    held_out, found = [], []
    for _ in range(blocks):
        classes, seen, unseen = _block(sample, rng)
        models, _ = fit_models(seen, rng, epochs=epochs)
        held_out.append(classes)
        found.append([prediction_errors(model.predict(unseen.features), unseen.speed).y for model in models.values()])
    models, losses = fit_models(sample, rng, epochs=epochs)
    errors = dict(zip(models, np.mean(found, axis=0).tolist(), strict=True))
    chosen = min((RIDGE, NETWORK), key=errors.__getitem__)
    return FittedPredictors(
        models=models,
        errors=errors,
        chosen=chosen,
        predictor=InterferencePredictor(space=sample.space, model=models[chosen]),
        held_out=tuple(held_out),
        losses=losses,
    )


def _block(
    sample: CoLocationSample, rng: np.random.Generator
) -> tuple[frozenset[str], CoLocationSample, CoLocationSample]:
    """Draw classes whose pairs are held out; return them and the co-locations without and of such pairs."""
    names = [name for pair in sample.all_pairs() for name in pair]
    for _ in range(_DRAWS):
        classes = held_out_classes(names, rng)
        seen, unseen = split_by_classes(sample, classes)
        if seen.num_rows and unseen.num_rows:
            return classes, seen, unseen
    raise ValueError(
        f"sample: expected co-locations of seen and of held-out pairs of classes, got none in {_DRAWS} draws."
    )
