"""Tests of performance profiles by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from studies.analysis.anytime import TRACE_COLUMNS, anytime_curves
from studies.analysis.gaps import StudyGaps, study_gaps
from studies.analysis.profiles import gap_ecdf, performance_profile, target_ecdf, target_summary, time_to_target
from studies.report.study_tables import target_table, target_times
from tests.check_latex import check_latex
from tests.studies.analysis.synthetic_study import synthetic_study, synthetic_traces

NAN = float("nan")
VALUES = np.array([[1.0, 2.0], [4.0, 2.0], [3.0, NAN], [NAN, NAN]])
"""Two methods on four instances; on the last one neither has a value."""


def test_against_the_best_method() -> None:
    """Tests ratios 1, 2, 1, none and 2, 1, none, none: as published, unsolved instances stay in the denominator."""
    profile = performance_profile(VALUES)
    assert profile.factors.tolist() == [1.0, 2.0]
    assert profile.shares.tolist() == [[0.5, 0.25], [0.75, 0.5]]
    assert [profile.share(0, factor) for factor in (0.5, 1.0, 1.9, 2.0, 99.0)] == [0.0, 0.5, 0.5, 0.75, 0.75]


def test_against_a_bound() -> None:
    """Tests ratios to bounds 1, 2, 2 and 1: they do not depend on the other method."""
    bounds = np.array([1.0, 2.0, 2.0, 1.0])
    both, alone = performance_profile(VALUES, bounds), performance_profile(VALUES[:, :1], bounds)
    assert both.factors.tolist() == [1.0, 1.5, 2.0]
    assert both.shares[:, 0].tolist() == [0.25, 0.5, 0.75]
    assert both.shares[:, 1].tolist() == [0.25, 0.25, 0.5]
    assert [alone.share(0, factor) for factor in both.factors] == both.shares[:, 0].tolist()


def test_profile_as_a_frame() -> None:
    """Tests that the frame holds every share at every factor, tidy."""
    frame = performance_profile(VALUES).to_frame(["woa", "ga"])
    assert frame.to_dict("list") == {
        "label": ["woa", "woa", "ga", "ga"],
        "factor": [1.0, 2.0, 1.0, 2.0],
        "share": [0.5, 0.75, 0.25, 0.5],
    }


def test_shares_rise() -> None:
    """Tests that shares never fall and stay in [0, 1]."""
    values = np.random.default_rng(1).lognormal(size=(40, 5))
    shares = performance_profile(values).shares
    assert (np.diff(shares, axis=0) >= 0).all()
    assert (shares[-1] == 1).all()
    assert shares[0].sum() == pytest.approx(1.0)  # every instance has one best method, no ties here


def test_refuses_what_has_no_ratio() -> None:
    """Tests that values of 0 and values below the reference are named."""
    with pytest.raises(ValueError, match="values: expected numbers above 0"):
        performance_profile(np.array([[0.0, 1.0]]))
    with pytest.raises(ValueError, match="reference: expected at most every value"):
        performance_profile(np.array([[1.0]]), np.array([2.0]))


def _run(instance: str, label: str, repetition: int, objective: float | None, **more: object) -> dict[str, object]:
    """Return a run of 100 evaluations and a second on an instance with bound 100."""
    kind = "construction" if label == "heft" else "search"
    row = {"instance": instance, "label": label, "kind": kind, "budget": "100 evaluations", "repetition": repetition}
    if label == "heft":
        row |= {"budget": "-", "seconds": 0.5, "evaluations": 1}
    else:
        row |= {"seconds": 1.0, "evaluations": 100}
    return {**row, "objective": objective, "bound": 100, "is_optimum": instance == "a", "error": None, **more}


@pytest.fixture
def gaps() -> StudyGaps:
    """Two instances, of which a is proven; four runs of woa, of which one finds nothing, and heft."""
    rows = [_run("a", "woa", 0, 100), _run("a", "woa", 1, 105), _run("b", "woa", 0, 120), _run("b", "woa", 1, None)]
    return study_gaps(pd.DataFrame([*rows, _run("a", "heft", 0, 108), _run("b", "heft", 0, 130)]))


@pytest.fixture
def traces() -> pd.DataFrame:
    """Return what woa found when."""
    points = [("a", 0, 1, 150), ("a", 0, 10, 104), ("a", 0, 40, 100), ("a", 1, 20, 105), ("b", 0, 5, 120)]
    columns = ["instance", "repetition", "evaluations", "objective"]
    frame = pd.DataFrame(points, columns=columns)
    return frame.assign(label="woa", budget="100 evaluations", seconds=frame["evaluations"] / 100)


def test_shares_medians_and_expected_times(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests 10 %: woa after 10 and 20, two runs spend 100 in vain, so (10 + 20 + 200) / 2; heft once of two."""
    times = target_times(gaps, traces, [0.1, 0.0]).set_index(["label", "target"])
    woa = times.loc[("woa", 0.1)]
    assert (woa["num_runs"], woa["num_reached"], woa["share"]) == (4, 2, 0.5)
    assert (woa["median_evaluations"], woa["expected_evaluations"]) == (np.inf, 115.0)
    assert woa["expected_seconds"] == pytest.approx(1.15)
    heft = times.loc[("heft", 0.1)]
    assert (heft["num_runs"], heft["share"], heft["expected_evaluations"]) == (2, 0.5, 2.0)
    assert heft["expected_seconds"] == pytest.approx(1.0)
    optimum = times.loc[("woa", 0.0)]  # only instance a: one of two runs, after 40, the other spends 100
    assert (optimum["num_runs"], optimum["share"], optimum["expected_evaluations"]) == (2, 0.5, 140.0)
    assert times.loc[("heft", 0.0), "num_runs"] == 1
    assert np.isnan(times.loc[("heft", 0.0), "expected_evaluations"])


