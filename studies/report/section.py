"""Sections of a long report, and the table of contents that leads to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from studies.report.page import text

if TYPE_CHECKING:
    from collections.abc import Sequence


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
