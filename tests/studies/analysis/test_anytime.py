"""Tests of incumbents over time and of times to targets, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from studies.analysis.anytime import BOUND_CURVE_COLUMNS, anytime_curves, bound_curves
from studies.analysis.bound_ratios import bound_ratios
from studies.analysis.gaps import StudyGaps, study_gaps
from studies.analysis.profiles import target_summary, time_to_target
from studies.report.study_tables import bound_table
from tests.check_latex import check_latex
from tests.studies.analysis.synthetic_study import synthetic_study, synthetic_traces


@pytest.fixture
def gaps() -> StudyGaps:
    """Two instances with bound 100, one method, two runs each; the last one ends without a schedule."""
    objectives = [110, 130, 120, None]
    rows = [
        {
            "instance": f"i{number // 2}",
            "label": "woa",
            "kind": "search",
            "budget": "100 evaluations",
            "repetition": number % 2,
            "objective": objective,
            "bound": 100,
            "is_optimum": True,
            "seconds": 1.0,
            "evaluations": 100,
            "error": None,
        }
        for number, objective in enumerate(objectives)
    ]
    return study_gaps(pd.DataFrame(rows))


@pytest.fixture
def traces() -> pd.DataFrame:
    """Three runs with a schedule: what they found when, out of order."""
    points = [("i0", 0, 10, 110), ("i0", 0, 1, 200), ("i0", 1, 1, 130), ("i1", 0, 1, 160), ("i1", 0, 50, 120)]
    return pd.DataFrame(
        [
            {
                "instance": instance,
                "label": "woa",
                "budget": "100 evaluations",
                "repetition": repetition,
                "evaluations": evaluations,
                "seconds": evaluations / 100,
                "objective": objective,
            }
            for instance, repetition, evaluations, objective in points
        ]
    )


def _at(curve: pd.DataFrame, evaluations: float) -> pd.Series:
    """Return the last point of a curve up to some evaluations."""
    return curve[curve["at"] <= evaluations].iloc[-1]


def test_incumbents_by_hand(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests that i0 falls from (100 % + 30 %) / 2 to (10 % + 30 %) / 2, and i1, with a run without schedule, never."""
    curve = anytime_curves(gaps, traces)
    start, end = _at(curve, 1), _at(curve, 100)
    assert (start["lower"], end["lower"]) == pytest.approx((0.65, 0.2))
    assert curve["at"].iloc[0] == 1
    assert curve["at"].iloc[-1] == 100
    assert np.isinf(curve["upper"]).all()
    assert np.isinf(curve["mean"]).all()
    assert set(curve["share"]) == {0.75}
    assert set(curve["num_instances"]) == {2}


