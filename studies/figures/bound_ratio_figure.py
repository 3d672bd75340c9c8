"""How near the sources of bounds come to the best proven bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.boxes import draw_boxes
from studies.figures.house_style import OPTIMUM, POINT, QUIET, new_axes, rows_of_methods

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SPREAD = 0.2
"""Height to either side over which the instances of a row are spread."""


def bound_ratio_figure(ratios: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw bound / best proven bound: a box per source, a point per instance; full points where the optimum is proven.

    Parameters
    ----------
    ratios
        As `bound_ratios` returns them.
    ax
        Where to draw; by default a figure of its own.
    """
    groups = list(ratios.groupby(["label", "budget"], sort=False))
    names = [label if budget == "-" else f"{label}, {budget}" for (label, budget), _ in groups]
    ax = ax or new_axes(8.0, 1.3 + 0.42 * max(len(groups), 1))
    ax.axvline(1.0, color=OPTIMUM, linewidth=1.5, zorder=1)
    known = [group[group["ratio"].notna()] for _, group in groups]
    draw_boxes(ax, range(1, len(known) + 1), [group["ratio"].to_numpy(np.float64) for group in known], height=0.6)
    least = 1.0
    for row, group in enumerate(known, 1):
        if not len(group):
            ax.text(0.01, row, "no bound", transform=ax.get_yaxis_transform(), color=QUIET, fontsize=8, va="center")
            continue
        values, is_proven = group["ratio"].to_numpy(np.float64), group["is_optimum"].to_numpy(bool)
        places = row + (np.linspace(-SPREAD, SPREAD, len(values)) if len(values) > 1 else np.zeros(1))
        ax.scatter(values[is_proven], places[is_proven], s=14, color=POINT, alpha=0.7, linewidths=0, zorder=3)
        ax.scatter(
            values[~is_proven], places[~is_proven], s=14, facecolors="none", edgecolors=POINT, linewidths=0.8, zorder=3
        )
        least = min(least, float(values.min()))
    rows_of_methods(ax, names)
    ax.set_xlim(max(0.0, least - 0.05 * (1.02 - least)), 1.02 if least < 0.9 else 1.0 + 0.2 * (1.001 - least))
    ax.set_xlabel("bound / best proven bound (full points: to the proven optimum)")
    return ax
