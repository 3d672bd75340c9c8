"""Fits the models to one sample and chooses by pairs of classes that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.constant_model import fit_constant
from heuristics.jobs.interference_predictor.held_out_pairs import held_out_classes, split_by_classes
from heuristics.jobs.interference_predictor.interference_predictor import InterferencePredictor
from heuristics.jobs.interference_predictor.prediction_errors import prediction_errors
from heuristics.jobs.interference_predictor.ridge_model import fit_ridge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.co_location_sample import CoLocationSample
    from heuristics.jobs.interference_predictor.speed_model import SpeedModel

CONSTANT, RIDGE, NETWORK = "constant", "ridge", "network"
"""Names of the models; the constant is a control and is never chosen."""


BLOCKS = 4
"""How often pairs are held out for the choice; one block of classes alone decides too much by chance (ours)."""

_DRAWS = 100  # of a block, until there are co-locations on both sides


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FittedPredictors:
    """All models, and which is kept.

    Parameters
    ----------
    models
        By name, fitted to all co-locations.
    errors
        Mean absolute error of y of each, fitted without them, on held-out pairs; the mean over blocks.
    chosen
        Ridge or network, whichever has the smaller error there; ridge if they are equal.
    predictor
        The chosen one.
    held_out
        For every block the classes whose pairs among each other were held out.
    losses
        Of the network that was fitted to all, per epoch.
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

    Parameters
    ----------
    sample
        At least one row.
    rng
        Of the network.
    epochs
        Of the network; default `EPOCHS`.

    Returns
    -------
    tuple
        The models by name, and the losses of the network.
    """
    from heuristics.jobs.interference_predictor.fit_network import EPOCHS, fit_network

    network = fit_network(sample.features, sample.y, rng, epochs=EPOCHS if epochs is None else epochs)
    ridge, constant = fit_ridge(sample.features, sample.y), fit_constant(sample.y)
    return {CONSTANT: constant, RIDGE: ridge, NETWORK: network.model}, network.losses


def fit_predictor(
    sample: CoLocationSample, rng: np.random.Generator, *, epochs: int | None = None, blocks: int = BLOCKS
) -> FittedPredictors:
    """Choose between ridge and network by pairs of classes that they have not seen, then fit to everything.

    Section 3.4 of the reference, a reconstruction of ours; so are several blocks and the fit to everything.

    Parameters
    ----------
    sample
        Co-locations of at least 3 classes.
    rng
        Of the held-out classes and of the networks.
    epochs
        Of the network; default `EPOCHS`.
    blocks
        How often pairs are held out, at least 1.

    Raises
    ------
    ValueError
        If there are fewer than 3 classes, or no co-locations of nothing but pairs that can be held out.
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
