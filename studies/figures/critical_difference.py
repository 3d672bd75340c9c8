"""The diagram of average ranks with bars over methods that do not differ significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.figures.house_style import MEDIAN, QUIET, new_axes
from studies.statistics.ranks import LEVEL, average_ranks, critical_difference, indistinct_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.statistics.study_gaps import StudyGaps

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
    ax
        Where to draw; by default a figure of its own.

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
