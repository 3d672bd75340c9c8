"""Tests of the tests of all pairs of methods."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from studies.statistics.all_pairs import COLUMNS, against, all_pairs
from studies.statistics.compare import compare
from studies.statistics.holm import holm
from studies.statistics.study_gaps import study_gaps
from tests.studies.statistics.synthetic_study import LEVELS, synthetic_study


def test_pairs_are_the_tests_of_compare_corrected_for_all() -> None:
    """Tests differences, p-values and effects against those of one baseline, and Holm over all pairs."""
    frame = synthetic_study()
    pairs = all_pairs(study_gaps(frame, "1 s"))
    assert tuple(pairs.columns) == COLUMNS
    assert set(zip(pairs["label"], pairs["other"], strict=True)) == set(itertools.combinations(LEVELS, 2))
    assert pairs["holm_p_value"].tolist() == pytest.approx(holm(pairs["p_value"].tolist()))
    comparison = compare(frame, budget="1 s", baseline="ga")
    tests = against(pairs, "ga")
    assert set(tests.index) == set(LEVELS) - {"ga"}
    for label, test in tests.iterrows():
        rival = comparison[str(label)].rivalry
        assert rival is not None
        assert test["num_pairs"] == rival.num_pairs == 12
        for name in ("median_difference", "p_value", "effect"):
            assert test[name] == pytest.approx(getattr(rival, name))
        assert rival.holm_p_value is not None
        assert test["holm_p_value"] >= rival.holm_p_value  # five tests are fewer than fifteen


def test_pairs_without_a_common_instance_are_not_tested() -> None:
    """Tests that nothing is said, and nothing corrected for, where two methods never met."""
    frame = synthetic_study(4, labels=("heft", "cpop", "ga"))
    number = frame["instance"].str[-1].astype(int)
    frame.loc[(frame["label"] == "heft") & (number < 2), "objective"] = np.nan
    frame.loc[(frame["label"] == "cpop") & (number >= 2), "objective"] = np.nan
    pairs = all_pairs(study_gaps(frame, "1 s")).set_index(["label", "other"])
    lost = [key for key, row in pairs.iterrows() if np.isnan(row["p_value"])]
    assert [set(key) for key in lost] == [{"heft", "cpop"}]
    assert pairs["num_pairs"].sort_values().tolist() == [0, 2, 2]
    assert pairs["holm_p_value"].dropna().tolist() == [1.0, 1.0]  # two of two equal signs: p 0.5, twice
