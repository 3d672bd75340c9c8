"""Consolidated: the fewest servers, whatever their kinds and the traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.placements.stage_order import StageOrder

if TYPE_CHECKING:
    from fractions import Fraction

    from instances.jobs.jobs_instance import JobsInstance


class Consolidated(StageOrder):
    """The rival of Heavy-Edge that only counts servers: ours.

    All kinds that a stage may use are alike to it. It takes the servers with the most free GPUs, as few of them as
    hold the job, the last one by best fit, and fills them in order of stage. Parameters as in `HeavyEdge`.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        """Make the arrays and the memory."""
        super().__init__(instance, phi)
        self._only_last = True
