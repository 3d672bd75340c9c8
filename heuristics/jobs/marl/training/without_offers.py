"""Networks that do not look at what agents offer, as an ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.marl.observation import OFFER_FEATURES
from heuristics.jobs.marl.parameters import WIDTH

if TYPE_CHECKING:
    from heuristics.jobs.marl.parameters import Parameters

_FIRST = 2 * WIDTH


def without_offers(parameters: Parameters) -> Parameters:
    """Return parameters with weight 0 on offers; they stay 0 in a training on observations whose offers are 0."""
    changed = dict(parameters)
    for score in ("forward", "wait"):
        weight = changed[f"{score}.hidden.weight"].copy()
        weight[_FIRST : _FIRST + OFFER_FEATURES] = 0
        changed[f"{score}.hidden.weight"] = weight
    return changed
