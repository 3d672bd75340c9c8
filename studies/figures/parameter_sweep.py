"""How gaps move with one parameter: error of the predictions, length of holds, load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import gap_name, line_styles, lines_only, new_axes, percent_axis

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes


def parameter_sweep(
    summary: pd.DataFrame,
    points: Mapping[str, tuple[str, float]],
    name: str,
    ax: Axes | None = None,
    *,
    is_logarithmic: bool = False,
) -> Axes:
    """Draw the mean gap of every line over a parameter, with its confidence interval as a band.

    Parameters
    ----------
    summary
        As `online_summary` returns it, of one scenario and load.
    points
        For a label its line and where it stands on it.
    name
        Of the parameter, for the axis.
    ax
        Where to draw; by default a figure of its own.
    is_logarithmic
        Whether the axis of the parameter is.
    """
    ax = ax or new_axes(7.0, 4.0)
    rows = summary.set_index("label")
    lines = list(dict.fromkeys(line for line, _ in points.values()))
    styles = line_styles(lines)
    largest = 0.0
    for line in lines:
        mine = sorted((place, label) for label, (of, place) in points.items() if of == line and label in rows.index)
        places = [place for place, _ in mine]
        gap, low, high = (
            100 * rows.loc[[label for _, label in mine], column].to_numpy(dtype=np.float64)
            for column in ("gap", "gap_low", "gap_high")
        )
        style = styles[line]
        ax.fill_between(places, low, high, color=style.colour, alpha=0.15, linewidth=0)
        ax.plot(places, gap, color=style.colour, linestyle=style.dashes, marker="o", markersize=4, label=line)
        largest = max(largest, float(np.nanmax(np.concatenate([gap, high]), initial=0.0)))
    if is_logarithmic:
        ax.set_xscale("log")
        places = sorted({place for _, place in points.values()})
        ax.set_xticks(places, [f"{place:g}" for place in places])
        ax.minorticks_off()
    ax.set_xlabel(name)
    lines_only(ax)
    percent_axis(ax, "y", largest, f"mean {gap_name(bool(summary['all_optima'].all()))}\n")
    ax.legend(frameon=False, fontsize=9)
    return ax
