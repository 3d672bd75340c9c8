"""How a heuristic does on random instances of the family that its worst case was searched from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.adversary.random_family import COMPARED
from studies.adversary.ratio_oracle import NoRatioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from studies.adversary.random_family import RandomFamily
    from studies.adversary.ratio_oracle import RatioOracle
    from studies.adversary.search_space import SearchSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomRatios:
    """Ratios on random instances.

    Parameters
    ----------
    ratios
        In the order of the instances; those without a ratio are left out.
    count
        Number of instances.
    """

    ratios: tuple[float, ...]
    count: int

    def to_dict(self) -> dict[str, object]:
        """Return mean, median and largest ratio as JSON values, None where there is no ratio."""
        given = np.array(self.ratios)
        values = {"mean": given.mean(), "median": np.median(given), "largest": given.max()} if len(given) else {}
        statistics = {name: float(values[name]) if values else None for name in ("mean", "median", "largest")}
        return {"count": self.count, "with_ratio": len(given), **statistics}


def random_ratios(
    family: RandomFamily,
    space: SearchSpace,
    oracle: RatioOracle,
    count: int,
    seed: int,
    on_instance: Callable[[int], None] = lambda number: None,
) -> RandomRatios:
    """Measure random instances of a family, brought inside a space.

    Parameters
    ----------
    family, space, oracle
        As of the search; the instances are others than those that it starts from.
    count
        Number of instances.
    seed
        Of the instances.
    on_instance
        Told of the number of every instance before it is measured.

    Raises
    ------
    InterruptedRunError
        If Ctrl-C was heard.
    """
    ratios = []
    for number in range(count):
        on_instance(number)
        try:
            ratios.append(oracle.ratio(space.bring_inside(family.instance(seed, COMPARED, number))))
        except NoRatioError:
            continue
    return RandomRatios(ratios=tuple(ratios), count=count)
