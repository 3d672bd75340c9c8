"""How much the runs of each method differ by nothing but their seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.boxes import draw_boxes
from studies.figures.house_style import BOX, EDGE, QUIET, new_axes, percent_axis, rows_of_methods
from studies.statistics.stability import spreads, stability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.statistics.study_gaps import StudyGaps

MEASURES = (("range", "worst less best", BOX, -0.18), ("iqr", "interquartile range", "#f2c9a0", 0.18))
"""Column, what it is, colour, and how far its box stands from the middle of the row."""


def stability_figure(gaps: StudyGaps, ax: Axes | None = None) -> Axes:
    """Draw per method the spread over seeds on each instance: interquartile range, and worst less best.

    Parameters
    ----------
    gaps
        Runs at one budget. The steadiest method by mean range is on top; methods that draw nothing at random, and those
        with a single run per instance, keep a row that says so.
    ax
        Where to draw; by default a figure of its own.
    """
    from matplotlib.patches import Patch

    table, found = spreads(gaps), stability(gaps)
    labels = sorted(gaps.labels, key=lambda label: _order(label, found[label].mean_range))
    ax = ax or new_axes(8.0, 1.4 + 0.5 * max(len(labels), 1))
    largest = 0.0
    for row, label in enumerate(labels, 1):
        if found[label].mean_range is None:
            text = "fixed: draws nothing at random" if found[label].is_deterministic else "one run per instance"
            ax.text(0.01, row, text, transform=ax.get_yaxis_transform(), color=QUIET, fontsize=8, va="center")
    groups = dict(iter(table.groupby("label", sort=False)))
    for column, _, colour, offset in MEASURES:
        values = [
            100 * groups[label][column].to_numpy(np.float64) if label in groups else np.zeros(0) for label in labels
        ]
        largest = max([largest, *(float(found.max()) for found in values if len(found))])
        rows = [row + offset for row in range(1, len(labels) + 1)]
        draw_boxes(ax, rows, values, height=0.3, colour=colour, outliers=True)
    rows_of_methods(ax, labels)
    percent_axis(ax, "x", largest or 1.0, "spread over seeds, over the bound,")
    ax.legend(
        handles=[Patch(facecolor=colour, edgecolor=EDGE, label=name) for _, name, colour, _ in MEASURES],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        frameon=False,
        fontsize=9,
        borderaxespad=0.2,
    )
    return ax


def _order(label: str, mean_range: float | None) -> tuple[bool, float, str]:
    """Sort by spread; methods without one stand last."""
    return (mean_range is None, mean_range or 0.0, label)
