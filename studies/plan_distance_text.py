"""The study of plan distance for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.command_line.text_table import text_table
from studies.plan_distance import DISTANCES
from studies.plan_distance_table import ALL
from studies.published_plan_distances import PUBLISHED_CORRELATIONS

if TYPE_CHECKING:
    from studies.plan_distance_table import PlanDistanceTable

HEADINGS = ("family", "distance", "min", "mean", "max", "Spearman", "control", "outside")
"""Columns: Pearson's correlation, mean of Spearman's, mean of the control, instances outside its interval of all."""


def plan_distance_text(table: PlanDistanceTable) -> str:
    """Return the summaries: all distances over all instances, then the first distance (SPD) for each family."""
    wanted = [(ALL, distance) for distance in table.distances]
    if len(table.families) > 1:
        wanted += [(family, distance) for family in table.families for distance in table.distances[:1]]
    rows = []
    for family, distance in wanted:
        summary = table.summary(family, distance)
        numbers = (summary.smallest, summary.mean, summary.largest, summary.mean_spearman, summary.mean_control)
        texts = ["-" if number is None else f"{number:.3f}" for number in numbers]
        rows.append([family, distance, *texts, f"{summary.outside_control}/{summary.instances}"])
    return text_table(
        HEADINGS,
        rows,
        title="Correlation of plan distance and finish time gap",
        caption="\n".join(_caption(table)),
        numbers=HEADINGS[2:],
    )


def _caption(table: PlanDistanceTable) -> list[str]:
    """Say what was measured, how, and what is published."""
    lines = [f"{name}: {DISTANCES[name]}." for name in table.distances]
    timing = f"{table.order} order, {'in idle gaps' if table.insertion else 'appended'}"
    lines += [
        f"Pearson's correlation over {table.pairs} pairs of {table.placements} placements uniform over allowed GPUs, "
        f"timed in {timing}, without memory limits.",
        f"control: makespans dealt out anew, {table.resamples} times; outside: instances beyond its 95 % interval.",
        _published_line(),
    ]
    return lines


def _published_line() -> str:
    """Return the range and mean of the published values."""
    smallest = min(entry.smallest for entry in PUBLISHED_CORRELATIONS)
    largest = max(entry.largest for entry in PUBLISHED_CORRELATIONS)
    mean = np.mean([entry.mean for entry in PUBLISHED_CORRELATIONS])
    return (
        f"Published (50 and 500 GPUs, no definition given): {smallest:.3f} to {largest:.3f}, mean {mean:.3f}, "
        f"which explains {mean**2:.0%} of the variance."
    )
