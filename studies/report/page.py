"""The frame of a report: one page without scripts, fonts or anything else from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from studies.command_line.output import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STYLE = """
:root { --ink: #1f2933; --dim: #5f6c7b; --line: #dfe4ea; --soft: #f6f8fa; --accent: #0b5394; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 72rem; color: var(--ink); background: #fff;
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; padding-bottom: .25rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .4rem 0 .8rem; max-width: 50rem; }
.dim, figcaption { color: var(--dim); font-size: .9em; }
.verdict { border-left: 4px solid var(--accent); background: var(--soft); padding: .6rem .9rem; }
.warning { border-left-color: #b45309; background: #fff7ed; }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .88rem; }
th, td { padding: .3rem .4rem; text-align: left; border-bottom: 1px solid var(--line); }
td { min-width: 2.5rem; }
td.long { min-width: 8rem; }
thead th { background: var(--soft); border-bottom: 2px solid var(--line); vertical-align: bottom; }
tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 8rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
figure { margin: .5rem 0 1rem; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 30rem; max-width: 52rem; height: auto; }
details summary { cursor: pointer; color: var(--accent); margin: .5rem 0; }
@media print { details:not([open]) > *:not(summary) { display: block; } }
"""


LONG = 24
"""Cells with more characters get a column of readable width."""


def page(title: str, sections: Iterable[str]) -> str:
    """Return a page.

    Parameters
    ----------
    title
        Free text.
    sections
        Pieces of HTML.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def text(raw: str) -> str:
    """Return free text as HTML."""
    return escape(printable(raw))


def table(headings: Sequence[str], rows: Iterable[Sequence[str | tuple[str, str]]], *, numbers: Sequence[str]) -> str:
    """Return a table that scrolls where it is too wide.

    Parameters
    ----------
    headings
        Free text.
    rows
        Cells of free text, or of free text and a colour behind it; the first of a row is its heading.
    numbers
        Headings of the columns that are aligned on the right.
    """
    classes = [' class="number"' if heading in numbers else "" for heading in headings]
    head = "".join(
        f'<th scope="col"{kind}>{text(heading)}</th>' for heading, kind in zip(headings, classes, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, classes, range(len(row))))}</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _cell(cell: str | tuple[str, str], kind: str, column: int) -> str:
    """Return one cell."""
    if column == 0:
        return f'<th scope="row"{kind}>{text(str(cell))}</th>'
    content, colour = cell if isinstance(cell, tuple) else (cell, "")
    kind = ' class="long"' if len(content) > LONG and not kind else kind
    style = f' style="background:{colour}"' if colour else ""
    return f"<td{kind}{style}>{text(content)}</td>"
