"""The study of decision latency for the terminal, for Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from studies.command_line.text_table import text_table
from studies.decision_latency.busy_cluster import GPUS_PER_SERVER
from studies.decision_latency.decision_latency_study import HIGH, LIMIT_GPUS, LIMIT_MS, LOW, DecisionLatency
from studies.statistics.markdown_table import markdown_table

if TYPE_CHECKING:
    from studies.decision_latency.decision_latency_study import DecisionLatencyStudy

HEADINGS = (
    "servers", "GPUs", "agents", "median", f"{LOW} %", f"{HIGH} %", "wall", "groups", "observe", "network",
    "round", "summaries", "decisions", "messages", "bytes", "waiting", "busy %",
)  # fmt: skip
"""Columns of Markdown."""

DECISIONS = ("servers", "agents", "median", f"{LOW} %", f"{HIGH} %", "wall", "groups", "observe", "network")
ROUNDS = ("servers", "agents", "round", "summaries", "decisions", "messages", "bytes", "waiting", "busy %")
"""Columns of the two tables for the terminal."""


def decision_latency_text(study: DecisionLatencyStudy) -> str:
    """Return a table of decisions and one of rounds."""
    of_decisions = [
        f"ms of a core, one thread; servers of {GPUS_PER_SERVER} GPUs. wall: median on the wall.",
        "groups, observe, network: means of the parts. Weights are random: their",
        "values change no time.",
        decision_latency_remark(study),
    ]
    of_rounds = "round, summaries: median ms, agents one after the other; the rest are means."
    return "\n\n".join(
        text_table(
            headings,
            [[row[HEADINGS.index(heading)] for heading in headings] for row in _cells(study)],
            title=title,
            caption=caption,
            numbers=headings,
        )
        for headings, title, caption in (
            (DECISIONS, "Decisions", "\n".join(filter(None, of_decisions))),
            (ROUNDS, "Rounds in which somebody decides", of_rounds),
        )
    )


def decision_latency_markdown(study: DecisionLatencyStudy) -> str:
    """Return all columns in Markdown."""
    return markdown_table(HEADINGS, _cells(study), HEADINGS)


def decision_latency_csv(study: DecisionLatencyStudy) -> str:
    """Return a row per size with all that was measured."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(DecisionLatency)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, study.rows))
    return text.getvalue()


def decision_latency_remark(study: DecisionLatencyStudy) -> str:
    """Return a sentence on the limit, nothing where no cluster of that size was measured."""
    within = study.is_within_limit
    if within is None:
        return ""
    largest = max(row.decision_ms for row in study.rows if row.gpus == LIMIT_GPUS)
    verdict = "below" if within else "not below"
    return f"At {LIMIT_GPUS:,} GPUs the largest median is {largest:.1f} ms, {verdict} {LIMIT_MS:g} ms."


def _cells(study: DecisionLatencyStudy) -> list[list[str]]:
    """Return the texts of all columns."""
    return [
        [
            str(row.servers),
            str(row.gpus),
            str(row.agents),
            f"{row.decision_ms:.2f}",
            f"{row.low_ms:.2f}",
            f"{row.high_ms:.2f}",
            f"{row.wall_ms:.2f}",
            f"{row.groups_ms:.2f}",
            f"{row.observation_ms:.2f}",
            f"{row.network_ms:.2f}",
            f"{row.round_ms:.1f}",
            f"{row.summaries_ms:.1f}",
            f"{row.decisions_per_round:.1f}",
            str(row.messages),
            str(row.bytes),
            f"{row.waiting:.0f}",
            f"{row.busy_percent:.0f}",
        ]
        for row in study.rows
    ]
