"""Tests of gaps at one budget, and of frames that must be refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from studies.analysis.gaps import budgets_of, denominators_text, gap_to_bound, study_gaps
from studies.analysis.stability import deterministic_labels, spreads, stability
from tests.studies.analysis.synthetic_study import synthetic_study

BUDGET = "50 evaluations"


def runs(*rows: tuple[str, str, int, object, object, bool], budget: str = BUDGET) -> pd.DataFrame:
    """Return a frame of (instance, label, repetition, objective, bound, is_optimum)."""
    return pd.DataFrame(
        [
            {
                "instance": instance,
                "label": label,
                "kind": "construction" if label == "heft" else "search",
                "budget": "-" if label == "heft" else budget,
                "repetition": repetition,
                "objective": objective,
                "bound": bound,
                "is_optimum": is_optimum,
                "error": None,
            }
            for instance, label, repetition, objective, bound, is_optimum in rows
        ]
    )


SMALL = runs(
    ("a", "woa", 0, 110, 100, True),
    ("a", "woa", 1, 130, 100, True),
    ("a", "heft", 0, 120, 90, False),
    ("b", "woa", 0, 60, 50, False),
    ("b", "woa", 1, None, 50, False),
    ("b", "heft", 0, 55, None, False),
    ("c", "woa", 0, 7, None, False),
)


def test_gaps_are_against_the_best_bound_of_the_instance() -> None:
    """Tests gaps by hand: the reference of a is 100 in every row, b has no proof of an optimum, c has no bound."""
    gaps = study_gaps(SMALL)
    assert gaps.runs["gap"].tolist() == pytest.approx([0.1, 0.3, 0.2, 0.2, np.nan, 0.1, np.nan], nan_ok=True)
    assert (gaps.num_optima, gaps.num_without_gap, gaps.is_proven) == (1, 1, False)
    assert "On 1 no bound above 0 is proven" in gaps.denominators()
    assert gaps.labels == ("woa", "heft")


def test_means_over_repetitions() -> None:
    """Tests means by hand, and where runs and instances are missing."""
    gaps = study_gaps(SMALL)
    means = gaps.mean_gaps()
    assert means.loc["a"].tolist() == pytest.approx([0.2, 0.2])
    assert means.loc["a", "woa"] == means.loc["a", "heft"]  # exactly: a tie stays a tie
    assert means.loc["b"].tolist() == pytest.approx([0.2, 0.1])
    assert means.loc["c"].isna().all()
    assert gaps.partial() == {"woa": 1}
    assert gaps.incomplete() == {}


def test_a_schedule_that_meets_the_bound_proves_the_optimum() -> None:
    """Tests that two rows prove an optimum together, and that only runs that reach it are optimal."""
    gaps = study_gaps(runs(("a", "woa", 0, 50, 40, False), ("a", "heft", 0, 60, 50, False)))
    assert gaps.is_proven
    assert gaps.runs["is_optimal"].tolist() == [True, False]
    assert gaps.denominators() == "All gaps are optimality gaps: the optimum of the one instance is proven."


def test_failed_runs_have_no_schedule() -> None:
    """Tests that an objective beside an error does not count, nor prove anything."""
    frame = runs(("a", "woa", 0, 50, 50, False), ("a", "woa", 1, 60, 50, False))
    frame["error"] = ["killed", None]
    gaps = study_gaps(frame)
    assert gaps.runs["has_schedule"].tolist() == [False, True]
    assert gaps.runs["is_failed"].tolist() == [True, False]
    assert not gaps.is_proven


def test_reference_rows_are_no_methods() -> None:
    """Tests that rows of bounds and the budget of exact references only give denominators."""
    frame = pd.concat([SMALL, runs(("b", "area", 0, None, 55, False), ("b", "cp-sat", 0, 55, 55, True))])
    frame.loc[frame["label"] == "area", ["kind", "budget"]] = ["bound", "-"]
    frame.loc[frame["label"] == "cp-sat", ["kind", "budget"]] = ["exact", "60 s"]
    gaps = study_gaps(frame)
    assert budgets_of(frame) == [BUDGET]
    assert gaps.labels == ("woa", "heft")
    assert gaps.references.loc["b"].tolist() == [55, True]


def test_budgets_are_kept_apart() -> None:
    """Tests that one budget is selected, constructions beside it, and that it must be named where there are two."""
    frame = synthetic_study(num_instances=2, repetitions=2)
    gaps = study_gaps(frame, "1 s")
    assert set(gaps.runs["budget"]) == {"1 s", "-"}
    with pytest.raises(ValueError, match="budget: expected one of 2000 evaluations, 1 s, got none"):
        study_gaps(frame)
    with pytest.raises(ValueError, match="budget: expected one of 2000 evaluations, 1 s, got '2 s'"):
        study_gaps(frame, "2 s")


@pytest.mark.parametrize("integers", ["Int64", "float64", "object"])
def test_any_kind_of_number_column(integers: str) -> None:
    """Tests that nullable, floating and mixed columns give the same gaps."""
    frame = SMALL.astype({"objective": integers, "bound": integers})
    assert study_gaps(frame).runs["gap"].equals(study_gaps(SMALL).runs["gap"])


def test_negative_gap_is_an_error() -> None:
    """Tests that a bound above a schedule stops everything."""
    with pytest.raises(ValueError, match=r"gap: expected at least 0, got objective 40 of heft on 'a' below .* 50"):
        study_gaps(runs(("a", "woa", 0, 50, 50, False), ("a", "heft", 0, 40, None, False)))


def test_bound_above_an_optimum_is_an_error() -> None:
    """Tests that a row may not prove more than the optimum of another."""
    with pytest.raises(ValueError, match="bound: expected at most the optimum 50 on 'a', got 51"):
        study_gaps(runs(("a", "woa", 0, 60, 50, True), ("a", "heft", 0, 60, 51, False)))


def test_frames_that_would_be_counted_wrongly() -> None:
    """Tests that missing columns, runs twice, two instances of one name and empty frames are refused."""
    with pytest.raises(ValueError, match="got none named bound, error"):
        study_gaps(SMALL.drop(columns=["bound", "error"]))
    with pytest.raises(ValueError, match="expected every run once, got instance a, label woa"):
        study_gaps(pd.concat([SMALL, SMALL.iloc[:1]]))
    with pytest.raises(ValueError, match="one content hash per name, got several of 'a'"):
        study_gaps(SMALL.assign(sha256=[str(row) for row in range(len(SMALL))]))
    with pytest.raises(ValueError, match="at least one run"):
        study_gaps(SMALL.iloc[:0])


def test_stability_by_hand() -> None:
    """Tests spreads of objectives 100, 110, 120, 150 against bound 100: quartiles 107.5 and 127.5, range 50."""
    frame = runs(
        *(("a", "woa", number, objective, 100, True) for number, objective in enumerate([110, 150, 100, 120])),
        ("b", "woa", 0, 60, 50, False),
        ("b", "woa", 1, 65, 50, False),
        ("c", "woa", 0, 60, 50, False),
        ("a", "heft", 0, 120, 100, True),
    )
    gaps = study_gaps(frame.assign(seed=[*range(1, 8), 0]))
    table = spreads(gaps).set_index("instance")
    assert table.loc["a", ["num_runs", "iqr", "range"]].tolist() == pytest.approx([4, 0.2, 0.5])
    assert table.loc["b", ["num_runs", "iqr", "range"]].tolist() == pytest.approx([2, 0.05, 0.1])
    assert "c" not in table.index
    found = stability(gaps)
    woa, heft = found["woa"], found["heft"]
    assert (woa.mean_iqr, woa.mean_range, woa.largest_range, woa.num_instances) == pytest.approx((0.125, 0.3, 0.5, 2))
    assert not woa.is_deterministic
    assert heft.is_deterministic
    assert (heft.mean_iqr, heft.num_instances) == (None, 0)


def test_only_constructions_and_policies_without_a_seed_are_called_fixed() -> None:
    """Tests that a method is called deterministic where its plan gave it no seed in any run, and not otherwise."""
    frame = runs(("a", "heft", 0, 120, 100, True), ("b", "heft", 0, 120, 100, True), ("a", "woa", 0, 120, 100, True))
    for seeds, expected in (([0, 0, 0], {"heft"}), ([0, 7, 0], set())):
        assert deterministic_labels(study_gaps(frame.assign(seed=seeds))) == expected
    policies = frame.assign(kind="policy", seed=[0, 0, 3])
    assert deterministic_labels(study_gaps(policies)) == {"heft"}
    assert deterministic_labels(study_gaps(frame)) == set()


def test_gap_and_alarm() -> None:
    """Tests a gap by hand, where none is defined, and that a negative one stops everything."""
    assert gap_to_bound(125, 100, method="heft", instance="i") == 0.25
    assert gap_to_bound(100, 100, method="heft", instance="i") == 0.0
    assert gap_to_bound(5, None, method="heft", instance="i") is None
    assert gap_to_bound(5, 0, method="heft", instance="i") is None
    with pytest.raises(ValueError, match=r"gap: expected at least 0, got objective 99 of heft on 'i' below .* 100\."):
        gap_to_bound(99, 100, method="heft", instance="i")


def test_denominators_in_words() -> None:
    """Tests that only proven optima are called optimality gaps, and that missing bounds are told."""
    assert denominators_text(2, "ab") == "All gaps are optimality gaps: the optima of all 2 instances are proven."
    assert denominators_text(2, "ab", 1).endswith(" are proven. On 1 the optimum is 0: no gap there.")
    assert "proven for 1 of 3 instances" in denominators_text(1, "abc")
    assert denominators_text(1, "abc", 1).endswith("On 1 no bound above 0 is proven: no gap there.")
