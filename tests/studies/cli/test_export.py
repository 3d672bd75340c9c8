"""Tests of the command that writes schedules for other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from studies.export.exports import EXPORTS
from tests.studies.export.trace_rules import checked_trace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run


def test_export_writes_the_formats(run: Run, example_file: str, tmp_path: Path) -> None:
    """Tests that a trace, a table and a model are written, and what the answers say."""
    run("solve", example_file, "--method", "heft", "--schedule-out", "s.json")
    ended = run("export", example_file, "s.json", "--to", "chrome-trace", "-o", "trace.json", "--json")
    checked_trace((tmp_path / "trace.json").read_text())
    assert (ended.status, ended.document["format"], ended.document["instance"]) == (0, "chrome-trace", "E")
    assert ended.document["bytes"] == (tmp_path / "trace.json").stat().st_size
    assert "file: table.csv.gz" in run("export", example_file, "s.json", "--to", "csv", "-o", "table.csv.gz").out
    ended = run("export", example_file, "--to", "lp", "-o", "m.lp", "--objective", "weighted-completion")
    assert (ended.status, ended.err) == (0, "")
    assert (tmp_path / "m.lp").stat().st_size > 1000


def test_list_names_every_format(run: Run) -> None:
    """Tests that all formats are listed in 80 columns, and as JSON."""
    assert [item["name"] for item in run("export", "--list", "--json").document["formats"]] == list(EXPORTS)
    lines = run("export", "--list").out
    assert all(f" {name} " in lines for name in EXPORTS)
    assert max(map(len, lines.splitlines())) <= 80


def test_a_schedule_that_does_not_verify_is_status_1(run: Run, example_file: str, tmp_path: Path) -> None:
    """Tests that nothing is written of it, and that the first violation is shown."""
    run("solve", example_file, "--method", "heft", "--schedule-out", "s.json")
    document = json.loads((tmp_path / "s.json").read_text())
    document["start"] = [0] * 5
    (tmp_path / "bad.json").write_text(json.dumps(document))
    ended = run("export", example_file, "bad.json", "--to", "svg", "-o", "a.svg")
    assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 2)
    assert ended.err.startswith("bad.json: tasks ")
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "INSTANCE: expected an instance to read, got nothing."),
        (("e.json",), "--to: expected the name of a format (see --list), got nothing."),
        (("e.json", "--to", "svg"), "--output: expected a file to write, got nothing."),
        (("e.json", "--to", "excel", "-o", "a.xls"), "--to: expected one of chrome-trace, csv, "),
        (("e.json", "--to", "svg", "-o", "a.svg"), "SCHEDULE: expected one for the format svg, got none."),
        (("e.json", "--to", "lp", "-o", "a.txt"), "a.txt: expected a name that ends in .lp, got 'a.txt'."),
        (("e.json", "e.json", "--to", "csv", "-o", "a.csv"), 'e.json: format: expected "optgap/dag-schedule"'),
        (
            ("e.json", "--to", "lp", "-o", "a.lp", "--contention", "nic"),
            "--contention: expected none for the format lp",
        ),
        (("no.json", "--to", "lp", "-o", "a.lp"), "no.json: expected a file that can be read, got: no such file"),
        (("e.json", "--to", "lp", "-o", "no/a.lp"), "no/a.lp: expected a file that can be written, got: no such file"),
    ],
)
def test_misuse(run: Run, example_file: str, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Tests that misuse is one line that names the option or the file, and that nothing is written."""
    ended = run("export", *arguments)
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == [example_file]


def test_view_writes_a_page(run: Run, example_file: str, tmp_path: Path) -> None:
    """Tests that schedules are shown under their files' names, and without one a quick heuristic is."""
    for method in ("heft", "cp-sat"):
        run("solve", example_file, "--method", method, "--schedule-out", f"{method}.json")
    ended = run("view", example_file, "heft.json", "cp-sat.json", "-o", "page.html", "--json")
    page = (tmp_path / "page.html").read_text()
    assert (ended.status, ended.document["schedules"]) == (0, ["heft.json", "cp-sat.json"])
    assert ended.document["bytes"] == len(page.encode())
    assert "18 ticks (18 s)" in page
    assert "15 ticks (15 s)" in page
    ended = run("view", example_file, "-o", "alone.html")
    assert "schedules: heft" in ended.out
    assert "18 ticks (18 s)" in (tmp_path / "alone.html").read_text()


def test_view_of_what_cannot_be_shown(run: Run, example_file: str, tmp_path: Path) -> None:
    """Tests that a schedule that does not verify is status 1, and misuse status 2, each without a page."""
    (tmp_path / "bad.json").write_text((tmp_path / example_file).read_text())
    run("solve", example_file, "--method", "heft", "--schedule-out", "s.json")
    document = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "bad.json").write_text(json.dumps({**document, "start": [0] * 5}))
    ended = run("view", example_file, "s.json", "bad.json", "-o", "page.html")
    assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 2)
    ended = run("view", example_file, "s.json")
    assert (ended.status, ended.err) == (2, "--output: expected a file to write, got nothing.\n")
    ended = run("view", example_file, "none.json", "-o", "page.html")
    assert (ended.status, ended.err.split(":")[0]) == (2, "none.json")
    assert not (tmp_path / "page.html").exists()
