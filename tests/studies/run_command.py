"""How a command ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solvers.table import Table

if TYPE_CHECKING:
    import pytest


@dataclass(frozen=True)
class Ended:
    """Exit status and what was printed."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What was printed with ``--json``."""
        return json.loads(self.out)


Run = Callable[..., Ended]


def run_with_tables(
    run: Run, monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[Ended, list[tuple[Table, str]]]:
    """Run a command and return how it ended, and the tables that it printed with their texts."""
    tables: list[tuple[Table, str]] = []
    to_text = Table.to_text

    def recording(table: Table) -> str:
        tables.append((table, to_text(table)))
        return tables[-1][1]

    with monkeypatch.context() as patch:
        patch.setattr(Table, "to_text", recording)
        return run(*arguments), tables


def check_fits(table: Table, text: str) -> None:
    """Check that a table breaks no word and takes at most three lines per row."""
    lines = text.splitlines()
    rules = [index for index, line in enumerate(lines) if set(line.strip()) == {"\N{BOX DRAWINGS LIGHT HORIZONTAL}"}]
    left_out = next((line for line in lines if line.startswith("Not shown: ")), "")
    shown = [index for index, heading in enumerate(table.headings) if heading not in left_out]
    words = set(" ".join(lines).split())
    assert {word for row in table.rows for index in shown for word in row[index].split()} <= words
    assert rules[2] - rules[1] - 1 <= 3 * len(table.rows)
