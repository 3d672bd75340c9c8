"""The study of the interference predictor for the terminal and for Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.text_table import text_table
from studies.statistics.markdown_table import markdown_table

if TYPE_CHECKING:
    from studies.interference.interference_study import InterferenceStudy

HEADINGS = ("world", "pairs", "model", "error of y", "error of speed ‰", "rank correlation", "beats ridge")
"""Columns."""


def interference_text(study: InterferenceStudy) -> str:
    """Return a table of all worlds and models."""
    summaries = study.summaries()
    caption = [
        f"Mean ± standard error of {summaries[0].seeds} seeds. y = ln(1000 / speed); errors are mean absolute ones.",
        "Unseen: pairs that were not trained on, of classes that were. Beats ridge: seeds with a smaller error of y.",
        "The constant is the median. Seen and unseen rows differ in speed too, see the CSV.",
        *(f"{name}: {origin}." for name, origin in study.origins.items()),
        *study.notes(),
    ]
    return text_table(
        HEADINGS,
        _cells(study),
        title=f"Interference predictors, fitted to {study.count} co-locations where they are generated",
        caption="\n".join(caption),
        numbers=HEADINGS[3:],
    )


def interference_markdown(study: InterferenceStudy) -> str:
    """Return the same table in Markdown."""
    return markdown_table(HEADINGS, _cells(study), HEADINGS[3:])


def _cells(study: InterferenceStudy) -> list[list[str]]:
    """Return the table's texts."""
    return [
        [
            one.world,
            one.part,
            one.model,
            _with_error(one.error_y, one.error_y_se, 4),
            _with_error(one.error_speed, one.error_speed_se, 1),
            _with_error(one.rank_correlation, one.rank_correlation_se, 3),
            "-" if one.better_than_ridge is None else f"{one.better_than_ridge}/{one.seeds}",
        ]
        for one in study.summaries()
    ]


def _with_error(value: float | None, error: float | None, digits: int) -> str:
    """Return a mean and its standard error."""
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if error is None else f"{value:.{digits}f}±{error:.{digits}f}"