def test_a_run_that_does_not_say_what_it_spent(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests that no expected time is made up where a failed run has no evaluations."""
    gaps.runs.loc[3, "evaluations"] = np.nan
    summary = target_summary(time_to_target(gaps, traces, 0.1)).iloc[0]
    assert (summary["num_runs"], summary["share"]) == (4, 0.5)
    assert np.isnan(summary["expected"])
    gaps.runs.loc[3, "seconds"] = np.nan
    assert np.isnan(target_times(gaps, traces, [0.1]).set_index("label").loc["woa", "expected_seconds"])
    shown = [dict(table.rows)["woa"] for table in target_table(gaps, traces, [1.0])]  # the median is known all the same
    assert shown == ["75.0", "12.5 / -", "0.125 / -"]


def test_nothing_is_expected_of_a_method_that_would_miss_again(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests that a method without any seed has an expected time only where all its runs reach the target."""
    gaps.runs["seed"] = [1, 2, 3, 4, 0, 0]
    times = target_times(gaps, traces, [0.3, 0.1]).set_index(["label", "target"])
    assert times.loc[("heft", 0.3), ["median_seconds", "expected_seconds"]].tolist() == [0.5, 0.5]
    assert np.isnan(times.loc[("heft", 0.1), "expected_seconds"])
    assert times.loc[("woa", 0.1), "expected_seconds"] == pytest.approx(1.15)


def test_exact_methods_are_not_held_to_evaluations() -> None:
    """Tests that an exact method has no line over evaluations, not even for its runs without a schedule."""
    rows = [_run("a", "cp-sat", 0, 100), _run("b", "cp-sat", 0, None), _run("a", "woa", 0, 105)]
    exact = {"kind": "exact", "evaluations": None}
    gaps = study_gaps(pd.DataFrame([{**row, **(exact if row["label"] == "cp-sat" else {})} for row in rows]))
    none = pd.DataFrame(columns=list(TRACE_COLUMNS))
    assert set(target_ecdf(gaps, none, "evaluations")["label"]) == {"woa"}
    assert set(anytime_curves(gaps, none, "evaluations")["label"]) == {"woa"}
    assert target_times(gaps, none, [0.1]).set_index("label").loc["cp-sat", "share"] == 0.5


def test_tables_of_targets(gaps: StudyGaps, traces: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests texts, LaTeX, CSV and JSON of the three tables, the better method on top."""
    monkeypatch.setenv("COLUMNS", "80")
    shares, evaluations, seconds = target_table(gaps, traces, [0.1, 0.0])
    assert shares.headings == ("method", "10 %", "optimum")
    assert shares.rows == (("woa", "50.0", "50.0"), ("heft", "50.0", "0.0"), ("runs at most", "4", "2"))
    assert evaluations.rows == (("woa", "- / 115", "- / 140"), ("heft", "- / 2", "-"))
    assert seconds.rows[1] == ("heft", "- / 1", "-")
    for table in (shares, evaluations, seconds):
        assert max(len(line) for line in table.to_text().splitlines()) <= 80
        assert check_latex(table.to_latex())[0][0] == "method"
        assert table.to_markdown().count("| woa |") == 1
        assert json.dumps(table.to_dict(), allow_nan=False)
        assert "<table>" in table._repr_html_()
        assert len(table.to_csv().splitlines()) == 5
    with pytest.raises(ValueError, match=r"targets: expected gaps of at least 0, got -0\.1"):
        target_times(gaps, traces, [-0.1])


def test_distribution_over_pairs_of_run_and_target(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests eight pairs by hand: 50 and 5 % of four runs, reached after 1, 10, 20, 20 and 5."""
    table = target_ecdf(gaps, traces, targets=[0.5, 0.05])
    assert table["at"].tolist() == [1, 5, 10, 20]
    assert table["share"].tolist() == [1 / 8, 2 / 8, 3 / 8, 5 / 8]
    optimum = target_ecdf(gaps, traces, "seconds", [0.0])
    assert (optimum["at"].tolist(), optimum["share"].tolist()) == ([0.4], [0.5])
    assert target_ecdf(gaps, traces.iloc[:0], targets=[0.001])["at"].tolist() == [100]


def test_distribution_of_gaps(gaps: StudyGaps) -> None:
    """Tests that a run without a schedule counts, and that a method without any has a line at 0."""
    table = gap_ecdf(gaps)
    woa, heft = (table[table["label"] == label] for label in ("woa", "heft"))
    assert woa["gap"].tolist() == pytest.approx([0.0, 0.05, 0.2])
    assert woa["share"].tolist() == [0.25, 0.5, 0.75]
    assert heft["share"].tolist() == [0.5, 1.0]
    lost = study_gaps(pd.DataFrame([_run("a", "woa", 0, None)]))
    assert gap_ecdf(lost).to_dict("records") == [{"label": "woa", "gap": np.inf, "share": 0.0}]


def test_larger_targets_are_reached_earlier_and_more_often() -> None:
    """Tests on invented runs that shares rise and times fall with the target, and that shares are those of gaps."""
    frame = synthetic_study(num_instances=6, repetitions=3)
    gaps = study_gaps(frame, "1 s")
    times = target_times(gaps, synthetic_traces(frame), [0.02, 0.05, 0.1, 0.2])
    for label, group in times.groupby("label"):
        ordered = group.sort_values("target")
        assert (np.diff(ordered["share"]) >= 0).all()
        assert (np.diff(ordered["expected_evaluations"].dropna()) <= 1e-9).all()
        of_label = gaps.runs.loc[gaps.runs["label"] == label, "gap"]
        assert ordered["share"].tolist() == [(of_label <= target + 1e-12).mean() for target in ordered["target"]]
