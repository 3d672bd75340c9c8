"""Which share of the runs of every method is within which gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import gap_name, lines_only, method_styles, new_axes, percent_axis
from studies.figures.performance_profiles import SPREAD_OUT
from studies.figures.share_lines import share_lines
from studies.statistics.gap_ecdf import gap_ecdf

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.statistics.study_gaps import StudyGaps


def gap_ecdf_figure(gaps: StudyGaps, ax: Axes | None = None) -> Axes:
    """Draw the empirical distribution of the gaps over all runs, one line per method.

    Beside the performance profile, which has one value per instance, this one shows every run: how often a single run
    is good enough.

    Parameters
    ----------
    gaps
        Runs at one budget; runs without a schedule count as never within any gap.
    ax
        Where to draw; by default a figure of its own.
    """
    ax = ax or new_axes(8.0, max(4.5, 1.0 + 0.2 * len(gaps.labels)))
    table = gap_ecdf(gaps)
    known = np.isfinite(table["gap"].to_numpy(np.float64))
    largest = 100 * float(table.loc[known, "gap"].max()) if known.any() else 0.0
    groups = dict(iter(table[known].groupby("label", sort=False)))
    nothing = np.zeros(0)
    lines = {
        label: (100 * groups[label]["gap"].to_numpy(), groups[label]["share"].to_numpy())
        if label in groups
        else (nothing, nothing)
        for label in gaps.labels
    }
    share_lines(ax, lines, 1.2 * max(largest, 1.0), method_styles(gaps))
    lines_only(ax)
    percent_axis(ax, "x", largest, gap_name(gaps.is_proven), wide=SPREAD_OUT)
    ax.set_ylabel("share of runs")
    return ax
