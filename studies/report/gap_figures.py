"""Figures with one row per method: gaps, their spread over seeds, ranks, and how near bounds come."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np

from studies.analysis.ranks import LEVEL, average_ranks, critical_difference, indistinct_groups
from studies.analysis.stability import spreads, stability
from studies.report.figure_style import (
    BOX,
    EDGE,
    MEDIAN,
    OPTIMUM,
    POINT,
    QUIET,
    draw_boxes,
    gap_name,
    name_points,
    new_axes,
    percent_axis,
    rows_of_methods,
)
from studies.text import percent

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from studies.analysis.bound_comparison import BoundComparison
    from studies.analysis.gap_table import GapTable
    from studies.analysis.gaps import StudyGaps


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
    names: dict[str, list[str]] = {label: [] for label in gaps.labels}
    for label, instance, repetition, gap in known[["label", "instance", "repetition", "gap"]].itertuples(index=False):
        names[label].append(f"{label} on {instance}, repetition {repetition}: {percent(gap)} %")
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
            points = ax.scatter(
                np.concatenate([values for _, values in mine]),
                np.concatenate(places),
                s=size,
                color=POINT,
                alpha=alpha,
                linewidths=0,
                zorder=3,
            )
            name_points(points, [text for row, _ in mine for text in names[labels[row - 1]]])
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


POINT_SPREAD = 0.3
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
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    methods = [row.method for row in table.methods if row.median_gap is not None]
    ax = ax or new_axes(8.0, 1.2 + 0.42 * max(len(methods), 1))
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
        offsets = np.linspace(-POINT_SPREAD, POINT_SPREAD, len(values)) / 2 if len(values) > 1 else np.zeros(1)
        ax.scatter(values, row + offsets, s=14, color="#c8553d", alpha=0.8, linewidths=0, zorder=3)
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
    rows_of_methods(ax, methods)
    return ax


MEASURES = (("range", "worst less best", BOX, -0.18), ("iqr", "interquartile range", "#f2c9a0", 0.18))
"""Column, what it is, colour, and how far its box stands from the middle of the row."""


def stability_figure(gaps: StudyGaps, ax: Axes | None = None) -> Axes:
    """Draw per method the spread over seeds on each instance: interquartile range, and worst less best.

    Parameters
    ----------
    gaps
        Runs at one budget. The steadiest method by mean range is on top; methods that draw nothing at random, and those
        with a single run per instance, keep a row that says so.
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


ROW, FIRST_BAR, BETWEEN_BARS = 1.0, 0.45, 0.35
"""Heights: of a name, of the first bar below the axis, from one bar to the next."""

MOST_NUMBERS = 14
"""Of methods; with more, only some of the ticks are numbered."""

MARGIN = 0.01
"""Between a line and its method's name, as a share of the axis."""


def critical_difference_diagram(gaps: StudyGaps, ax: Axes | None = None) -> Axes:
    """Draw the average ranks of the methods, and a bar over every group whose ranks lie within the critical difference.

    Parameters
    ----------
    gaps
        Runs at one budget. Ranked are mean gaps over repetitions, on the instances where all methods with any gap have
        one; how many those are stands in the figure.

    References
    ----------
    Demsar (2006), figure 1.
    """
    means = gaps.mean_gaps()
    labels = [label for label in gaps.labels if means[label].notna().any()]
    block = means[labels].dropna().to_numpy()
    if len(labels) < 2 or not len(block):
        ax = ax or new_axes(8.0, 1.0)
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no instance on which two methods can be ranked", color=QUIET, ha="center", va="center")
        return ax
    ranks = dict(zip(labels, average_ranks(block).tolist(), strict=True))
    labels.sort(key=lambda label: (ranks[label], label))
    distance = critical_difference(len(labels), len(block))
    groups = indistinct_groups([ranks[label] for label in labels], distance)
    first_name = FIRST_BAR + BETWEEN_BARS * len(groups) + 0.5
    half = (len(labels) + 1) // 2
    depth = first_name + ROW * half + 0.9
    ax = ax or new_axes(8.0, 0.7 + 0.24 * depth)
    _axis(ax, len(labels), distance)
    for position, label in enumerate(labels):
        is_left = position < half
        row = position if is_left else len(labels) - 1 - position
        _name(ax, label, ranks[label], first_name + ROW * row, len(labels), is_left)
    for bar, group in enumerate(groups):
        low, high = ranks[labels[group[0]]], ranks[labels[group[-1]]]
        height = FIRST_BAR + BETWEEN_BARS * bar
        ax.plot([low - 0.04, high + 0.04], [height, height], color=MEDIAN, linewidth=4.5, solid_capstyle="butt")
    ax.set_ylim(depth, -2.6)
    ax.set_xlim(0.6, len(labels) + 0.4)
    ax.text(
        (len(labels) + 1) / 2,
        depth - 0.5,
        f"average rank over {len(block)} of {len(gaps.instances)} instances, 1 is best; "
        f"bars: no significant difference (Nemenyi, {LEVEL})",
        fontsize=8,
        color=QUIET,
        horizontalalignment="center",
        verticalalignment="center",
    )
    return ax


def _axis(ax: Axes, num_methods: int, distance: float) -> None:
    """Draw the scale from 1 to the number of methods, and the critical difference above it."""
    ax.set_axis_off()
    ax.plot([1, num_methods], [0, 0], color="black", linewidth=1.2)
    for rank in range(1, num_methods + 1):
        ax.plot([rank, rank], [0, -0.25], color="black", linewidth=1.2)
        if (rank - 1) % (1 + num_methods // MOST_NUMBERS) == 0:
            ax.text(rank, -0.35, str(rank), fontsize=9, horizontalalignment="center", verticalalignment="bottom")
    end = min(1 + distance, num_methods)
    ax.plot([1, end], [-1.75, -1.75], color="black", linewidth=1.2)
    for edge in (1, end):
        ax.plot([edge, edge], [-1.9, -1.6], color="black", linewidth=1.2)
    more = "" if end == 1 + distance else " (longer than the axis)"
    ax.text(1, -2.0, f"CD {distance:.2f}{more}", fontsize=9, verticalalignment="bottom")


def _name(ax: Axes, label: str, rank: float, height: float, num_methods: int, is_left: bool) -> None:
    """Draw the line from a rank to its method's name at the left or right edge."""
    edge, margin = (1.0 if is_left else float(num_methods)), MARGIN * num_methods
    ax.plot([rank, rank, edge], [0, height, height], color=QUIET, linewidth=0.9)
    ax.text(
        edge + (-margin if is_left else margin),
        height,
        f"{label}  {rank:.2f}" if is_left else f"{rank:.2f}  {label}",
        fontsize=9,
        horizontalalignment="right" if is_left else "left",
        verticalalignment="center",
        parse_math=False,
    )


RATIO_SPREAD = 0.2
"""Height to either side over which the instances of a row are spread."""


def bound_ratio_figure(ratios: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw bound / best proven bound: a box per source, a point per instance; full points where the optimum is proven.

    Parameters
    ----------
    ratios
        As `bound_ratios` returns them.
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
        places = row + (np.linspace(-RATIO_SPREAD, RATIO_SPREAD, len(values)) if len(values) > 1 else np.zeros(1))
        texts = np.array(
            [f"{names[row - 1]} on {each}: {value:.4f}" for each, value in zip(group["instance"], values, strict=True)]
        )
        full = ax.scatter(values[is_proven], places[is_proven], s=14, color=POINT, alpha=0.7, linewidths=0, zorder=3)
        rings = ax.scatter(
            values[~is_proven], places[~is_proven], s=14, facecolors="none", edgecolors=POINT, linewidths=0.8, zorder=3
        )
        name_points(full, texts[is_proven])
        name_points(rings, texts[~is_proven])
        least = min(least, float(values.min()))
    rows_of_methods(ax, names)
    ax.set_xlim(max(0.0, least - 0.05 * (1.02 - least)), 1.02 if least < 0.9 else 1.0 + 0.2 * (1.001 - least))
    ax.set_xlabel("bound / best proven bound (full points: to the proven optimum)")
    return ax


BOUND_SPREAD = 0.15
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
    methods = [method for method in comparison.methods if comparison.ratios(method)]
    ax = ax or new_axes(8.0, 1.2 + 0.42 * max(len(methods), 1))
    ax.axvline(1.0, color="#1a7f37", linewidth=1.5, zorder=1)
    rows = range(1, len(methods) + 1)
    for row, method in zip(rows, methods, strict=True):
        ratios = comparison.ratios(method)
        ax.barh(row, statistics.fmean(ratios), height=0.6, color="#dbe9f6", edgecolor="#5b7c99", zorder=2)
        offsets = np.linspace(-BOUND_SPREAD, BOUND_SPREAD, len(ratios)) if len(ratios) > 1 else np.zeros(1)
        ax.scatter(ratios, row + offsets, s=14, color="#c8553d", alpha=0.8, linewidths=0, zorder=3)
    rows_of_methods(ax, methods)
    ax.set_xlim(0.0, 1.02)
    ax.set_xlabel("bound / optimum (bar: mean; green line: the optimum)")
    return ax
