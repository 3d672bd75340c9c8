"""Stage order: Heavy-Edge's servers, filled in order of stage whatever the traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_kernel import STAGE_ORDER

if TYPE_CHECKING:
    from fractions import Fraction

    from instances.jobs.jobs_instance import JobsInstance


class StageOrder(HeavyEdge):
    """The rival of Heavy-Edge that knows kinds and servers but no traffic: its grouping by stage order alone.

    Parameters as in `HeavyEdge`.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        """Make the arrays and the memory."""
        super().__init__(instance, phi, groupings=STAGE_ORDER)
