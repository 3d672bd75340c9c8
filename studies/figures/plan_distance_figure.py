"""How far plan distance tells the finish time gap, beside the published values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import BOX, EDGE, MEDIAN, POINT, QUIET, new_axes, rows_of_methods
from studies.plan_distance import DISTANCES
from studies.published_plan_distances import PUBLISHED_CORRELATIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.plan_distance_table import PlanDistanceTable

SPREAD = 0.27
"""Height over which the points of a row are spread."""

ROW_HEIGHT = 0.27
"""Inches per row."""


def plan_distance_figure(table: PlanDistanceTable, ax: Axes | None = None, *, distance: str = "l2") -> Axes:
    """Draw Pearson's correlation of plan distance and finish time gap.

    Upper rows: a family each, with a point per instance and its 95 % interval, by one definition of distance. Middle:
    all definitions over all instances, as boxes. Lower rows: smallest, mean and largest of the published values.

    Parameters
    ----------
    table
        Result of `plan_distance_study`.
    ax
        Where to draw; by default a figure of its own.
    distance
        Name of the definition for the upper rows.

    Raises
    ------
    ValueError
        If the study has no such distance.
    """
    if distance not in table.distances:
        raise ValueError(f"distance: expected one of {', '.join(table.distances)}, got {distance!r}.")
    others = [name for name in table.distances if table.pearson_of(name)]
    labels = [
        *table.families,
        *(f"all families, {name}" for name in others),
        *(f"published: {entry.name}" for entry in PUBLISHED_CORRELATIONS),
    ]
    ax = ax or new_axes(8.5, 1.9 + ROW_HEIGHT * len(labels))
    ax.axvline(0.0, color=QUIET, linewidth=1.0, zorder=1)
    for row, family in enumerate(table.families, 1):
        _draw_instances(ax, row, table, family, distance)
    first = len(table.families) + 1
    if others:
        ax.boxplot(
            [np.array(table.pearson_of(name)) for name in others],
            positions=range(first, first + len(others)),
            orientation="horizontal",
            widths=0.6,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": BOX, "edgecolor": EDGE},
            medianprops={"color": MEDIAN, "linewidth": 2.0},
            whiskerprops={"color": EDGE},
            capprops={"color": EDGE},
            flierprops={"marker": "o", "markersize": 3, "markerfacecolor": EDGE, "markeredgewidth": 0},
        )
    for row, entry in enumerate(PUBLISHED_CORRELATIONS, first + len(others)):
        ax.plot([entry.smallest, entry.largest], [row, row], color=QUIET, linewidth=2.0, solid_capstyle="butt")
        ax.plot([entry.mean], [row], color=QUIET, marker="D", markersize=5, linestyle="none")
    rows_of_methods(ax, labels)
    for border in (first, first + len(others)):
        ax.axhline(border - 0.5, color=EDGE, linewidth=0.6)
    ax.set_xlabel(_caption(table, distance), fontsize=9, loc="right", multialignment="left")
    return ax


def _draw_instances(ax: Axes, row: int, table: PlanDistanceTable, family: str, distance: str) -> None:
    """Draw the instances of a family side by side, each with its interval."""
    mine = [entry for entry in table.rows if entry.family == family and entry.distance == distance]
    known = [entry for entry in mine if entry.pearson is not None]  # then the interval is known too
    offsets = np.linspace(-SPREAD, SPREAD, len(known)) if len(known) > 1 else np.zeros(len(known))
    for entry, offset in zip(known, offsets, strict=True):
        ends = np.array([entry.pearson_low, entry.pearson_high], dtype=np.float64)
        ax.plot(ends, np.full(2, row + offset), color=POINT, linewidth=1.0, alpha=0.6)
        ax.plot(np.array([entry.pearson]), [row + offset], color=POINT, marker="o", markersize=3.5, linestyle="none")


def _caption(table: PlanDistanceTable, distance: str) -> str:
    """Say what is drawn, with the definition that was used."""
    return (
        "Pearson's correlation of plan distance and finish time gap (difference of makespans)\n"
        f"upper rows: {distance} = {DISTANCES[distance]}; {table.placements} uniform placements and {table.pairs}\n"
        "pairs per instance, 95 % intervals by bootstrap over placements; middle: all definitions;\n"
        "lower rows: smallest, mean and largest over 27 numbers of tasks as published, definition not stated"
    )
