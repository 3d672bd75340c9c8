"""How figures of studies look: size, colours, axes, boxes, lines and labels."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from numpy.typing import NDArray

    from studies.analysis.gaps import StudyGaps


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000", "#56b4e9")
"""Of Okabe and Ito (2008), without the yellow that vanishes on paper; neighbours differ in brightness too."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
"""Kinds of lines: neighbours differ in them too, so that colour is never the only sign."""

BOX, EDGE, MEDIAN, POINT, OPTIMUM, GRID, QUIET = (
    "#dbe9f6",
    "#5b7c99",
    "#0b3d66",
    "#c8553d",
    "#1a7f37",
    "#e5e5e5",
    "#666666",
)
"""Fill, edge and median of boxes; points; the line at the optimum; grid; remarks."""

WIDE, LINEAR_UP_TO = 100, 10
"""In percent: where the largest gap is beyond the first, axes are logarithmic from the second on, and so keep a 0."""


LONG_NAME = 28
"""Letters of the name of an axis beyond which the remark on its scale has a line of its own."""


class LineStyle(NamedTuple):
    """Colour and dashes of a method."""

    colour: str
    dashes: object


def method_styles(gaps: StudyGaps) -> dict[str, LineStyle]:
    """Return a style of its own for every method of a study, searches first: their lines are most often drawn."""
    kinds = gaps.runs.groupby("label", sort=False)["kind"].first()
    return line_styles(sorted(gaps.labels, key=lambda label: kinds[label] == "construction"))


def line_styles(labels: Iterable[str]) -> dict[str, LineStyle]:
    """Return a style of its own for every label, the same in every figure with the same labels in this order."""
    styles = map(LineStyle, itertools.cycle(COLOURS), itertools.cycle(DASHES))  # 28 different pairs
    return dict(zip(labels, styles, strict=False))


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a figure of its own, in inches, that no window shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def rows_of_methods(ax: Axes, labels: Iterable[str]) -> None:
    """Give every method a row, the first on top, with a grid for the numbers only."""
    names = list(labels)
    ax.set_yticks(range(1, len(names) + 1), names, parse_math=False)
    ax.set_ylim(len(names) + 0.6, 0.4)
    ax.grid(axis="x", color=GRID)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def name_points(points: PathCollection, names: Iterable[str]) -> None:
    """Keep what each point stands for, in the order of the points; pages show it where the pointer is."""
    setattr(points, NAMES_OF_POINTS, tuple(names))


NAMES_OF_POINTS = "names_of_points"
"""Attribute of points that have names."""


def lines_only(ax: Axes) -> None:
    """Grid in both directions, no frame on top and on the right."""
    ax.grid(color=GRID)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def logarithmic_axis(ax: Axes, first: float, last: float, name: str) -> None:
    """Make the axis of times logarithmic, from the first to the last, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(first, 1.0001 * last)
    ax.set_xlabel(f"{name} (logarithmic)")


def percent_axis(ax: Axes, which: Literal["x", "y"], largest: float, name: str, *, wide: float = WIDE) -> None:
    """Scale an axis of percentages and say on it what they are.

    Parameters
    ----------
    ax, which
        Where, and which of its two axes.
    largest
        That is drawn, in percent.
    name
        Of the quantity, without its unit.
    wide
        Percentage beyond which the axis is logarithmic from `LINEAR_UP_TO` on.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis = ax.xaxis if which == "x" else ax.yaxis
    is_wide = largest > wide
    if is_wide:
        scale = ax.set_xscale if which == "x" else ax.set_yscale
        scale("symlog", linthresh=LINEAR_UP_TO, linscale=1.0)
        ticks = [0, 2, 5, *(factor * 10**power for power in range(1, 8) for factor in (1, 3))]
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    top = max(largest, 1e-3)
    limits = (-0.02 * min(top, LINEAR_UP_TO), (1.1 if is_wide else 1.04) * top)
    (ax.set_xlim if which == "x" else ax.set_ylim)(*limits)
    between = "\n" if len(name) > LONG_NAME else " "
    axis.set_label_text(f"{name} in %{f'{between}(logarithmic from {LINEAR_UP_TO} on)' if is_wide else ''}")


def gap_name(is_proven: bool) -> str:
    """Return what gaps are called: only against proven optima they are optimality gaps."""
    return "optimality gap" if is_proven else "gap to the best proven bound"


REACH = 1.5
"""Interquartile ranges within which the last value ends a whisker."""


class BoxStatistics(NamedTuple):
    """Quartiles (interpolated linearly), ends of the whiskers, mean, and the values beyond the whiskers."""

    low: float
    lower: float
    median: float
    upper: float
    high: float
    mean: float
    outliers: NDArray[np.float64]


def box_statistics(values: NDArray[np.float64]) -> BoxStatistics:
    """Return what a box shows of some values, at least one."""
    lower, median, upper = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = REACH * (upper - lower)
    inside = values[(values >= lower - reach) & (values <= upper + reach)]
    low, high = min(float(inside.min()), lower), max(float(inside.max()), upper)
    outliers = values[(values < low) | (values > high)]
    return BoxStatistics(low, lower, median, upper, high, float(values.mean()), outliers)


