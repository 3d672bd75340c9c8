"""A page of HTML from blocks and sections: one file with style and script inside, and nothing from elsewhere."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from studies.html_page import content_policy, page_template, with_shared
from studies.text import NONE, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solvers.table import Table

    Block: TypeAlias = "Paragraph | Notes | Listing | Figure | PageTable | Details"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Free text, with a class of the style such as "dim" or "verdict warning"."""

    text: str
    style: str = ""
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True, slots=True)
class Notes:
    """Remarks in free text, shown as a list."""

    lines: Sequence[str]
    kind: ClassVar[str] = "notes"


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of free text, shown unchanged."""

    text: str
    kind: ClassVar[str] = "listing"


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its caption below; the identifier is for links to it."""

    svg: str
    identifier: str
    title: str = ""
    explanation: str = ""
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table with an identifier for links to it, and with headings above its headings (see `Table.to_html`)."""

    table: Table
    identifier: str
    groups: Sequence[tuple[str, int]] = ()
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that unfold below a line of free text."""

    summary: str
    blocks: Sequence[Block]
    kind: ClassVar[str] = "details"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, the blocks below it, and smaller sections; the identifier is for links to the heading."""

    title: str
    identifier: str
    blocks: Sequence[Block] = ()
    parts: Sequence[Section] = ()


def page(title: str, head: Sequence[Block], sections: Sequence[Section]) -> str:
    """Return a page with a title, blocks, a table of contents and sections; all texts are free.

    Its script sorts tables, filters their rows, and shows what a point or a line of a figure stands for.
    """
    style, script = (with_shared("studies.report", name) for name in ("page.css", "page.js"))
    policy = content_policy(script, style=None)
    return page_template("studies.report").render(
        title=title, head=head, sections=sections, policy=policy, style=style, script=script
    )


def slug(raw: str) -> str:
    """Return free text as a piece of an identifier: small letters, digits, dots and hyphens."""
    return re.sub(r"[^0-9a-z.]+", "-", raw.lower()).strip("-")


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
