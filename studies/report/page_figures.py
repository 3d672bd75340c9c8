"""Figures of a study as blocks of an HTML page, with captions in words."""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.table import printable
from studies.report.figure_style import NAMES_OF_POINTS
from studies.report.page import Figure, slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


def figure_blocks(drawn: Iterable[tuple[str, Axes]], anchor: str, at: str = "") -> list[Figure]:
    """Return figures with their captions.

    Parameters
    ----------
    drawn
        Names and axes, as `studies.report.study_figures` yields them.
    anchor
        The beginning of all identifiers.
    at
        Words that end the titles, such as " at 1 s".
    """
    blocks = []
    for name, ax in drawn:
        title, explanation = figure_caption(name)
        identifier = f"{anchor}-{slug(name)}"
        svg = svg_of(ax, identifier=identifier, alternative=f"{title}{at}. {explanation}".strip())
        blocks.append(Figure(svg, identifier, f"{title}{at}", explanation))
    return blocks


MANY_POINTS = 5_000
"""With more points than this a figure's clouds of points become pictures, or they would fill megabytes."""

RESOLUTION = 160
"""Of these pictures, in dots per inch."""

DECIMALS = 2
"""Of coordinates, in points (1/72 inch)."""

_TAG = re.compile(r"<[^>]+>")
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(xlink:href="#|url\(#)([^")]*)')
_PATH = re.compile(r' d="([^"]*)"')
_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")


def svg_of(ax: Axes, *, identifier: str, alternative: str) -> str:
    """Return the figure of some axes as one ``<svg>`` element; the same bytes for the same figure.

    Parameters
    ----------
    identifier
        Differs from that of any other figure of the page: everything in a page shares one set of identifiers, and a
        clip path of the same name in another figure would cut this one.
    alternative
        What the figure shows, for those who do not see it.
    """
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": identifier, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the browser chooses the font
        figure = ax.get_figure(root=True)
        assert figure is not None  # these axes are drawn
        _flatten_clouds(figure)
        tips = _texts_of_parts(figure)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", dpi=RESOLUTION, metadata=nothing)
    drawn = buffer.getvalue()
    drawn = re.sub(r"<!--.*?-->|<style.*?</style>|<metadata.*?</metadata>", "", drawn, flags=re.DOTALL)
    for number, texts in enumerate(tips):
        drawn = _with_tips(drawn, f"{TIP}{number}", texts)
    drawn = _with_own_ids(drawn[drawn.index("<svg") :], identifier)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(printable(alternative))}" ', 1)


def _flatten_clouds(figure: Drawing) -> None:
    """Turn points into pictures where there are many."""
    sizes = {cloud: np.asarray(cloud.get_offsets()).shape[0] for ax in figure.axes for cloud in ax.collections}
    clouds = [cloud for cloud, size in sizes.items() if size > 1]  # areas and bands have one offset
    if sum(sizes[cloud] for cloud in clouds) > MANY_POINTS:
        for cloud in clouds:
            cloud.set_rasterized(True)


TIP = "tip-"
"""Beginning of identifiers of groups whose parts have texts for the pointer."""

_GROUP = re.compile(r"<g\b[^>]*?(/?)>|</g>")


def _texts_of_parts(figure: Drawing) -> list[Sequence[str]]:
    """Give an identifier to all lines with a label and all points with names, and return their texts in this order."""
    texts: list[Sequence[str]] = []
    for ax in figure.axes:
        for artist in (*ax.lines, *ax.collections):
            label = str(artist.get_label())
            found = getattr(
                artist, NAMES_OF_POINTS, () if label.startswith("_") or artist in ax.collections else (label,)
            )
            if found:
                artist.set_gid(f"{TIP}{len(texts)}")
                texts.append(found)
    return texts


def _with_tips(drawn: str, identifier: str, texts: Sequence[str]) -> str:
    """Write a text for the pointer into each part of a group; a cloud that has become a picture stays as it is."""
    before, start, rest = drawn.partition(f'<g id="{identifier}">')
    depth, end = 1, 0
    for tag in _GROUP.finditer(rest):
        depth += (tag[0] != "</g>") - (tag[0] == "</g>") - bool(tag[1])
        if depth == 0:
            end = tag.start()
            break
    group = rest[:end]
    kind = "<use " if "<use " in group else "<path "
    first, *parts = group.split(kind)
    if len(parts) != len(texts):
        return drawn
    named = (f'{kind}data-tip="{escape(printable(text))}" {part}' for text, part in zip(texts, parts, strict=True))
    return f"{before}{start}{first}{''.join(named)}{rest[end:]}"


