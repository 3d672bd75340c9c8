"""How figures of studies look: size, colours that everybody can tell apart and that print, axes of gaps."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from studies.statistics.study_gaps import StudyGaps

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000", "#56b4e9")
"""Of Okabe and Ito (2008), without the yellow that vanishes on paper; neighbours differ in brightness too."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
"""After all colours, the next kind of line."""

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
    styles = (LineStyle(colour, dashes) for dashes in DASHES for colour in COLOURS)
    return dict(zip(labels, itertools.cycle(styles), strict=False))


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
