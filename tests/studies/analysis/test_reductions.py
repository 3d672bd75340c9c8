"""Tests of reductions against a baseline."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from studies.analysis.reductions import Reduction, reductions


def _frame() -> pd.DataFrame:
    """Two instances with bounds 100 and 50; `ours` has two repetitions, `late` no schedule on the second instance."""
    rows = [
        ("a", "ours", "9 evaluations", 0, 110, 100),
        ("a", "ours", "9 evaluations", 1, 130, 100),
        ("b", "ours", "9 evaluations", 0, 60, 50),
        ("b", "ours", "9 evaluations", 1, 60, 50),
        ("a", "heft", "-", 0, 160, 100),
        ("b", "heft", "-", 0, 50, 50),
        ("a", "late", "9 evaluations", 0, 240, 100),
        ("b", "late", "9 evaluations", 0, None, 50),
    ]
    frame = pd.DataFrame(rows, columns=["instance", "label", "budget", "repetition", "objective", "bound"])
    return frame.assign(kind="search", is_optimum=False, error=None)


def test_reductions_are_those_of_the_paper() -> None:
    """Tests (baseline - method) / baseline on means over repetitions: 1 - 120/160, 1 - 60/50, 1 - 120/240."""
    table = reductions(_frame(), "ours")
    assert (table.method, table.budget) == ("ours", "9 evaluations")
    heft, late = table.rows
    assert heft == Reduction(
        baseline="heft",
        num_instances=2,
        mean=pytest.approx(0.025),
        largest=pytest.approx(0.25),
        smallest=pytest.approx(-0.2),
        num_worse=1,
        mean_gap=pytest.approx(0.2),
        baseline_gap=pytest.approx(0.3),
    )
    assert (late.num_instances, late.num_worse) == (1, 0)
    assert (late.mean, late.baseline_gap) == (pytest.approx(0.5), pytest.approx(1.4))
    assert late.mean_gap == pytest.approx(0.2)


def test_views_agree() -> None:
    """Tests that text, Markdown, LaTeX, CSV and JSON values say the same."""
    table = reductions(_frame(), "ours")
    assert table.table().rows[0] == ("heft", "2", "2.50", "25.00", "-20.00", "1", "20.00", "30.00")
    assert "25.00" in table.to_text()
    assert "| heft | 2 | 2.50 | 25.00 | -20.00 | 1 | 20.00 | 30.00 |" in table.to_markdown()
    assert r"heft & 2 & 2.50 & 25.00 & $-20.00$ & 1 & 20.00 & 30.00 \\" in table.to_latex()
    lines = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [line["baseline"] for line in lines] == ["heft", "late"]
    assert float(lines[0]["largest"]) == pytest.approx(0.25)
    assert table.to_dict()["rows"][1]["num_instances"] == 1


def test_a_method_without_schedules() -> None:
    """Tests that what is not known is None, and that an unknown label is refused."""
    frame = _frame()
    frame.loc[frame["label"] == "late", "objective"] = None
    late = reductions(frame, "ours").rows[1]
    assert (late.num_instances, late.mean, late.largest, late.mean_gap) == (0, None, None, None)
    frame.loc[frame["label"] != "ours", "objective"] = None
    assert [row.num_instances for row in reductions(frame, "ours").rows] == [0, 0]
    with pytest.raises(ValueError, match=r"method: expected one of ours, heft, late, got 'theirs'\."):
        reductions(frame, "theirs")