def draw_boxes(
    ax: Axes,
    rows: Sequence[float],
    values: Sequence[NDArray[np.float64]],
    *,
    height: float,
    colour: str = BOX,
    means: bool = False,
    outliers: bool = False,
) -> None:
    """Draw a box per row, as `matplotlib.axes.Axes.boxplot` does, with a few artists in all instead of seven per row.

    Parameters
    ----------
    rows, values
        Height of every box, and what it is about; rows without values stay empty.
    height
        Of a box, in rows.
    colour
        Of its inside.
    means, outliers
        Whether means are drawn as diamonds, and values beyond the whiskers as points.
    """
    drawn = [(row, box_statistics(found)) for row, found in zip(rows, values, strict=True) if len(found)]
    if not drawn:
        return
    at = np.array([row for row, _ in drawn])
    boxes = [box for _, box in drawn]
    low, lower, median, upper, high, mean = (np.array([box[field] for box in boxes]) for field in range(6))
    ax.hlines(np.concatenate([at, at]), np.concatenate([low, upper]), np.concatenate([lower, high]), color=EDGE, lw=1.0)
    ends, both = np.concatenate([low, high]), np.concatenate([at, at])
    ax.vlines(ends, both - height / 4, both + height / 4, color=EDGE, lw=1.0)
    ax.barh(at, upper - lower, left=lower, height=height, facecolor=colour, edgecolor=EDGE, linewidth=1.0, zorder=2.1)
    ax.vlines(median, at - height / 2, at + height / 2, color=MEDIAN, linewidth=2.0, zorder=4)
    if means:
        ax.plot(
            mean, at, linestyle="", marker="D", markersize=5, markerfacecolor="white", markeredgecolor=MEDIAN, zorder=4
        )
    if outliers:
        beyond = np.concatenate([box.outliers for box in boxes])
        heights = np.repeat(at, [len(box.outliers) for box in boxes])
        ax.scatter(beyond, heights, s=9, color=EDGE, alpha=0.6, linewidths=0)


def share_lines(
    ax: Axes,
    lines: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    edge: float,
    styles: Mapping[str, LineStyle],
    *,
    is_logarithmic: bool = False,
) -> None:
    """Draw shares over an axis, with a legend next to it, sorted by the area below the lines.

    Parameters
    ----------
    lines
        By label: where the share rises, ascending, and to what; 0 before. Empty ones are drawn at 0.
    edge
        Where the lines end.
    styles
        By label.
    is_logarithmic
        Whether areas are those over a logarithmic axis.
    """
    drawn = {}
    for label, (at, shares) in lines.items():
        inside = at <= edge
        x, y = np.append(at[inside], edge), np.append(shares[inside], shares[inside][-1:] if inside.any() else 0.0)
        places = np.log(np.maximum(x, 1e-12)) if is_logarithmic else x
        drawn[label] = (x, y, float((np.diff(places) * y[:-1]).sum()) if len(x) > 1 else 0.0)
    for label in sorted(drawn, key=lambda label: -drawn[label][2]):
        x, y, _ = drawn[label]
        style = styles[label]
        x, y = np.insert(x, 0, x[0]), np.insert(y, 0, 0.0)  # the first rise is drawn too
        ax.step(x, y, where="post", color=style.colour, linestyle=style.dashes, linewidth=1.8, label=label)
    if drawn:
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)
    ax.set_ylim(0.0, 1.02)


FONT_SIZE = 9
"""In points."""

SPACE, LEFT, RIGHT = 1.35, 1.005, 1.04
"""Lines of text from one name to the next; where leaders begin and end, as shares of the width of the axes."""


def label_lines(ax: Axes, ends: Mapping[str, float], colours: Mapping[str, str]) -> None:
    """Write the name of every line to the right of the axes, at the height of its end, without overlaps.

    Call it last: the limits and scales of the axes must be final.

    Parameters
    ----------
    ax
        Where the lines are.
    ends
        Height of every line at the right edge, as data; those outside the axes are put at the edge.
    """
    if not ends:
        return
    to_share = ax.transScale + ax.transLimits
    left = ax.get_xlim()[1]
    heights = [float(np.clip(to_share.transform((left, end))[1], 0.0, 1.0)) for end in ends.values()]
    inches = ax.get_window_extent().height / ax.figure.dpi
    spread = spread_out(heights, SPACE * FONT_SIZE / (72 * inches))
    for label, height, place in zip(ends, heights, spread, strict=True):
        ax.plot(
            [LEFT, RIGHT - 0.005],
            [height, place],
            transform=ax.transAxes,
            clip_on=False,
            color=colours[label],
            linewidth=0.8,
        )
        ax.text(
            RIGHT,
            place,
            label,
            transform=ax.transAxes,
            color=colours[label],
            fontsize=FONT_SIZE,
            verticalalignment="center",
            parse_math=False,
        )


def spread_out(heights: Sequence[float], space: float) -> list[float]:
    """Return heights that keep their order and lie at least `space` apart, close to where they were, from 0 to 1.

    Neighbours that are too close form a block about the mean of where they want to be; blocks that touch become one.
    Where there is no room for all, the lowest ones go below 0.
    """
    order = np.argsort(np.asarray(heights), kind="stable")
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([int(index)])
        while len(blocks) > 1 and _top(blocks[-2], heights, space) + space > _bottom(blocks[-1], heights, space):
            last = blocks.pop()
            blocks[-1] += last
    placed = [0.0] * len(heights)
    for block in blocks:
        bottom = _bottom(block, heights, space)
        for position, index in enumerate(block):
            placed[index] = bottom + position * space
    floor, ceiling = 0.0, 1.0
    for index in order:
        placed[index] = max(placed[index], floor)
        floor = placed[index] + space
    for index in order[::-1]:
        placed[index] = min(placed[index], ceiling)
        ceiling = placed[index] - space
    return placed


def _bottom(block: Sequence[int], heights: Sequence[float], space: float) -> float:
    """Return the lowest place of a block."""
    return float(np.mean([heights[index] for index in block])) - (len(block) - 1) * space / 2


def _top(block: Sequence[int], heights: Sequence[float], space: float) -> float:
    """Return the highest place of a block."""
    return _bottom(block, heights, space) + (len(block) - 1) * space
