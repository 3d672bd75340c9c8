"""Box plot of gaps, one box per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.gap_table import GapTable

SPREAD = 0.3
"""Height over which the points of a box are spread, so that equal gaps stay visible."""

WIDE = 100
"""Where the largest gap is beyond this many percent, small gaps would not be seen on a linear axis."""

LINEAR_UP_TO = 10
"""Percent up to which such an axis is linear, and so has a 0."""


def plot_gaps(table: GapTable, ax: Axes | None = None) -> Axes:
    """Draw the gaps of every method: a box, its median, and every run as a point; the best median is on top.

    Parameters
    ----------
    table
        What to draw; methods without any gap are left out.
    ax
        Where to draw; by default a figure of its own, whose height follows the number of methods.

    Returns
    -------
    Axes
        What was drawn on: gaps in percent, a line at 0, the optimum (or the proven bound where that is all there is).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    methods = [row.method for row in table.methods if row.median_gap is not None]
    if ax is None:
        figure = Figure(figsize=(8.0, 1.2 + 0.42 * max(len(methods), 1)), layout="constrained")
        FigureCanvasAgg(figure)
        ax = figure.subplots()
    gaps = [100 * np.array(table.gaps_of(method)) for method in methods]
    rows = range(1, len(methods) + 1)
    ax.axvline(0.0, color="#1a7f37", linewidth=1.5, zorder=1)
    if methods:
        ax.boxplot(
            gaps,
            positions=rows,
            orientation="horizontal",
            widths=0.6,
            showfliers=False,  # all runs are drawn as points
            patch_artist=True,
            boxprops={"facecolor": "#dbe9f6", "edgecolor": "#5b7c99"},
            medianprops={"color": "#0b3d66", "linewidth": 2.0},
            whiskerprops={"color": "#5b7c99"},
            capprops={"color": "#5b7c99"},
        )
    for row, values in zip(rows, gaps, strict=True):
        offsets = np.linspace(-SPREAD, SPREAD, len(values)) / 2 if len(values) > 1 else np.zeros(1)
        ax.scatter(values, row + offsets, s=14, color="#c8553d", alpha=0.8, linewidths=0, zorder=3)
    ax.set_yticks(list(rows), methods, parse_math=False)
    ax.set_ylim(len(methods) + 0.6, 0.4)
    largest = max((float(values.max()) for values in gaps), default=0.0)
    if largest > WIDE:
        ax.set_xscale("symlog", linthresh=LINEAR_UP_TO, linscale=1.0)
        ax.xaxis.set_major_locator(
            FixedLocator([0, 2, 5, *(factor * 10**power for power in range(1, 8) for factor in (1, 3))])
        )
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(-0.02 * min(max(largest, 1.0), LINEAR_UP_TO), 1.1 * max(largest, 1.0))
    kind = "optimality gap" if table.is_proven else "gap to the best proven bound"
    ax.set_xlabel(f"{kind} in %{f' (logarithmic from {LINEAR_UP_TO} on)' if largest > WIDE else ''}")
    ax.grid(axis="x", color="#e5e5e5")
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
