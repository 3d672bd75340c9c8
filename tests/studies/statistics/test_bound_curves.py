"""Tests of incumbents and bounds over time, and of the table of bounds, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from studies.statistics.bound_curves import COLUMNS, bound_curves
from studies.statistics.bound_ratios import bound_ratios
from studies.statistics.bound_table import bound_table
from tests.check_latex import check_latex

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


def _at(curve: pd.DataFrame, seconds: float) -> pd.Series:
    """Return the last point of a curve up to some seconds."""
    return curve[curve["at"] <= seconds].iloc[-1]


def test_both_sides_by_hand() -> None:
    """Tests sides of a and b against 100 and 200: at 1 s -50 % and nothing, in the end 0 and -5 % below 0 and 10 %."""
    curve = bound_curves(POINTS, INSTANCES)
    assert tuple(curve.columns) == COLUMNS
    first, middle, last = _at(curve, 1.0), _at(curve, 2.2), _at(curve, 8.0)
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
