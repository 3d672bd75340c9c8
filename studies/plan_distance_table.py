"""Correlations of plan distance and finish time gap, per instance and distance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
"""Family of the summary over all instances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDistanceRow:
    """What one definition of distance says of the finish time gap on one instance.

    Parameters
    ----------
    instance, sha256
        Name and content hash.
    family
        What it was generated as.
    num_tasks, num_gpus
        Its size.
    distance
        Name in `studies.plan_distance.DISTANCES`.
    pearson, spearman
        Correlation of distance and gap over the pairs; None where one of them is the same for all pairs.
    pearson_low, pearson_high, spearman_low, spearman_high
        95 % interval by bootstrap over placements.
    control, control_low, control_high
        Mean and 95 % interval of Pearson's correlation after the makespans were dealt out to the placements anew.
    """

    instance: str
    sha256: str
    family: str
    num_tasks: int
    num_gpus: int
    distance: str
    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    control: float | None
    control_low: float | None
    control_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDistanceSummary:
    """Correlations of one definition of distance over the instances of a family that have one.

    Parameters
    ----------
    family
        Of the instances, or `ALL`.
    distance
        Name in `studies.plan_distance.DISTANCES`.
    instances
        How many of them have a correlation.
    smallest, mean, largest
        Of Pearson's correlation; None without instances.
    mean_spearman, mean_control
        Means of the other two.
    outside_control
        On how many instances Pearson's correlation lies outside the interval of the control.
    """

    family: str
    distance: str
    instances: int
    smallest: float | None
    mean: float | None
    largest: float | None
    mean_spearman: float | None
    mean_control: float | None
    outside_control: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDistanceTable:
    """Result of the study.

    Parameters
    ----------
    rows
        One per instance and distance.
    seed, placements, pairs, resamples, order, insertion
        How it was made; see `plan_distance_study`.
    """

    rows: tuple[PlanDistanceRow, ...]
    seed: int
    placements: int
    pairs: int
    resamples: int
    order: str
    insertion: bool

    @property
    def families(self) -> list[str]:
        """Families in the order of their first instance."""
        return list(dict.fromkeys(row.family for row in self.rows))

    @property
    def distances(self) -> list[str]:
        """Distances in the order of the rows."""
        return list(dict.fromkeys(row.distance for row in self.rows))

    def pearson_of(self, distance: str, family: str = ALL) -> list[float]:
        """Return Pearson's correlations of a distance over the instances of a family that have one."""
        return [
            row.pearson
            for row in self.rows
            if row.distance == distance and family in (ALL, row.family) and row.pearson is not None
        ]

    def summary(self, family: str, distance: str) -> PlanDistanceSummary:
        """Summarise a distance over the instances of a family, or over `ALL`."""
        rows = [
            row
            for row in self.rows
            if row.distance == distance and family in (ALL, row.family) and row.pearson is not None
        ]
        pearson = [row.pearson for row in rows if row.pearson is not None]
        outside = [
            row
            for row in rows
            if row.control_low is not None
            and row.control_high is not None
            and row.pearson is not None
            and not row.control_low <= row.pearson <= row.control_high
        ]
        return PlanDistanceSummary(
            family=family,
            distance=distance,
            instances=len(rows),
            smallest=min(pearson, default=None),
            mean=_mean(pearson),
            largest=max(pearson, default=None),
            mean_spearman=_mean([row.spearman for row in rows]),
            mean_control=_mean([row.control for row in rows]),
            outside_control=len(outside),
        )

    def summaries(self) -> list[PlanDistanceSummary]:
        """Summarise every distance over all instances, then over those of each family."""
        return [self.summary(family, distance) for family in (ALL, *self.families) for distance in self.distances]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per instance and distance."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**asdict(self), "summaries": [asdict(summary) for summary in self.summaries()]}


def _mean(values: list[float | None] | list[float]) -> float | None:
    """Return the mean of what is there."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None