def test_seconds_scale_as_evaluations(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests that the same trace over seconds gives the same values at the same places."""
    curve = anytime_curves(gaps, traces, "seconds")
    assert (curve["at"].iloc[0], curve["at"].iloc[-1]) == (0.01, 1.0)
    assert _at(curve, 0.0999)["lower"] == pytest.approx(0.65)
    assert _at(curve, 0.2)["lower"] == pytest.approx(0.2)


def test_time_to_target_by_hand(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests first times at gaps of 30 % and 10 %; runs that never come so far count as infinite."""
    assert time_to_target(gaps, traces, 0.3)["at"].tolist() == [10, 1, 50, np.inf]
    assert time_to_target(gaps, traces, 0.1)["at"].tolist() == [10, np.inf, np.inf, np.inf]
    summary = target_summary(time_to_target(gaps, traces, 0.3)).iloc[0]
    assert (summary["num_runs"], summary["share"], summary["median"]) == (4, 0.75, 30.0)
    assert target_summary(time_to_target(gaps, traces, 0.1)).iloc[0]["median"] == np.inf


def test_runs_without_a_trace_end_at_their_objective(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests that a run whose trace is missing still has its schedule at its end."""
    assert time_to_target(gaps, traces.iloc[:0], 0.1)["at"].tolist() == [100, np.inf, np.inf, np.inf]


def test_methods_that_count_no_evaluations_are_left_out(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests that an exact method has a curve over seconds and none over evaluations."""
    exact = gaps.runs.iloc[:1].assign(label="cp-sat", kind="exact", evaluations=np.nan, seconds=0.5)
    both = study_gaps(pd.concat([gaps.runs, exact]))
    found = traces.iloc[:1].assign(label="cp-sat", evaluations=np.nan, seconds=0.2)
    points = pd.concat([traces, found])
    assert set(anytime_curves(both, points)["label"]) == {"woa"}
    assert set(time_to_target(both, points, 0.5)["label"]) == {"woa"}
    curves = anytime_curves(both, points, "seconds")
    assert curves.loc[curves["label"] == "cp-sat", "mean"].iloc[-1] == pytest.approx(0.1)


def test_curves_fall_and_end_at_the_final_gaps() -> None:
    """Tests on invented runs that incumbents never get worse and end where the table of gaps is."""
    frame = synthetic_study(num_instances=6, repetitions=3)
    gaps = study_gaps(frame, "1 s")
    curves = anytime_curves(gaps, synthetic_traces(frame))
    searches = [label for label in gaps.labels if label not in ("heft", "cpop")]
    assert list(dict.fromkeys(curves["label"])) == searches
    for label in searches:
        curve = curves[curves["label"] == label]
        assert (np.diff(curve["mean"]) <= 1e-12).all()
        assert curve["mean"].iloc[-1] == pytest.approx(gaps.mean_gaps()[label].mean())
        assert curve["median"].iloc[-1] == pytest.approx(gaps.mean_gaps()[label].median())


def test_misuse(gaps: StudyGaps, traces: pd.DataFrame) -> None:
    """Tests that missing columns and negative targets are named."""
    with pytest.raises(ValueError, match=r"traces: expected the columns .* got none named seconds"):
        anytime_curves(gaps, traces.drop(columns="seconds"))
    with pytest.raises(ValueError, match="target: expected a gap of at least 0"):
        time_to_target(gaps, traces, -0.1)


POINTS = pd.DataFrame(
    [
        ("a", 1.0, np.nan, 50.0),
        ("a", 2.0, 150.0, 50.0),
        ("a", 4.0, 100.0, 100.0),
        ("b", 2.0, 220.0, 180.0),
        ("b", 8.0, 220.0, 190.0),
    ],
    columns=["instance", "seconds", "objective", "bound"],
).assign(sha256=lambda frame: frame["instance"], label="cp-sat", budget="8 s", repetition=0)
INSTANCES = pd.DataFrame({"sha256": ["a", "b", "c"], "best": [100.0, 200.0, 0.0]})


def _at_bound_curves(curve: pd.DataFrame, seconds: float) -> pd.Series:
    """Return the last point of a curve up to some seconds."""
    return curve[curve["at"] <= seconds].iloc[-1]


def test_both_sides_by_hand() -> None:
    """Tests sides of a and b against 100 and 200: at 1 s -50 % and nothing, in the end 0 and -5 % below 0 and 10 %."""
    curve = bound_curves(POINTS, INSTANCES)
    assert tuple(curve.columns) == BOUND_CURVE_COLUMNS
    first, middle, last = _at_bound_curves(curve, 1.0), _at_bound_curves(curve, 2.2), _at_bound_curves(curve, 8.0)
    assert (first["bound_median"], first["incumbent_median"]) == (pytest.approx(-0.75), np.inf)
    assert (middle["incumbent_lower"], middle["incumbent_upper"]) == pytest.approx((0.1, 0.5))
    assert (last["incumbent_median"], last["bound_median"]) == pytest.approx((0.05, -0.025))
    assert (first["share_with_schedule"], middle["share_with_schedule"]) == (0.0, 1.0)
    assert (middle["share_proven"], last["share_proven"]) == (0.0, 0.5)
    assert set(curve["num_instances"]) == {2}
    assert (np.diff(curve["bound_median"]) >= 0).all()
    assert (np.diff(curve["incumbent_median"][np.isfinite(curve["incumbent_median"])]) <= 0).all()


def test_nothing_to_draw_and_what_cannot_be() -> None:
    """Tests that no points give no curves, and that a bound above the best one is refused."""
    assert len(bound_curves(POINTS.iloc[:0], INSTANCES)) == 0
    assert len(bound_curves(POINTS, INSTANCES.assign(best=np.nan))) == 0
    with pytest.raises(ValueError, match="bound: expected at most the best one 150 of 'b', got 180"):
        bound_curves(POINTS, INSTANCES.assign(best=[100.0, 150.0, 0.0]))


def test_table_of_bounds_by_hand() -> None:
    """Tests ratios to the best bound and to the optimum, which is proven on a alone; ratios are rounded down."""
    rows = [("area", "a", 60.0), ("area", "b", 199.99), ("cp-sat", "a", 100.0), ("cp-sat", "b", 200.0)]
    references = pd.DataFrame(rows, columns=["label", "sha256", "bound"]).assign(
        instance=lambda frame: frame["sha256"], budget=["-", "-", "9 s", "9 s"], state="finished", seconds=0.5
    )
    instances = pd.DataFrame({"sha256": ["a", "b"], "bound": [100, 200], "is_optimum": [True, False]})
    ratios = bound_ratios(references, instances).assign(family=["x", "y", "x", "y"])
    table = bound_table(ratios)
    area, exact = table.rows
    assert area == ("area", "2", "0.799", "0.600", "0/2", "0.600", "0.600", "0/1", "0.5")
    assert exact == ("cp-sat, 9 s", "2", "1.000", "1.000", "2/2", "1.000", "1.000", "1/1", "0.5")
    assert check_latex(table.to_latex())[1][0] == "area"
    by_family = bound_table(ratios, ["family"])
    assert [row[:2] for row in by_family.rows] == [
        ("x", "area"),
        ("x", "cp-sat, 9 s"),
        ("y", "area"),
        ("y", "cp-sat, 9 s"),
    ]
    assert by_family.rows[2][3] == "0.999"
    assert by_family.rows[2][6] == "-"
