"""Random search: the least that a search must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heuristics.dag.key_search import key_search
from heuristics.dag.random_keys import MOST_POINTS

if TYPE_CHECKING:
    import numpy as np

    from heuristics.dag.key_search import KeysRun, Proposals
    from heuristics.dag.random_keys import RandomKeys

_MOST_KEYS = 1_000_000
"""Keys that are drawn at once: 8 MB, so that a huge instance does not wait for points that it may never evaluate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSearchSettings:
    """Parameters of `random_search`."""

    decoding: str = "ranked"  # as in `RandomKeys`
    heft_seed: bool = True  # whether the first point is HEFT's schedule


@key_search(RandomSearchSettings, logs_rounds=False)
def random_search(
    settings: RandomSearchSettings, keys: RandomKeys, rng: np.random.Generator, run: KeysRun
) -> Proposals:
    """Draw random keys uniformly and keep the best; parameters as in `RandomSearchSettings`."""
    yield keys.sample(rng, 1, heft_seed=settings.heft_seed)
    count = max(1, min(MOST_POINTS, _MOST_KEYS // max(1, keys.num_keys)))
    while True:
        yield keys.sample(rng, count, heft_seed=False)
