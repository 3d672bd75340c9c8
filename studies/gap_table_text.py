"""The gap table for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.text_table import text_table
from studies.percent import percent

if TYPE_CHECKING:
    from studies.gap_table import GapTable

HEADINGS = ("method", "runs", "none", "optimal", "mean %", "median %", "worst %", "seconds")
"""Columns; `none` counts runs without a schedule, `seconds` is the mean run time."""


def gap_table_rows(table: GapTable) -> list[list[str]]:
    """Return one row of texts per method, under `HEADINGS`."""
    return [
        [
            row.method,
            str(row.num_runs),
            str(row.num_without_schedule),
            str(row.num_optimal),
            percent(row.mean_gap),
            percent(row.median_gap),
            percent(row.worst_gap),
            f"{row.mean_seconds:.4f}",
        ]
        for row in table.methods
    ]


def gap_table_text(table: GapTable) -> str:
    """Return the table with what the gaps are measured against; fits 80 columns."""
    return text_table(
        HEADINGS,
        gap_table_rows(table),
        title=f"Gaps of the {table.objective_name.replace('_', ' ')} over {len(table.instances)} instances",
        caption=f"{table.denominators()} none: runs without a schedule, which have no gap; seconds: mean run time.",
        numbers=HEADINGS[1:],
    )
