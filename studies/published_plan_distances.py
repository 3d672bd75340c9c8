"""Published correlations of plan distance and finish time gap."""

from __future__ import annotations

from typing import NamedTuple


class PublishedCorrelation(NamedTuple):
    """Pearson correlations over 27 numbers of tasks from 100 to 10,000, of one setting."""

    workload: str
    gpus: int
    setting: str
    smallest: float
    mean: float
    largest: float

    @property
    def name(self) -> str:
        """The setting in a few words."""
        return f"{self.workload}, {self.gpus} GPUs, {self.setting}"


PUBLISHED_CORRELATIONS = (
    PublishedCorrelation("Alibaba", 50, "busy", 0.321, 0.434, 0.533),
    PublishedCorrelation("Alibaba", 50, "idle", 0.163, 0.419, 0.537),
    PublishedCorrelation("Alibaba", 500, "busy", 0.367, 0.448, 0.518),
    PublishedCorrelation("Alibaba", 500, "idle", 0.392, 0.467, 0.538),
    PublishedCorrelation("synthetic", 50, "busy, degree 1", 0.390, 0.472, 0.550),
    PublishedCorrelation("synthetic", 50, "busy, degree 3", 0.389, 0.484, 0.552),
    PublishedCorrelation("synthetic", 50, "idle, degree 1", 0.235, 0.464, 0.532),
    PublishedCorrelation("synthetic", 50, "idle, degree 3", 0.404, 0.465, 0.584),
    PublishedCorrelation("synthetic", 500, "busy, degree 1", 0.363, 0.414, 0.467),
    PublishedCorrelation("synthetic", 500, "busy, degree 3", 0.361, 0.415, 0.476),
    PublishedCorrelation("synthetic", 500, "idle, degree 1", 0.377, 0.417, 0.460),
    PublishedCorrelation("synthetic", 500, "idle, degree 3", 0.357, 0.449, 0.543),
)
"""Du et al. (2025): plotted points of the authors' public code, of which we took smallest, mean and largest.

Not stated: the definitions of the two quantities, and which placements they were taken of. The published Alibaba inputs
contain no edges.
"""
