"""Gaps of online policies: mean and interval per policy and load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import COLOURS, OPTIMUM, gap_name, new_axes, percent_axis, rows_of_methods

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "D", "^", "v", "P")
"""One per load, beside the colour."""

SPREAD = 0.5
"""Height over which the loads of a policy are spread."""


def online_gaps(summary: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the mean gap of every policy with its confidence interval, one mark per load; the best is on top.

    Parameters
    ----------
    summary
        As `online_summary` returns it, of one scenario.
    ax
        Where to draw; by default a figure of its own, whose height follows the number of policies.
    """
    means = summary.groupby("label", sort=False)["gap"].mean().sort_values(kind="stable")
    labels = list(means.index)
    loads = list(dict.fromkeys(summary["load"]))
    ax = ax or new_axes(8.0, 1.3 + 0.42 * max(len(labels), 1))
    ax.axvline(0.0, color=OPTIMUM, linewidth=1.5, zorder=1)
    shifts = np.linspace(-SPREAD, SPREAD, len(loads)) / 2 if len(loads) > 1 else np.zeros(1)
    largest = 0.0
    for index, (load, shift) in enumerate(zip(loads, shifts, strict=True)):
        part = summary[summary["load"] == load].set_index("label").reindex(labels)
        gap = 100 * part["gap"].to_numpy(dtype=np.float64)
        low, high = (100 * part[name].to_numpy(dtype=np.float64) for name in ("gap_low", "gap_high"))
        rows = np.arange(1, len(labels) + 1) + shift
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        has_interval = np.isfinite(low)
        ax.hlines(rows[has_interval], low[has_interval], high[has_interval], color=colour, linewidth=1.4, zorder=2)
        ax.plot(gap, rows, linestyle="", marker=marker, markersize=5, color=colour, label=f"load {load:g}", zorder=3)
        largest = max(largest, float(np.nanmax(np.concatenate([gap, high]), initial=0.0)))
    rows_of_methods(ax, labels)
    percent_axis(ax, "x", largest, f"mean {gap_name(bool(summary['all_optima'].all()))}")
    if len(loads) > 1:
        ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(loads))
    return ax
