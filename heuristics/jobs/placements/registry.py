"""Every placement rule by name; a new rule needs its class and one line here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_variants import (
    BestFit,
    Consolidated,
    FreeDescending,
    LeastLoad,
    LoadBalance,
    StageOrder,
)
from heuristics.jobs.placements.random_placement import RandomPlacement
from instances.fields import one_of

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np

    from heuristics.jobs.placements.placement import Placer
    from instances.jobs.instance import JobsInstance

PLACEMENTS: dict[str, type[Any]] = {
    "heavy-edge": HeavyEdge,
    "consolidated": Consolidated,
    "stage-order": StageOrder,
    "random": RandomPlacement,
    "load-balance": LoadBalance,
    "free-descending": FreeDescending,
    "best-fit": BestFit,
    "least-load": LeastLoad,
}
"""Placement rules by name; each is made from the instance and phi, and from `rng` if its constructor names one."""


def placement_rule(name: str) -> type[Any]:
    """Return the class of a placement rule; raises a `ValueError` if the name is unknown."""
    one_of(name, PLACEMENTS, "placement")
    return PLACEMENTS[name]


def placement_draws(name: str) -> bool:
    """Return whether a placement rule draws random numbers."""
    return "rng" in inspect.signature(placement_rule(name)).parameters


def placer_named(
    name: str, instance: JobsInstance, rng: np.random.Generator | None, phi: Fraction | int | None = None
) -> Placer:
    """Make a placement rule for one run.

    Parameters
    ----------
    rng
        May be None for a rule that draws no random numbers.
    phi
        Restriction of kinds, see `restricted_times`.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    drawn = {"rng": rng} if placement_draws(name) else {}
    placer: Placer = placement_rule(name)(instance, phi=phi, **drawn)
    return placer
