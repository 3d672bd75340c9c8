"""Tests that the summary in words says what the tests say and no more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from studies.analysis.comparison import compare_methods
from studies.analysis.gaps import study_gaps
from studies.analysis.paired_tests import all_pairs
from studies.analysis.verdict import best_method, study_summary
from tests.studies.analysis.synthetic_study import synthetic_study


def _study(gaps: dict[str, list[int]]) -> pd.DataFrame:
    """Return one run per method and instance with objectives above an optimum of 1000 ticks."""
    frame = synthetic_study(len(next(iter(gaps.values()))), 1, labels=("ga",))
    frame = frame[frame["budget"] == "1 s"].assign(bound=1000, is_optimum=True)
    parts = [frame.assign(label=label, objective=1000 + np.array(values)) for label, values in gaps.items()]
    return pd.concat(parts, ignore_index=True)


def _said(frame: pd.DataFrame, baseline: str | None = None) -> str:
    """Return the summary."""
    comparison = compare_methods(frame, baseline=baseline)
    return " ".join(study_summary(comparison, all_pairs(study_gaps(frame)), baseline=baseline))


CLOSE = {
    "a": [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    "b": [11, 19, 33, 38, 52, 59, 74, 79, 93, 99],
    "c": [30, 45, 60, 75, 90, 105, 120, 135, 150, 165],
}


def test_only_significant_differences_are_called_so() -> None:
    """Tests a close rival and a clearly worse one, worked out by hand: p of the worse one is 3 x 2 / 2 ** 10."""
    said = _said(_study(CLOSE))
    assert said.startswith("a has the smallest mean gap of 3 methods: 5.50 % (median 5.50 %, worst 10.00 %). ")
    assert "after Holm's correction for all 3 pairs of methods, the gaps of a are not distinguishable from" in said
    assert "those of b (5.57 %, p " in said
    assert "They are smaller than those of c." in said
    assert "not that there is none" in said


def test_a_small_mean_is_not_called_better() -> None:
    """Tests that a method with the smallest mean and larger gaps on nearly all instances is told as that."""
    said = _said(_study({"even": [10] * 11 + [2000], "odd": [50] * 12}))
    assert said.startswith("odd has the smallest mean gap")
    assert "the gaps of odd are larger than those of even." in said


def test_few_instances_show_nothing() -> None:
    """Tests that no test is told where none can be significant."""
    few = {label: values[:4] for label, values in CLOSE.items()}
    assert "With 4 instances and 3 tests no p after Holm's correction can be below 0.3750" in _said(_study(few))
    assert "distinguishable" not in _said(_study(few))


def test_methods_that_lack_runs_are_not_the_best() -> None:
    """Tests that a mean over fewer instances is not held against the others, and that this is said."""
    frame = _study(CLOSE)
    frame.loc[(frame["label"] == "a") & (frame["instance"] == "instance-9"), "objective"] = np.nan
    assert best_method(compare_methods(frame)) == "b"
    assert "Not in this choice, for they lack gaps in some runs: a." in _said(frame)
    frame["objective"] = np.nan
    assert best_method(compare_methods(frame)) is None
    assert _said(frame) == "No method has a gap in every run: none is called the best."


def test_equal_means_share_the_first_place() -> None:
    """Tests that two methods with the same mean are both named."""
    assert _said(_study({"x": [10, 20], "y": [20, 10]})).startswith("x and y have the smallest mean gap of 2 methods")


@pytest.mark.parametrize(
    ("baseline", "expected"),
    [("b", "They are smaller than those of c."), ("c", "the gaps of c are larger than those of a and b.")],
)
def test_a_planned_baseline_has_its_own_tests(baseline: str, expected: str) -> None:
    """Tests that a baseline named before is corrected for its rivals only, in both directions."""
    said = _said(_study(CLOSE), baseline)
    assert f"The baseline {baseline} has a mean gap of" in said
    assert "after Holm's correction for 2 rivals" in said
    assert expected in said
