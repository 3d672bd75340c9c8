"""Figures with one line per method: gaps over time, and shares of runs within a gap or target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from studies.analysis.anytime import anytime_curves
from studies.analysis.profiles import PROFILE_TARGETS, gap_ecdf, performance_profile, target_ecdf
from studies.report.figure_style import (
    LINEAR_UP_TO,
    OPTIMUM,
    QUIET,
    WIDE,
    gap_name,
    label_lines,
    line_styles,
    lines_only,
    logarithmic_axis,
    method_styles,
    new_axes,
    percent_axis,
    share_lines,
)
from studies.report.study_tables import target_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from studies.analysis.anytime import Axis
    from studies.analysis.gaps import StudyGaps


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
    bands
        Labels whose interquartile ranges are drawn; by default all, and none where more than `MANY_BANDS` would hide
        each other.
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
        ax.step(at, middle, where="post", color=style.colour, linestyle=style.dashes, linewidth=1.8, label=label)
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


def exact_convergence(curves: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw median objective and bound of every exact method over seconds, both against the best proven bound.

    Bands reach from the lower to the upper quartile over instances. Incumbents come from above, bounds from below;
    where both have met the optimum is proven.

    Parameters
    ----------
    curves
        As `bound_curves` returns them.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ax = ax or new_axes(8.0, 4.5)
    ax.axhline(0.0, color=OPTIMUM, linewidth=1.5, zorder=1)
    names = [f"{label}, {budget}" for label, budget in zip(curves["label"], curves["budget"], strict=True)]
    styles = line_styles(dict.fromkeys(names))
    named, highest, lowest = curves.assign(name=names), 1.0, -1.0
    for name, group in named.groupby("name", sort=False):
        at = group["at"].to_numpy(np.float64)
        for side, dashes in (("incumbent", "-"), ("bound", (0, (4, 1.5)))):
            middle, low, high = (
                100 * group[f"{side}_{part}"].to_numpy(np.float64) for part in ("median", "lower", "upper")
            )
            known = np.isfinite(middle)
            colour = styles[name].colour
            label = f"{name}: {side}"
            ax.step(at[known], middle[known], where="post", color=colour, linestyle=dashes, linewidth=1.8, label=label)
            banded = np.isfinite(high)
            ax.fill_between(at, low, high, where=banded, step="post", color=colour, alpha=0.12, linewidth=0)
            highest = max(highest, float(high[banded].max(initial=0.0)), float(middle[known].max(initial=0.0)))
            lowest = min(lowest, float(low[np.isfinite(low)].min(initial=0.0)))
    lines_only(ax)
    shown = len(curves) > 0
    logarithmic_axis(ax, curves["at"].min() if shown else 1.0, curves["at"].max() if shown else 10.0, "seconds")
    is_wide = max(highest, -lowest) >= WIDE
    if is_wide:
        ax.set_yscale("symlog", linthresh=LINEAR_UP_TO, linscale=1.0)
        ticks = [2, 5, *(factor * 10**power for power in range(1, 8) for factor in (1, 3))]
        ax.yaxis.set_major_locator(FixedLocator([*(-tick for tick in ticks if tick <= WIDE), 0, *ticks]))
        ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(1.08 * lowest, 1.08 * highest)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    scale = f"\n(logarithmic beyond {LINEAR_UP_TO})" if is_wide else ""
    ax.set_ylabel(f"difference to the best proven bound in %{scale}")
    if shown:
        ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)
    return ax


def gap_ecdf_figure(gaps: StudyGaps, ax: Axes | None = None) -> Axes:
    """Draw the empirical distribution of the gaps over all runs, one line per method.

    Beside the performance profile, which has one value per instance, this one shows every run: how often a single run
    is good enough.

    Parameters
    ----------
    gaps
        Runs at one budget; runs without a schedule count as never within any gap.
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


SPREAD_OUT = 30
"""In percent: profiles that go further have a logarithmic axis, for what tells methods apart lies near 0."""


def performance_profiles(
    gaps: StudyGaps, *, against: Literal["bound", "best"] = "bound", ax: Axes | None = None
) -> Axes:
    """Draw for every method the share of instances on which its mean objective is within a percentage of the reference.

    Parameters
    ----------
    gaps
        Runs at one budget; an instance without a bound above 0 is left out, one without a schedule of a method counts
        against it.
    against
        The best proven bound (a profile that does not change with the other methods), or the best of the methods, as
        published.

    References
    ----------
    Dolan and More (2002).
    """
    ax = ax or new_axes(8.0, max(4.5, 1.0 + 0.2 * len(gaps.labels)))
    means = gaps.mean_gaps()[(gaps.references["reference"] > 0).to_numpy()]
    styles = method_styles(gaps)
    largest = 0.0
    if len(means):
        values = 1.0 + means.to_numpy(np.float64)
        profile = performance_profile(values, np.ones(len(values)) if against == "bound" else None)
        at = 100 * (profile.factors - 1)
        largest = float(at[-1])
        edge = 1.2 * max(largest, 1.0)
        lines = {label: (at, profile.shares[:, column]) for column, label in enumerate(gaps.labels)}
        share_lines(ax, lines, edge, styles)
    lines_only(ax)
    name = gap_name(gaps.is_proven) if against == "bound" else "excess over the best method"
    percent_axis(ax, "x", largest, name, wide=SPREAD_OUT)
    ax.set_ylim(0.0, 1.02)
    ax.set_ylabel("share of instances")
    return ax


def target_ecdf_figure(
    gaps: StudyGaps,
    traces: pd.DataFrame,
    axis: Axis = "evaluations",
    *,
    targets: Sequence[float] = PROFILE_TARGETS,
    ax: Axes | None = None,
) -> Axes:
    """Draw for every search the share of pairs of run and target that are reached by a time.

    Parameters
    ----------
    gaps, traces, axis, targets
        As `target_ecdf` takes them; the targets stand in the figure.
    """
    ax = ax or new_axes(8.0, max(4.5, 1.0 + 0.2 * len(gaps.labels)))
    table = target_ecdf(gaps, traces, axis, targets)
    known = table[np.isfinite(table["at"].astype(float))]
    nothing = np.zeros(0)
    lines = dict.fromkeys(table["label"], (nothing, nothing))
    for label, group in known.groupby("label", sort=False):
        lines[label] = (group["at"].to_numpy(np.float64), group["share"].to_numpy(np.float64))
    first, last = (float(known["at"].min()), float(known["at"].max())) if len(known) else (1.0, 10.0)
    first = first if first > 0 else min(last, 1e-3)
    last = max(last, 1.0001 * first)
    share_lines(ax, lines, last, method_styles(gaps), is_logarithmic=True)
    lines_only(ax)
    logarithmic_axis(ax, first, last, axis)
    ax.set_ylabel("share of pairs of run and target")
    ax.text(
        0.0,
        1.01,
        f"targets: gaps of {', '.join(target_name(target) for target in targets)}",
        transform=ax.transAxes,
        fontsize=8,
        color=QUIET,
        verticalalignment="bottom",
    )
    return ax
