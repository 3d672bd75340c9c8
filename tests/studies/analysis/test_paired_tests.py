"""Tests of the tests of all pairs of methods."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from studies.analysis.comparison import compare_methods
from studies.analysis.gaps import study_gaps
from studies.analysis.paired_tests import COLUMNS, against, all_pairs, holm, rank_biserial, signed_ranks, wilcoxon
from tests.studies.analysis.synthetic_study import LEVELS, synthetic_study


def test_pairs_are_the_tests_of_compare_corrected_for_all() -> None:
    """Tests differences, p-values and effects against those of one baseline, and Holm over all pairs."""
    frame = synthetic_study()
    pairs = all_pairs(study_gaps(frame, "1 s"))
    assert tuple(pairs.columns) == COLUMNS
    assert set(zip(pairs["label"], pairs["other"], strict=True)) == set(itertools.combinations(LEVELS, 2))
    assert pairs["holm_p_value"].tolist() == pytest.approx(holm(pairs["p_value"].tolist()))
    comparison = compare_methods(frame, budget="1 s", baseline="ga")
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


P_VALUES = st.lists(st.floats(0, 1), max_size=8)


def test_published_example() -> None:
    """Tests the example of Demsar (2006), 3.2.2: .016, .019 and .607 against .017, .025 and .05: two are rejected."""
    adjusted = holm([0.019, 0.607, 0.016])
    assert adjusted == pytest.approx([0.048, 0.607, 0.048])


def test_by_hand() -> None:
    """Tests the multipliers 4, 3, 2, 1 and that no value falls below the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.4]) == pytest.approx([0.8, 0.8])


def test_tests_that_were_not_made_do_not_count() -> None:
    """Tests that None stays None and the others are multiplied by their own number."""
    assert holm([None, 0.02, None, 0.03]) == [None, pytest.approx(0.04), None, pytest.approx(0.04)]
    assert holm([]) == []


@given(p_values=P_VALUES)
def test_keeps_order_and_bounds(p_values: list[float]) -> None:
    """Tests that adjusted values are in the same order, at least the raw ones, at most Bonferroni's, at most 1."""
    adjusted = [value for value in holm(p_values) if value is not None]
    assert len(adjusted) == len(p_values)
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [after for _, after in pairs] == sorted(adjusted)
    for before, after in pairs:
        assert before <= after <= min(1.0, len(p_values) * max(p_values))
        assert after == 1.0 or after <= len(p_values) * before or before < after


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_refuses_what_is_no_p_value(wrong: float) -> None:
    """Tests that numbers outside [0, 1] are named."""
    with pytest.raises(ValueError, match=r"p_values: expected numbers in \[0, 1\]"):
        holm([0.5, wrong])


DEMSAR = [0.005, -0.008, 0.017, 0.033, 0.006, -0.005, 0.007, 0.0, 0.063, 0.0, 0.022, 0.047, 0.009, 0.021]
"""Table 2 of Demsar (2006): C4.5+m less C4.5 on 14 data sets; there zeros are split between the sides, T = 12."""


def test_ranks_of_a_published_table() -> None:
    """Tests ranks, ties and zeros against table 2 of Demsar (2006)."""
    expected = [3.5, -7, 9, 12, 5, -3.5, 6, 0, 14, 0, 11, 13, 8, 10]
    assert signed_ranks(DEMSAR).tolist() == expected


def test_statistic_of_a_published_table() -> None:
    """Tests the rank sums by hand: without the zeros' 1.5 + 1.5, R+ = 91.5 and R- = 10.5."""
    test = wilcoxon(DEMSAR)
    assert test is not None
    assert (test.statistic, test.num_pairs, test.num_zeros) == (10.5, 14, 2)
    assert test.p_value < 0.05  # as in the paper, which rejects at 0.05
    assert rank_biserial(DEMSAR) == pytest.approx((91.5 - 10.5) / 102)


def test_rounding_does_not_break_ties() -> None:
    """Tests that differences that are equal but for floating point share a rank."""
    assert signed_ranks([0.1 + 0.2 - 0.3, 0.768 - 0.763, 0.931 - 0.936]).tolist() == [0, 2.5, -2.5]


@given(
    values=st.lists(st.integers(-4, 4), min_size=1, max_size=9),
)
def test_small_samples_are_enumerated(values: list[int]) -> None:
    """Tests the p-value with ties and zeros against all sign patterns, one by one."""
    ranks = signed_ranks(values)
    sizes = np.abs(ranks[ranks != 0])
    smaller = min(ranks[ranks > 0].sum(), -ranks[ranks < 0].sum())
    below = [
        float(np.dot(signs, sizes)) <= smaller for signs in itertools.product((0, 1), repeat=len(sizes))
    ]  # rank sums of one side
    test = wilcoxon(values)
    assert test is not None
    assert test.p_value == pytest.approx(min(1.0, 2 * np.mean(below)) if len(sizes) else 1.0)
    assert test.p_value >= min(1.0, test.least_p_value) - 1e-12


@pytest.mark.parametrize("count", [6, 20, 50])
def test_agrees_with_scipy_without_ties(count: int) -> None:
    """Tests exact p-values against SciPy's exact distribution where there are neither ties nor zeros."""
    values = np.random.default_rng(count).normal(0.3, 1.0, count)
    test = wilcoxon(values)
    assert test is not None
    assert test.p_value == pytest.approx(float(stats.wilcoxon(values, method="exact").pvalue), rel=1e-9)


def test_large_samples_join_on() -> None:
    """Tests that the approximation for many pairs is near the exact value for one pair less."""
    values = np.round(np.random.default_rng(5).normal(0.25, 1.0, 51), 1)
    exact, approximate = wilcoxon(values[:50]), wilcoxon(values)
    assert exact is not None
    assert approximate is not None
    assert approximate.p_value == pytest.approx(
        float(stats.wilcoxon(values, zero_method="pratt", method="approx").pvalue)
    )
    assert approximate.p_value == pytest.approx(exact.p_value, rel=0.5)


def test_sides_may_be_swapped() -> None:
    """Tests that the p-value does not depend on the side, and the effect changes its sign."""
    there, back = wilcoxon(DEMSAR), wilcoxon([-value for value in DEMSAR])
    assert there == back
    assert rank_biserial([-value for value in DEMSAR]) == -(rank_biserial(DEMSAR) or 0)


def test_nothing_and_no_difference() -> None:
    """Tests that no pairs give no test, and no difference gives p 1 and effect 0."""
    assert wilcoxon([]) is None
    assert rank_biserial([]) is None
    none = wilcoxon([0.0, 0.0, 0.0])
    assert none is not None
    assert (none.p_value, none.statistic, none.least_p_value) == (1.0, 0.0, 1.0)
    assert rank_biserial([0.0, 0.0]) == 0.0


def test_effect_is_one_where_all_agree() -> None:
    """Tests the ends of the scale, and Kerby's simple difference by hand: ranks 1, 2, 3 of which 2 is against."""
    assert rank_biserial([1.0, 2.0, 3.0]) == 1.0
    assert rank_biserial([-1.0, -2.0]) == -1.0
    assert rank_biserial([1.0, -2.0, 3.0]) == pytest.approx((4 - 2) / 6)


def test_infinite_differences_are_refused() -> None:
    """Tests that what cannot be ranked is named."""
    with pytest.raises(ValueError, match="differences: expected finite numbers, got nan"):
        wilcoxon([1.0, float("nan")])
