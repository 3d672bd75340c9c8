"""What the Gantt charts of both problems share: the axes, the colours, the names in bars, and the SVG text."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

import numpy as np

from instances.units import duration_text, time_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray


MAX_LABELLED_BARS = 60
"""Above this many tasks or jobs the bars carry no names: they would not be legible."""

MAX_LABELLED_LANES = 40
"""Above this many lanes or servers only some have their name next to them."""

CHARACTERS_ACROSS = 95
"""About so many characters of a name fit across the chart; a name that is wider than its bar is left out."""


def gantt_axes(height: float) -> Axes:
    """Return axes in a new figure of this height in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def bar_colours() -> NDArray[np.float64]:
    """Return colours for bars, shape (20, 3), light enough for names to stay legible."""
    from matplotlib import colormaps

    colours = np.array(colormaps["tab20"].colors)  # type: ignore[attr-defined]  # the stubs know no listed maps
    return 0.5 + 0.5 * np.concatenate([colours[::2], colours[1::2]])


PATTERNS = ("", "////", "....")
"""Drawn in white over the colours of jobs, so that colour is not the only sign; 3 and 20 make 60 different looks."""

MAX_LEGEND = 30
"""Above this many jobs a chart has no legend."""


def draw_patterns(ax: Axes, corners: Sequence[Sequence[tuple[float, float]]], jobs: Sequence[int]) -> None:
    """Draw the patterns of jobs over their bars, which are given by their corners."""
    from matplotlib.collections import PolyCollection

    for number, pattern in enumerate(PATTERNS):
        bars = [corner for corner, job in zip(corners, jobs, strict=True) if job % len(PATTERNS) == number]
        if pattern and bars:
            ax.add_collection(
                PolyCollection(bars, facecolors="none", edgecolors="white", linewidths=0.0, hatch=pattern, zorder=2.2)
            )


def job_legend(ax: Axes, names: Sequence[str]) -> None:
    """Say below a chart which colour and pattern is which job, and make the figure higher by as much."""
    from matplotlib.patches import Patch

    figure = ax.get_figure(root=True)
    if figure is None or not 1 < len(names) <= MAX_LEGEND:
        return
    palette = bar_colours()
    patches = []
    for job, name in enumerate(names):
        look = {"facecolor": palette[job % len(palette)], "hatch": PATTERNS[job % len(PATTERNS)]}
        patches.append(Patch(edgecolor="white", label=drawable(f" {name}"), **look))
    columns = max(1, min(10, CHARACTERS_ACROSS // (6 + max(map(len, names)))))
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 0.2 * -(-len(names) // columns))
    legend = figure.legend(handles=patches, loc="outside lower center", ncols=columns, fontsize=7, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)


def name_bar(ax: Axes, name: str, start: int, ticks: int, middle: float, span: int) -> None:
    """Write a name into its bar, if the bar is wide enough for it on an axis of `span` ticks."""
    if ticks * CHARACTERS_ACROSS >= span * len(name):
        centre = {"ha": "center", "va": "center", "fontsize": 7, "zorder": 3, "parse_math": False}
        ax.text(start + ticks / 2, middle, drawable(name), **centre)  # type: ignore[arg-type]  # keywords of a text


def name_lanes(ax: Axes, middles: Sequence[float], names: Sequence[str]) -> None:
    """Write the names of lanes or servers next to them, only some where there are many."""
    shown = slice(None, None, 1 + len(names) // MAX_LABELLED_LANES)
    ax.set_yticks(middles[shown], list(map(drawable, names[shown])), fontsize=8, parse_math=False)
    ax.tick_params(axis="y", length=0)


def finish_time_axis(ax: Axes, span: int, tick_seconds: float) -> None:
    """Label the axis of time, whose data are ticks, in the unit that suits its length, and remove the frame."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    unit, length = time_unit(span * tick_seconds)
    factor = tick_seconds / length

    class ScaledLocator(MaxNLocator):
        """Places round numbers of the unit, in ticks."""

        def tick_values(self, vmin: float, vmax: float) -> NDArray[np.float64]:  # type: ignore[override]
            """Return the positions in ticks."""
            return np.asarray(super().tick_values(vmin * factor, vmax * factor)) / factor

    ax.set_xlim(0, span * 1.01)
    ax.xaxis.set_major_locator(ScaledLocator(nbins="auto", steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda ticks, _: f"{ticks * factor:.12g}"))
    ax.set_xlabel(f"time in {unit} (one tick is {duration_text(tick_seconds)})", fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6, zorder=1)
    ax.spines[["top", "right", "left"]].set_visible(False)


def drawable(name: str) -> str:
    """Replace characters that cannot be printed: fonts and XML know no control characters and no lone surrogates."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


def figure_svg(ax: Axes) -> str:
    """Return the figure of these axes as one ``<svg>`` element, the same text every time."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "optgap", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # whoever shows the text chooses the font
        figure = ax.get_figure(root=True)
        assert figure is not None  # the axes were made with one
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
