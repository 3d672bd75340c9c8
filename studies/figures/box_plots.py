"""Box plots of gaps, one box per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import (
    BOX,
    EDGE,
    MEDIAN,
    OPTIMUM,
    POINT,
    QUIET,
    gap_name,
    new_axes,
    percent_axis,
    rows_of_methods,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.statistics.study_gaps import StudyGaps

SPREAD = 0.3
"""Height over which the points of a box are spread, so that equal gaps stay visible."""

MANY = 100
"""With more runs than this in a row, their points are small and pale."""


def box_plots(gaps: StudyGaps, ax: Axes | None = None) -> Axes:
    """Draw the gaps of every method: a box, its median, its mean, and every run as a point; the best median is on top.

    Whiskers end at the last run within 1.5 interquartile ranges. Runs that failed or have no schedule are counted
    beside the row; a method with nothing but those keeps its row.

    Parameters
    ----------
    gaps
        Runs at one budget.
    ax
        Where to draw; by default a figure of its own, whose height follows the number of methods.
    """
    found = {
        label: 100 * gaps.runs.loc[(gaps.runs["label"] == label), "gap"].dropna().to_numpy() for label in gaps.labels
    }
    labels = sorted(found, key=lambda label: (not len(found[label]), _median_and_mean(found[label]), label))
    ax = ax or new_axes(8.0, 1.2 + 0.42 * max(len(labels), 1))
    ax.axvline(0.0, color=OPTIMUM, linewidth=1.5, zorder=1)
    drawn = [(row, found[label]) for row, label in enumerate(labels, 1) if len(found[label])]
    if drawn:
        ax.boxplot(
            [values for _, values in drawn],
            positions=[row for row, _ in drawn],
            orientation="horizontal",
            widths=0.6,
            showfliers=False,  # all runs are drawn as points
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": BOX, "edgecolor": EDGE},
            medianprops={"color": MEDIAN, "linewidth": 2.0, "zorder": 4},
            meanprops={
                "marker": "D",
                "markerfacecolor": "white",
                "markeredgecolor": MEDIAN,
                "markersize": 5,
                "zorder": 4,
            },
            whiskerprops={"color": EDGE},
            capprops={"color": EDGE},
        )
    for row, values in drawn:
        few = len(values) <= MANY
        offsets = np.linspace(-SPREAD, SPREAD, len(values)) / (2 if few else 1) if len(values) > 1 else np.zeros(1)
        ax.scatter(
            values, row + offsets, s=14 if few else 4, color=POINT, alpha=0.7 if few else 0.25, linewidths=0, zorder=3
        )
    rows_of_methods(ax, labels)
    percent_axis(ax, "x", max((float(values.max()) for _, values in drawn), default=0.0), gap_name(gaps.is_proven))
    _remarks(gaps, labels, ax)
    return ax


def _median_and_mean(values: np.ndarray) -> tuple[float, float]:
    """Return what rows are sorted by."""
    return (float(np.median(values)), float(values.mean())) if len(values) else (0.0, 0.0)


def _remarks(gaps: StudyGaps, labels: list[str], ax: Axes) -> None:
    """Write beside a row how many of its runs are not in it."""
    runs = gaps.runs
    for row, label in enumerate(labels, 1):
        mine = runs[runs["label"] == label]
        lost = int((~mine["has_schedule"]).sum())
        if lost:
            ax.text(
                1.01,
                row,
                f"{lost} of {len(mine)} runs\nwithout a schedule",
                transform=ax.get_yaxis_transform(),
                color=QUIET,
                fontsize=8,
                verticalalignment="center",
            )
