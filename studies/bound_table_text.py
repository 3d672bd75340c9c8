"""Bounds of one instance for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.text_table import text_table

if TYPE_CHECKING:
    from solvers.bound_table import BoundTable


def bound_table_text(table: BoundTable) -> str:
    """Return the table with what proves and confirms each bound; fits 80 columns."""
    best = table.best
    return text_table(
        table.headings(),
        table.rows(),
        title=table.title,
        caption=table.caption(),
        numbers=["bound", "seconds"],
        bold=None if best is None else list(table).index(best),
    )
