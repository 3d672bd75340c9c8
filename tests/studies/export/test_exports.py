"""Tests of the registry of formats to write, of tables and of figures."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

import optgap
from studies.export.exports import COLUMNS, EXPORTS, schedule_csv

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance

MAGIC = {"svg": b"<svg ", "png": b"\x89PNG", "pdf": b"%PDF-"}
"""How the files of figures begin."""


@pytest.mark.parametrize("to", EXPORTS)
@pytest.mark.parametrize("problem", ["dag", "jobs"])
def test_every_format_is_written_or_refused(tmp_path: Path, example_e: DagInstance, to: str, problem: str) -> None:
    """Tests that every row of the registry writes a file of every problem that it names, and refuses the others."""
    instance, method = (
        (example_e, "heft") if problem == "dag" else (optgap.generate("jobs-small", jobs=3, seed=1), "fifo")
    )
    schedule, path = optgap.solve(instance, method).schedule, tmp_path / f"out{EXPORTS[to].suffixes[0]}"
    if to == "torch-csv":
        with pytest.raises(ValueError, match=r"expected a micro-batch of a pipeline|format: expected one for jobs"):
            optgap.export(instance, schedule, to, path)
        return
    if problem not in EXPORTS[to].problems:
        with pytest.raises(ValueError, match=f"format: expected one for jobs, got {to}"):
            optgap.export(instance, schedule, to, path)
        return
    optgap.export(instance, schedule, to, path)
    assert path.read_bytes().startswith(MAGIC.get(to, b""))
    assert path.stat().st_size > 100
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_table_has_a_row_per_task_and_transfer(example_e: DagInstance) -> None:
    """Tests columns, order, names, ticks and seconds."""
    rows = list(csv.reader(io.StringIO(schedule_csv(example_e, optgap.solve(example_e, "heft").schedule))))
    assert tuple(rows[0]) == COLUMNS
    assert rows[1] == ["task", "t0", "j0", "s0", "g0", "GPU", "", "0", "4", "0", "4"]
    assert [int(row[7]) for row in rows[1:]] == sorted(int(row[7]) for row in rows[1:])
    assert sorted(row[1] for row in rows[1:] if row[0] == "task") == list(example_e.task_names)
    transfers = [row for row in rows[1:] if row[0] == "transfer"]
    assert all(int(row[8]) - int(row[7]) == 1 + -(-int(row[6]) // 2) for row in transfers)
    jobs = optgap.generate("jobs-small", jobs=3, seed=1)
    assert {
        line.split(",")[0] for line in schedule_csv(jobs, optgap.solve(jobs, "fifo").schedule).splitlines()[1:]
    } == {"job"}


def test_misuse(tmp_path: Path, example_e: DagInstance) -> None:
    """Tests that a wrong format, a wrong ending and a missing schedule are refused, and nothing is written."""
    schedule = optgap.solve(example_e, "heft").schedule
    with pytest.raises(ValueError, match=r"format: expected one of chrome-trace, csv, .*, got 'xls'"):
        optgap.export(example_e, schedule, "xls", tmp_path / "a.xls")
    with pytest.raises(ValueError, match=r"path: expected a name that ends in .csv or .csv.gz, got 'a.txt'"):
        optgap.export(example_e, schedule, "csv", tmp_path / "a.txt")
    with pytest.raises(ValueError, match="schedule: expected one for the format svg, got none"):
        optgap.export(example_e, None, "svg", tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []
