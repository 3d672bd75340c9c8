"""The gap of the best schedule so far, over evaluations or seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from studies.figures.direct_labels import label_lines
from studies.figures.house_style import (
    QUIET,
    gap_name,
    lines_only,
    logarithmic_axis,
    method_styles,
    new_axes,
    percent_axis,
)
from studies.statistics.anytime import anytime_curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from studies.statistics.run_steps import Axis
    from studies.statistics.study_gaps import StudyGaps


MANY_BANDS = 4
"""More interquartile ranges than these cannot be told apart."""


def convergence(
    gaps: StudyGaps,
    traces: pd.DataFrame,
    axis: Axis = "evaluations",
    *,
    statistic: Literal["median", "mean"] = "median",
    bands: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the median or mean gap of every search over instances, with the interquartile range behind it.

    On every instance the mean over repetitions is taken first. The dashed line is the construction with the best median
    gap, which needs no budget.

    Parameters
    ----------
    gaps
        Runs at one budget.
    traces
        As `anytime_curves` takes them.
    axis
        Over what; the axis is logarithmic.
    statistic
        Which one.
    bands
        Labels whose interquartile ranges are drawn; by default all, and none where more than `MANY_BANDS` would hide
        each other.
    ax
        Where to draw; by default a figure of its own.
    """
    ax = ax or new_axes(8.0, max(4.5, 1.0 + 0.2 * len(gaps.labels)))
    curves = anytime_curves(gaps, traces, axis)
    styles = method_styles(gaps)
    ends: dict[str, float] = {}
    largest = 0.0
    searches = list(dict.fromkeys(curves["label"]))
    for label, curve in curves.groupby("label", sort=False):
        middle = 100 * curve[statistic].to_numpy(np.float64)
        shown = np.isfinite(middle)
        if not shown.any():
            continue
        at, middle = curve["at"].to_numpy(np.float64)[shown], middle[shown]
        low, high = (100 * curve[name].to_numpy(np.float64)[shown] for name in ("lower", "upper"))
        with_band = len(searches) <= MANY_BANDS if bands is None else label in bands
        known = with_band & np.isfinite(high)  # above it is open where more than a quarter have no schedule yet
        style = styles[label]
        if known.any():
            ax.fill_between(at, low, high, where=known, step="post", color=style.colour, alpha=0.12, linewidth=0)
        ax.step(at, middle, where="post", color=style.colour, linestyle=style.dashes, linewidth=1.8)
        ends[label] = float(middle[-1])
        largest = max(largest, float(middle.max()), float(high[known].max(initial=0.0)))
    best = _best_construction(gaps)
    if best is not None:
        label, level = best
        ax.axhline(100 * level, color=QUIET, linestyle=(0, (4, 2)), linewidth=1.2, zorder=1)
        ends[label] = 100 * level
        largest = max(largest, 100 * level)
    lines_only(ax)
    shown = len(curves) > 0
    logarithmic_axis(ax, curves["at"].min() if shown else 1.0, curves["at"].max() if shown else 10.0, axis)
    percent_axis(ax, "y", 1.05 * largest, f"{statistic} {gap_name(gaps.is_proven)}")
    label_lines(ax, ends, {label: styles[label].colour if label in searches else QUIET for label in ends})
    return ax


def _best_construction(gaps: StudyGaps) -> tuple[str, float] | None:
    """Return the construction with the best median over instances, and that median."""
    kinds = gaps.runs.groupby("label", sort=False)["kind"].first()
    medians = gaps.mean_gaps()[[label for label in gaps.labels if kinds[label] == "construction"]].median()
    medians = medians.dropna()
    return None if medians.empty else (str(medians.idxmin()), float(medians.min()))
