"""Random search: the least that a search must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.key_search import key_search
from heuristics.dag.priorities import noisy_ranks, upward_ranks
from heuristics.dag.random_keys import MOST_POINTS
from heuristics.search.settings import require_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.key_search import KeysRun, Proposals
    from heuristics.dag.random_keys import RandomKeys

_MOST_KEYS = 1_000_000
"""Keys that are drawn at once: 8 MB, so that a huge instance does not wait for points that it may never evaluate."""


ORDERS = ("uniform", "rank-noise")


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSearchSettings:
    """Parameters of `random_search`.

    Parameters
    ----------
    decoding
        As in `RandomKeys`.
    heft_seed
        Whether the first point is HEFT's schedule.
    order
        "uniform": priorities are uniform keys; "rank-noise": HEFT's upward ranks times log-normal noise, the orders
        that the whales of `worl-rtgs` begin with. With ``decoding="eft"`` and without HEFT seed that is a control of
        `worl-rtgs` which has the same information about orders, but neither a network nor whales; ours.

    Raises
    ------
    ValueError
        If the order is unknown, or not uniform where points hold no priorities (decoding "load").
    """

    decoding: str = "ranked"
    heft_seed: bool = True
    order: str = "uniform"

    def __post_init__(self) -> None:
        """Check the order."""
        require_choice("order", self.order, ORDERS)
        if self.order != "uniform" and self.decoding == "load":
            raise ValueError(f"order: expected 'uniform' with decoding 'load', got {self.order!r}.")


@key_search(RandomSearchSettings, logs_rounds=False)
def random_search(
    settings: RandomSearchSettings, keys: RandomKeys, rng: np.random.Generator, run: KeysRun
) -> Proposals:
    """Draw random keys and keep the best; parameters as in `RandomSearchSettings`."""
    count = max(1, min(MOST_POINTS, _MOST_KEYS // max(1, keys.num_keys)))
    rank = upward_ranks(keys.arrays)

    def drawn(count: int, heft_seed: bool) -> NDArray[np.float64]:
        points = keys.sample(rng, count, heft_seed=heft_seed)
        if settings.order == "rank-noise" and not heft_seed:
            noisy = noisy_ranks(rank, rng, count)
            points[:, : len(rank)] = noisy / np.maximum(noisy.max(axis=1, initial=0.0, keepdims=True), 1.0)
        return points

    yield drawn(1, settings.heft_seed)
    while True:
        yield drawn(count, False)
