"""What is on a page, read with the parser of the standard library."""

from __future__ import annotations

from html.parser import HTMLParser


class PageStructure(HTMLParser):
    """Elements, attributes and texts of a page; every element must be closed.

    Attributes
    ----------
    tags, attributes
        In the order of the page; attributes as pairs.
    rows
        By identifier of a table: the texts of the cells of every row below its head.
    figures, tables
        Identifier to caption.
    figures_with_svg
        Identifiers of figures with a drawing in them.
    """

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.rows: dict[str, list[list[str]]] = {}
        self.figures: dict[str, str] = {}
        self.tables: dict[str, str] = {}
        self.figures_with_svg: set[str] = set()
        self._open: list[str] = []
        self._table = self._figure = ""
        self.feed(html)
        assert self._open == []

    @property
    def ids(self) -> list[str]:
        """All identifiers."""
        return [value for name, value in self.attributes if name == "id"]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember an element."""
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        name = dict(attrs).get("id") or ""
        if tag == "table":
            self._table = name
            self.tables[name], self.rows[name] = "", []
        elif tag == "figure":
            self._figure = name
            self.figures[name] = ""
        elif tag == "svg" and "figure" in self._open:
            self.figures_with_svg.add(self._figure)
        elif tag == "tr" and "tbody" in self._open:
            self.rows[self._table].append([])
        elif tag in ("td", "th") and "tbody" in self._open:
            self.rows[self._table][-1].append("")
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember an element that closes itself, as in drawings."""
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """Check that it closes the last one."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Add a text to what it stands in."""
        if "tbody" in self._open:
            if self._open[-1] in ("td", "th"):
                self.rows[self._table][-1][-1] += data
        elif "caption" in self._open:
            self.tables[self._table] += data
        elif "figcaption" in self._open:
            self.figures[self._figure] += data
