"""Tests that decision latency is measured for all sizes and told in tables, a figure and JSON."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from studies.papers.decision_latency import (
    HEADINGS,
    decision_latency_figure,
    decision_latency_remark,
    decision_latency_study,
    decision_latency_table,
    decision_latency_tables,
)
from studies.papers.study import rows_csv
from tests.studies.papers.invented_latencies import invented_latencies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run


def test_every_pair_is_measured() -> None:
    """Tests rows, progress, and messages and bytes of summaries."""
    told: list[tuple[str, int, int]] = []
    study = decision_latency_study([40, 24], [2, 1], decisions=3, on_size=lambda *what: told.append(what))
    assert [(row.servers, row.gpus, row.agents) for row in study.rows] == [
        (24, 192, 1),
        (24, 192, 2),
        (40, 320, 1),
        (40, 320, 2),
    ]
    assert told[0] == ("24 servers, agents: 1", 0, 4)
    assert [done for _, done, _ in told] == [0, 1, 2, 3]
    assert [(row.messages, row.bytes) for row in study.rows] == [(0, 0), (2, 96), (0, 0), (2, 96)]
    for row in study.rows:
        assert row.decisions >= 3
        assert 0 < row.low_ms <= row.decision_ms <= row.high_ms
        assert 50 < row.busy_percent < 90
    assert study.is_within_limit is None
    assert decision_latency_remark(study) == ""


@pytest.mark.parametrize(
    ("servers", "agents", "message"),
    [
        ([], [1], r"^servers: expected numbers of at least 1, got none\.$"),
        ([4], [0, 1], r"^agents: expected numbers of at least 1, got 0\.$"),
        ([100, 24], [1, 8], r"^agents: expected at most 6, a rack of 4 servers each of the 24, got 8\.$"),
    ],
)
def test_sizes_that_cannot_be(servers: list[int], agents: list[int], message: str) -> None:
    """Tests the messages, before anything is measured."""
    with pytest.raises(ValueError, match=message):
        decision_latency_study(servers, agents)


def test_limit_is_that_of_ten_thousand_gpus() -> None:
    """Tests the verdict on 1,250 servers of eight GPUs, where one agent takes 26 ms in the invented study."""
    assert invented_latencies().is_within_limit
    assert decision_latency_remark(invented_latencies()) == "At 10,000 GPUs the largest median is 26.0 ms, below 50 ms."
    slow = invented_latencies(2.0)
    assert slow.is_within_limit is False
    assert decision_latency_remark(slow) == "At 10,000 GPUs the largest median is 52.0 ms, not below 50 ms."


def test_texts_hold_the_rows() -> None:
    """Tests Markdown, CSV and the tables for the terminal."""
    study = invented_latencies()
    lines = decision_latency_table(study).to_markdown().splitlines()
    assert len(lines) == 2 + 9
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == list(HEADINGS)
    cells = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert cells[:8] == ["100", "800", "4", "1.50", "1.05", "2.40", "1.65", "0.15"]
    assert cells[-4:] == ["12", "576", "12", "70"]
    rows = list(csv.DictReader(io.StringIO(rows_csv(study.rows))))
    assert [float(row["decision_ms"]) for row in rows] == [row.decision_ms for row in study.rows]
    text = "\n".join(map(str, decision_latency_tables(study)))
    assert "below 50 ms" in text
    assert text.count("10000") == 6


def test_figure_holds_the_medians() -> None:
    """Tests lines, the limit, ticks at the measured sizes, and names beside the lines."""
    study = invented_latencies()
    ax = decision_latency_figure(study)
    drawn = [line for line in ax.lines if line.get_marker() == "o"]
    for line, agents in zip(drawn, (1, 4, 16), strict=True):
        assert list(line.get_xdata()) == [800, 10_000, 80_000]
        assert list(line.get_ydata()) == [row.decision_ms for row in study.rows if row.agents == agents]
    assert any(list(line.get_ydata()) == [50, 50] for line in ax.lines)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["800\n(100)", "10,000\n(1,250)", "80,000\n(10,000)"]
    assert {"1 agent", "4 agents", "16 agents", "50 ms"} <= {text.get_text() for text in ax.texts}


def test_command_writes_what_it_prints(run: Run, tmp_path: Path) -> None:
    """Tests JSON, CSV, Markdown and figure, and one line for sizes that cannot be."""
    table, picture, plain = tmp_path / "table.csv", tmp_path / "figure.png", tmp_path / "table.md"
    arguments = ("study", "decision-latency", "--servers", "24", "--agents", "1,2", "--decisions", "3")
    ended = run(*arguments, "--csv", table, "--markdown", plain, "--figure", picture, "--json")
    assert ended.status == 0
    rows = ended.document["rows"]
    assert [(row["servers"], row["agents"]) for row in rows] == [(24, 1), (24, 2)]
    assert ended.document["is_within_limit"] is None
    written = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [float(row["decision_ms"]) for row in written] == [row["decision_ms"] for row in rows]
    assert plain.read_text(encoding="utf-8").count("\n") == 4
    assert picture.read_bytes().startswith(b"\x89PNG")
    for options, message in (
        (
            ("--servers", "24", "--agents", "8"),
            "--agents: expected at most 6, a rack of 4 servers each of the 24, got 8.",
        ),
        (("--servers", "16", "--agents", "4"), "--agents: expected racks of their own"),
        (("--servers", "1,x"), "--servers: expected an integer, got 'x'."),
        (("--decisions", "0"), "--decisions: expected an integer of at least 1, got 0."),
    ):
        failed = run("study", "decision-latency", *options)
        assert failed.status == 2
        assert failed.err.startswith(message)
