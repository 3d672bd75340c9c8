"""Tests of the summary of runs by instance, method and budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from studies.analysis.comparison import compare_methods
from studies.analysis.gap_statistics import STATISTICS, cell_summary, gap_statistics, grouping_column
from studies.analysis.gaps import study_gaps
from tests.studies.analysis.synthetic_study import synthetic_study
from tests.studies.analysis.test_gaps import runs


def test_runs_of_a_cell_are_counted_and_averaged() -> None:
    """Tests counts and numbers of a cell with good, failed and empty runs, and that cells keep their order."""
    frame = pd.DataFrame(
        {
            "instance": ["b", "b", "b", "b", "a"],
            "label": "woa",
            "budget": "1 s",
            "status": ["optimal", "feasible", "failed", "unknown", "failed"],
            "objective": [100.0, 110.0, np.nan, np.nan, np.nan],
            "gap": [0.0, 0.1, np.nan, np.nan, np.nan],
            "seconds": [1.0, 2.0, np.nan, 3.0, np.nan],
        }
    )
    first, second = cell_summary(frame).to_dict("records")
    assert (first["instance"], second["instance"]) == ("b", "a")
    counts = ("num_runs", "num_failed", "num_without_schedule", "num_optimal")
    assert [first[name] for name in counts] == [4, 1, 1, 1]
    assert (first["best"], first["median"], first["worst"]) == (100, 105, 110)
    assert (first["mean_gap"], first["mean_seconds"]) == (0.05, 2.0)
    assert [second[name] for name in counts] == [1, 1, 0, 0]
    assert np.isnan(second["mean_gap"])


BUDGET = "2000 evaluations"


def test_numbers_by_hand() -> None:
    """Tests gaps 0, 10, 20 and 50 % of one method: mean, quantiles, worst, shares, runs that are lost."""
    frame = runs(
        ("a", "woa", 0, 100, 100, False),
        ("a", "woa", 1, 110, 100, False),
        ("b", "woa", 0, 60, 50, False),
        ("b", "woa", 1, 75, 50, False),
        ("b", "woa", 2, None, 50, False),
        ("b", "woa", 3, 55, 50, False),
    )
    frame.loc[5, "error"] = "killed"
    (row,) = gap_statistics(study_gaps(frame)).to_dict("records")
    assert (row["label"], row["kind"], row["num_instances"], row["num_proven"]) == ("woa", "search", 2, 1)
    assert (row["num_runs"], row["num_failed"], row["num_without_schedule"]) == (6, 1, 1)
    assert (row["num_optimal"], row["share_optimal"]) == (1, 0.5)
    assert (row["mean_gap"], row["worst_gap"]) == pytest.approx((0.2, 0.5))
    quartiles = [row[name] for name in ("lower_quartile", "median_gap", "upper_quartile", "high_gap")]
    assert quartiles == pytest.approx([0.075, 0.15, 0.275, 0.41])


def test_agrees_with_the_comparison() -> None:
    """Tests every number of every method, overall and within each family, against `compare_methods`."""
    frame = synthetic_study()
    frame.loc[(frame["label"] == "ga") & (frame["instance"] == "instance-3"), ["objective", "gap"]] = np.nan
    frame.loc[(frame["label"] == "woa") & (frame["repetition"] == 1), "error"] = "killed"
    gaps = study_gaps(frame, BUDGET)
    overall = gap_statistics(gaps).set_index("label")
    families = gap_statistics(gaps, ["family"]).set_index(["family", "label"])
    assert len(families) == 3 * len(gaps.labels)
    names = [name for name in STATISTICS if name not in ("num_proven", "num_instances")]
    for row in compare_methods(frame, budget=BUDGET).methods:
        expected = [row.record()[name] for name in names]
        assert overall.loc[row.label, names].tolist() == pytest.approx(expected)
    for family in ("pipeline", "stencil", "transformer"):
        comparison = compare_methods(frame[frame["family"] == family], budget=BUDGET)
        for row in comparison.methods:
            found = families.loc[(family, row.label)]
            assert found[names].tolist() == pytest.approx([row.record()[name] for name in names])
            assert (found["num_instances"], found["num_proven"]) == (comparison.num_instances, comparison.num_proven)


def test_groups_of_two_columns_ascend() -> None:
    """Tests that families and sizes give all their combinations, in order, with the methods in theirs."""
    gaps = study_gaps(synthetic_study(num_instances=6, repetitions=1), BUDGET)
    table = gap_statistics(gaps, ["family", "size"])
    keys = list(zip(table["family"], table["tasks"], table["label"], strict=True))
    expected = sorted({(family, size) for family, size, _ in keys})
    assert keys == [(*group, label) for group in expected for label in gaps.labels]


def test_size_is_tasks_or_jobs() -> None:
    """Tests which column `size` stands for, and that others are refused by name."""
    frame = synthetic_study(num_instances=1)
    assert grouping_column(frame, "size") == "tasks"
    assert grouping_column(frame.assign(tasks=np.nan, jobs=20), "size") == "jobs"
    with pytest.raises(ValueError, match="by: expected size or one of study, .*, got 'colour'"):  # noqa: RUF043
        grouping_column(frame, "colour")
