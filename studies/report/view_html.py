"""Tables of statistics and figures of studies as pieces of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.figures.figure_captions import figure_caption
from studies.report.page import figure, notes, slug, table
from studies.report.svg import svg_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from studies.statistics.table_view import TableView


def view_html(view: TableView, identifier: str) -> str:
    """Return a table with its notes below."""
    numbers = view.headings[view.num_names :]
    shown = table(view.headings, view.rows, numbers=numbers, caption=(view.title, ""), identifier=identifier)
    return f"{shown}\n{notes(view.notes)}"


def figures_html(drawn: Iterable[tuple[str, Axes]], anchor: str, at: str = "") -> str:
    """Return figures with their captions.

    Parameters
    ----------
    drawn
        Names and axes, as `studies.figures.write_figures` yields them.
    anchor
        What the identifiers begin with.
    at
        Words that titles end with, such as " at 1 s".
    """
    pieces = []
    for name, ax in drawn:
        title, explanation = figure_caption(name)
        identifier = f"{anchor}-{slug(name)}"
        svg = svg_of(ax, identifier=identifier, alternative=f"{title}{at}. {explanation}".strip())
        pieces.append(figure(svg, caption=(f"{title}{at}", explanation), identifier=identifier))
    return "\n".join(pieces)
