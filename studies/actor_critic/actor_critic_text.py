"""The study of the actor-critic for the terminal and for Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.text_table import text_table
from studies.statistics.markdown_table import markdown_table

if TYPE_CHECKING:
    from studies.actor_critic.actor_critic_study import ActorCriticStudy

HEADINGS = ("variant", "first", "last", "rise", "gap", "stated")
"""Columns; `stated` is what others report: first -> last, or the level at the end."""


def actor_critic_text(study: ActorCriticStudy) -> str:
    """Return a table of all variants."""
    summaries = study.summaries()
    caption = [
        f"Team reward per step of {study.steps} steps; mean ± standard error of {summaries[0].runs} seeds.",
        "first: first 2.5 % of steps, last: last 10 %. gap: largest max ||W_i - mean W|| after gossip.",
        "stated: derived before this software, or published (plots, ±0.1).",
        "Published levels are of unknown landmarks: only directions compare.",
    ]
    return text_table(
        HEADINGS,
        _cells(study),
        title="Decentralised actor-critic, printed and repaired",
        caption="\n".join(caption),
        numbers=HEADINGS[1:],
    )


def actor_critic_markdown(study: ActorCriticStudy) -> str:
    """Return the same table in Markdown."""
    return markdown_table(HEADINGS, _cells(study), HEADINGS[1:])


def _cells(study: ActorCriticStudy) -> list[list[str]]:
    """Return the table's texts."""
    return [
        [
            row.variant,
            _with_error(row.first, row.first_error),
            _with_error(row.last, row.last_error),
            _with_error(row.rise, row.rise_error),
            f"{row.weight_gap:.1e}",
            _stated(row.stated_first, row.stated_last),
        ]
        for row in study.summaries()
    ]


def _with_error(value: float, error: float | None) -> str:
    """Return a mean and its standard error."""
    return f"{value:.2f}" if error is None else f"{value:.2f}±{error:.2f}"


def _stated(first: float | None, last: float | None) -> str:
    """Return what others report."""
    if last is None:
        return "-"
    return f"{last:.2f}" if first is None else f"{first:.2f} -> {last:.2f}"
