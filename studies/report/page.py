"""The frame of a report and its pieces: one page without scripts, fonts or anything else from elsewhere."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from solvers.table import printable
from studies.text import percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_STYLE = """
:root { --ink: #1f2933; --dim: #5f6c7b; --line: #dfe4ea; --soft: #f6f8fa; --accent: #0b5394; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 72rem; color: var(--ink); background: #fff;
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; padding-bottom: .25rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .4rem 0 .8rem; max-width: 50rem; overflow-wrap: anywhere; }
ul { margin: .4rem 0 .8rem; padding-left: 1.2rem; max-width: 50rem; }
a { color: var(--accent); }
nav { background: var(--soft); border: 1px solid var(--line); padding: .6rem .9rem; margin: 1rem 0; }
nav ul { columns: 18rem; margin: .2rem 0; max-width: none; list-style: none; padding-left: 0; }
nav ul ul { columns: auto; padding-left: 1rem; font-size: .9em; }
nav > ul > li { break-inside: avoid; }
.dim, figcaption, caption, li.note { color: var(--dim); font-size: .9em; }
.verdict { border-left: 4px solid var(--accent); background: var(--soft); padding: .6rem .9rem; }
.warning { border-left-color: #b45309; background: #fff7ed; }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .88rem; }
caption { text-align: left; padding-bottom: .3rem; font-size: .88rem; }
caption span { display: inline-block; position: sticky; left: 0; max-width: min(50rem, 100vw - 3.5rem); }
caption b, figcaption b { color: var(--ink); }
th, td { padding: .3rem .4rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td { min-width: 2.5rem; }
td.long { min-width: 12rem; overflow-wrap: anywhere; }
thead th { background: var(--soft); border-bottom: 2px solid var(--line); vertical-align: bottom; }
thead th[colspan] { text-align: center; border-bottom-width: 1px; }
th.first, td.first { border-left: 1px solid var(--line); }
tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 8rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
pre { background: var(--soft); border: 1px solid var(--line); padding: .6rem .9rem; overflow-x: auto;
      font-size: .85rem; }
figure { margin: .5rem 0 1.5rem; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 30rem; max-width: 52rem; height: auto; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { max-width: 50rem; position: sticky; left: 0; }
details summary { cursor: pointer; color: var(--accent); margin: .5rem 0; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  details:not([open]) > *:not(summary) { display: block; }
  details::details-content { content-visibility: visible; }
  .scroll, figure, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
  table { font-size: 7.5pt; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  td, tbody th, td.long { min-width: 0; }
}
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load for the page: nothing."""

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
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def text(raw: str) -> str:
    """Return free text as HTML."""
    return escape(printable(raw))


def paragraph(raw: str, kind: str = "") -> str:
    """Return free text as a paragraph of a class of the style, such as "dim" or "verdict warning"."""
    return f"<p{_attribute('class', kind)}>{text(raw)}</p>"


def notes(lines: Iterable[str]) -> str:
    """Return remarks in free text as a list; nothing where there are none."""
    items = "".join(f'<li class="note">{text(line)}</li>\n' for line in lines)
    return f"<ul>\n{items}</ul>" if items else ""


def details(summary: str, content: str, *, is_open: bool = False) -> str:
    """Return HTML that unfolds below a line of free text."""
    return f"<details{' open' if is_open else ''}><summary>{text(summary)}</summary>\n{content}\n</details>"


def listing(raw: str) -> str:
    """Return lines of free text as they are."""
    return f"<pre>{chr(10).join(text(line) for line in raw.expandtabs(4).splitlines())}</pre>"


def slug(raw: str) -> str:
    """Return free text as a piece of an identifier: small letters, digits, dots and hyphens."""
    return re.sub(r"[^0-9a-z.]+", "-", raw.lower()).strip("-")


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str | tuple[str, str]]],
    *,
    numbers: Sequence[str],
    caption: tuple[str, str] = ("", ""),
    identifier: str = "",
    groups: Sequence[tuple[str, int]] = (),
) -> str:
    """Return a table that scrolls where it is too wide.

    Parameters
    ----------
    headings
        Free text.
    rows
        Cells of free text, or of free text and a colour behind it; the first of a row is its heading.
    numbers
        Headings of the columns that are aligned on the right.
    caption
        Title and explanation, free text.
    identifier
        Of the table in the page, for links to it.
    groups
        Headings above headings: free text, and over how many columns; a line stands before each.
    """
    starts = {sum(span for _, span in groups[:number]) for number in range(1, len(groups))}
    kinds = [
        " ".join(["number"] * (heading in numbers) + ["first"] * (column in starts))
        for column, heading in enumerate(headings)
    ]
    classes = [_attribute("class", kind) for kind in kinds]
    head = "".join(
        f'<th scope="col"{kind}>{text(heading)}</th>' for heading, kind in zip(headings, classes, strict=True)
    )
    if groups:
        above = "".join(f'<th scope="colgroup" colspan="{span}">{text(name)}</th>' for name, span in groups)
        head = f"{above}</tr><tr>{head}"
    body = "".join(f"<tr>{''.join(map(_cell, row, classes, range(len(row))))}</tr>\n" for row in rows)
    title = f"<caption><span>{_title_and_text(caption)}</span></caption>" if any(caption) else ""
    return (
        f'<div class="scroll"><table{_attribute("id", identifier)}>{title}<thead><tr>{head}</tr></thead><tbody>\n'
        f"{body}</tbody></table></div>"
    )


def figure(svg: str, *, caption: tuple[str, str], identifier: str = "") -> str:
    """Return a drawing with its caption below; the arguments are those of `table`."""
    return f"<figure{_attribute('id', identifier)}>{svg}<figcaption>{_title_and_text(caption)}</figcaption></figure>"


def _title_and_text(caption: tuple[str, str]) -> str:
    """Return the title of a caption in bold, and what follows it."""
    title, explanation = caption
    return " ".join([f"<b>{text(title)}.</b>"] * bool(title) + [text(explanation)] * bool(explanation))


def _attribute(name: str, value: str) -> str:
    """Return an attribute with a blank before it, nothing for an empty one."""
    return f' {name}="{text(value)}"' if value else ""


def _cell(cell: str | tuple[str, str], kind: str, column: int) -> str:
    """Return one cell."""
    if column == 0:
        return f'<th scope="row"{kind}>{text(str(cell))}</th>'
    content, colour = cell if isinstance(cell, tuple) else (cell, "")
    kind = ' class="long"' if len(content) > LONG and not kind else kind
    style = f' style="background:{colour}"' if colour else ""
    return f"<td{kind}{style}>{text(content)}</td>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, what stands below it, and smaller sections.

    Parameters
    ----------
    title
        Free text.
    identifier
        Of the heading in the page, for links to it.
    body
        HTML.
    parts
        Sections within this one.
    """

    title: str
    identifier: str
    body: str = ""
    parts: tuple[Section, ...] = ()

    def html(self, level: int = 2) -> str:
        """Return heading, body and parts."""
        heading = f'<h{level} id="{text(self.identifier)}">{text(self.title)}</h{level}>'
        return "\n".join([heading, *([self.body] if self.body else []), *(part.html(level + 1) for part in self.parts)])


def contents(sections: Sequence[Section]) -> str:
    """Return a table of contents."""
    return f'<nav aria-label="Contents"><b>Contents</b>{_links(sections)}</nav>'


def _links(sections: Sequence[Section]) -> str:
    """Return links to sections and their parts."""
    items = (
        f'<li><a href="#{text(section.identifier)}">{text(section.title)}</a>{_links(section.parts)}</li>'
        for section in sections
    )
    return f"<ul>{''.join(items)}</ul>" if sections else ""


NONE = "-"
"""What is not known."""


def known(value: Any) -> Any:
    """Return a value, None for NaN."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def plain(value: Any) -> str:
    """Return a value as it is: whole numbers without decimals, a dash for what is not known."""
    value = known(value)
    if value is None or value == "":
        return NONE
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:g}"
    return str(value)


def seconds_text(value: Any) -> str:
    """Return seconds with milliseconds; only 0 is 0.000."""
    value = known(value)
    if value is None:
        return NONE
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def gap_text(value: Any) -> str:
    """Return a gap in percent."""
    return percent(known(value))


def ratio_text(value: Any) -> str:
    """Return a ratio with four decimals, rounded down, so that only 1 is 1.0000."""
    value = known(value)
    return NONE if value is None else f"{math.floor(10_000 * value + 1e-9) / 10_000:.4f}"


def moment(value: Any) -> str:
    """Return a stored time, which is UTC, without its offset."""
    value = known(value)
    return NONE if value is None else str(value).removesuffix("+00:00").replace("T", " ")


def parameters_text(document: str | Mapping[str, Any]) -> str:
    """Return parameters, given as JSON or as they are, as ``name = value, ...``."""
    given = json.loads(document) if isinstance(document, str) else document
    return ", ".join(f"{name} = {_value(value)}" for name, value in given.items()) or "defaults"


def _value(value: Any) -> str:
    """Return a parameter as in a specification."""
    return json.dumps(value) if isinstance(value, bool | list | dict) or value is None else str(value)


FULL_RED_GAP = 1.0
"""Gap from which on the colour does not become stronger: twice the bound."""


def gap_colour(gap: float | None) -> str:
    """Return a light CSS colour on which dark text is legible; grey where there is no gap."""
    if gap is None:
        return "#e5e7eb"
    if gap == 0:
        return "#d3f0da"
    share = min(gap / FULL_RED_GAP, 1.0) ** 0.5
    red, green, blue = (round(255 + share * (end - 255)) for end in (245, 150, 130))
    return f"#{red:02x}{green:02x}{blue:02x}"
