"""Plot of bounds against proven optima, one row per method."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.bound_comparison import BoundComparison

SPREAD = 0.15
"""Height to either side over which the points of a method are spread, so that equal ratios stay visible."""


def plot_bounds(comparison: BoundComparison, ax: Axes | None = None) -> Axes:
    """Draw bound over optimum: a point per instance, a bar at the mean of each method, a line at the optimum.

    Parameters
    ----------
    comparison
        What to draw; methods without any ratio are left out.
    ax
        Where to draw; by default a figure of its own, whose height follows the number of methods.

    Returns
    -------
    Axes
        What was drawn on: ratios from 0 to 1, the methods from above in their order.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    methods = [method for method in comparison.methods if comparison.ratios(method)]
    if ax is None:
        figure = Figure(figsize=(8.0, 1.2 + 0.42 * max(len(methods), 1)), layout="constrained")
        FigureCanvasAgg(figure)
        ax = figure.subplots()
    ax.axvline(1.0, color="#1a7f37", linewidth=1.5, zorder=1)
    rows = range(1, len(methods) + 1)
    for row, method in zip(rows, methods, strict=True):
        ratios = comparison.ratios(method)
        ax.barh(row, statistics.fmean(ratios), height=0.6, color="#dbe9f6", edgecolor="#5b7c99", zorder=2)
        offsets = np.linspace(-SPREAD, SPREAD, len(ratios)) if len(ratios) > 1 else np.zeros(1)
        ax.scatter(ratios, row + offsets, s=14, color="#c8553d", alpha=0.8, linewidths=0, zorder=3)
    ax.set_yticks(list(rows), methods, parse_math=False)
    ax.set_ylim(len(methods) + 0.6, 0.4)
    ax.set_xlim(0.0, 1.02)
    ax.set_xlabel("bound / optimum (bar: mean; green line: the optimum)")
    ax.grid(axis="x", color="#e5e5e5")
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
