"""Box plots of gaps, one box per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.boxes import draw_boxes
from studies.figures.house_style import (
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
    known = gaps.runs[gaps.runs["gap"].notna()]
    groups = dict(iter(known.groupby("label", sort=False)["gap"]))
    nothing = np.zeros(0)
    found = {label: 100 * groups[label].to_numpy() if label in groups else nothing for label in gaps.labels}
    labels = sorted(found, key=lambda label: (not len(found[label]), _median_and_mean(found[label]), label))
    ax = ax or new_axes(8.0, 1.2 + 0.42 * max(len(labels), 1))
    ax.axvline(0.0, color=OPTIMUM, linewidth=1.5, zorder=1)
    drawn = [(row, found[label]) for row, label in enumerate(labels, 1) if len(found[label])]
    draw_boxes(ax, [row for row, _ in drawn], [values for _, values in drawn], height=0.6, means=True)
    for is_few, size, alpha in ((True, 14, 0.7), (False, 4, 0.25)):
        mine = [(row, values) for row, values in drawn if (len(values) <= MANY) is is_few]
        if mine:
            places = [row + _offsets(len(values)) / (2 if is_few else 1) for row, values in mine]
            ax.scatter(
                np.concatenate([values for _, values in mine]),
                np.concatenate(places),
                s=size,
                color=POINT,
                alpha=alpha,
                linewidths=0,
                zorder=3,
            )
    rows_of_methods(ax, labels)
    percent_axis(ax, "x", max((float(values.max()) for _, values in drawn), default=0.0), gap_name(gaps.is_proven))
    _remarks(gaps, labels, ax)
    return ax


def _offsets(count: int) -> np.ndarray:
    """Return how far the points of a row stand from its middle."""
    return np.linspace(-SPREAD, SPREAD, count) if count > 1 else np.zeros(1)


def _median_and_mean(values: np.ndarray) -> tuple[float, float]:
    """Return what rows are sorted by."""
    return (float(np.median(values)), float(values.mean())) if len(values) else (0.0, 0.0)


def _remarks(gaps: StudyGaps, labels: list[str], ax: Axes) -> None:
    """Write beside a row how many of its runs are not in it."""
    by_label = gaps.runs.groupby("label", sort=False)["has_schedule"]
    totals, schedules = by_label.size(), by_label.sum()
    for row, label in enumerate(labels, 1):
        lost = int(totals[label] - schedules[label])
        if lost:
            ax.text(
                1.01,
                row,
                f"{lost} of {totals[label]} runs\nwithout a schedule",
                transform=ax.get_yaxis_transform(),
                color=QUIET,
                fontsize=8,
                verticalalignment="center",
            )