def _with_own_ids(drawn: str, identifier: str) -> str:
    """Keep the identifiers that the figure refers to, made its own, and shorten paths; texts stay what they are."""
    used = {name for tag in _TAG.findall(drawn) for _, name in _REFERENCE.findall(tag)}

    def mend(tag: re.Match[str]) -> str:
        kept = _ID.sub(lambda found: f' id="{identifier}-{found[1]}"' if found[1] in used else "", tag[0])
        kept = _REFERENCE.sub(lambda found: f"{found[1]}{identifier}-{found[2]}", kept)
        return _PATH.sub(_shortened, kept)

    return _TAG.sub(mend, drawn)


def _shortened(path: re.Match[str]) -> str:
    """Return the data of a path without decimals that nobody sees, and with short forms for level and upright lines."""
    pieces, last = [], ["", ""]
    for command, numbers in _COMMAND.findall(path[1]):
        values = [_rounded(number) for number in numbers.split()]
        if command == "L" and values[1] == last[1]:
            pieces.append(f"H{values[0]}")
        elif command == "L" and values[0] == last[0]:
            pieces.append(f"V{values[1]}")
        else:
            pieces.append(f"{command}{' '.join(values)}")
        last = values[-2:] or ["", ""]
    return f' d="{"".join(pieces)}"'


def _rounded(number: str) -> str:
    """Return a coordinate with few decimals."""
    decimals = number.partition(".")[2]
    if len(decimals) <= DECIMALS:
        return number
    return f"{float(number):.{DECIMALS}f}".rstrip("0").rstrip(".")


class FigureCaption(NamedTuple):
    """Title and explanation of a figure."""

    title: str
    explanation: str


CAPTIONS = {
    "box-plots": FigureCaption(
        "Gaps of all runs",
        "Every point is a run; boxes reach from the lower to the upper quartile, with the median (line) and the mean "
        "(diamond); whiskers end at the last run within 1.5 interquartile ranges. The green line is where a schedule "
        "meets the bound.",
    ),
    "performance-profiles": FigureCaption(
        "Performance profiles",
        "Share of the instances on which the mean objective of a method is within a percentage of the best proven "
        "bound; an instance without a schedule counts against the method.",
    ),
    "gap-ecdf": FigureCaption(
        "Distribution of gaps",
        "Share of all runs whose gap is at most a percentage; runs without a schedule count as never within any.",
    ),
    "critical-difference": FigureCaption(
        "Average ranks",
        "Ranks of the mean gap over seeds, averaged over instances; bars join methods whose ranks do not differ "
        "significantly (Nemenyi).",
    ),
    "stability": FigureCaption(
        "Spread over seeds",
        "Interquartile range, and worst less best, over the seeds of each instance, as shares of the best proven "
        "bound.",
    ),
    "convergence-evaluations": FigureCaption(
        "Convergence over evaluations",
        "Median over instances of the gap of the best schedule so far (mean over seeds); the dashed line is the "
        "construction with the best median.",
    ),
    "convergence-seconds": FigureCaption(
        "Convergence over seconds",
        "Median over instances of the gap of the best schedule so far (mean over seeds); the dashed line is the "
        "construction with the best median.",
    ),
    "targets-evaluations": FigureCaption(
        "Targets reached over evaluations",
        "Share of the pairs of a run and a target (a gap that it should come down to) that are reached by then.",
    ),
    "targets-seconds": FigureCaption(
        "Targets reached over seconds",
        "Share of the pairs of a run and a target (a gap that it should come down to) that are reached by then.",
    ),
    "bound-ratios": FigureCaption(
        "Bounds",
        "Every point is the bound of a run over the best proven bound of its instance; it is full where that is the "
        "proven optimum.",
    ),
    "incumbent-and-bound": FigureCaption(
        "Schedules and bounds of exact methods",
        "Median over instances of the best schedule (from above) and of the bound (from below) so far, as differences "
        "to the best proven bound; bands reach from the lower to the upper quartile.",
    ),
}
"""By name in `write_figures.study_figures`."""


def figure_caption(name: str) -> FigureCaption:
    """Return the caption of a figure; of one that has none here, its name in words."""
    words = name.replace("-", " ")
    return CAPTIONS.get(name, FigureCaption(f"{words[:1].upper()}{words[1:]}", ""))
