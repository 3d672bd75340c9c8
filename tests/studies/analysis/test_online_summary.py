"""Tests of the paired tests of mean JCT: ratios, intervals over instances and over seeds, p-values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from studies.analysis.online_summary import jct_test_table, jct_tests, online_summary, seed_ratios


def _runs(label: str, jcts: list[float | None], *, repetition: int = 0, **more: object) -> list[dict[str, Any]]:
    """Return the runs of a method on the instances a, b, ..."""
    place = {"family": "jobs-co-located", "cluster": "mixed-64", "setting": "-", "jobs": 9, "load": 0.9, "budget": "-"}
    return [
        place | {"label": label, "instance": name, "jct_mean": jct, "repetition": repetition} | more
        for name, jct in zip("abcdefgh", jcts, strict=False)
    ]


def test_summary_by_hand() -> None:
    """Tests the columns of two instances, one of them without a schedule, and of one instance, which has a name."""
    more = {f"jct_{name}": 8.0 for name in ("p50", "p95", "p99", "max")} | {"tick_seconds": 0.5, "is_optimum": True}
    more |= {"utilisation": 0.25, "stretch_mean": 2.0, "gap": 0.5, "objective": 30.0, "bound": 20.0, "factor": 1.5}
    runs = _runs("fifo", [6.0, 9.0], **more) + _runs("fifo", [7.0], load=1.1, **more)
    runs[0] |= {"objective": 90.0, "jct_p99": 4.0}
    lost = _runs("srtf", [None], **more | {"objective": None})
    both, single, none = online_summary(pd.DataFrame(runs + lost)).to_dict("records")
    assert pd.isna(both["instance"])
    assert (both["instances"], single["instance"], single["instances"]) == (2, "a", 1)
    assert (both["jct_mean"], both["objective"], both["jct_p99"], both["ratio"]) == (7.5, 60.0, 6.0, 4.5)
    assert (both["without_schedule"], none["without_schedule"], both["all_optima"]) == (0, 1, True)
    assert (both["utilisation"], both["stretch"], both["factor"], both["tick_seconds"]) == (0.25, 2.0, 1.5, 0.5)


def test_ratio_and_p_by_hand() -> None:
    """Tests a method that is 10 % shorter on six instances: p = 2 / 2 ** 6, and twice that after Holm for two."""
    other = [10.0, 20.0, 40.0, 80.0, 160.0, 320.0]
    runs = _runs("base", other) + _runs("short", [0.9 * jct for jct in other]) + _runs("same", other)
    tests = jct_tests(pd.DataFrame(runs), "base").set_index("label")
    short, same = tests.loc["short"], tests.loc["same"]
    assert (short["ratio"], short["low"], short["high"]) == pytest.approx((0.9, 0.9, 0.9))
    assert (short["pairs"], short["shorter"], same["shorter"]) == (6, 6, 0)
    assert (short["p_value"], short["holm_p_value"]) == (2 / 2**6, 2 * 2 / 2**6)
    assert (same["ratio"], same["p_value"]) == (1, 1)


def test_trainings_are_averaged_before_the_test() -> None:
    """Tests that an instance counts once, however many trainings it has, and that trainings have an interval."""
    runs = _runs("marl", [8.0, 16.0]) + _runs("marl", [12.0, 24.0], repetition=1) + _runs("fifo", [10.0, 20.0])
    (row,) = jct_tests(pd.DataFrame(runs), "fifo").to_dict("records")
    assert (row["pairs"], row["ratio"]) == (2, pytest.approx(1.0))
    logarithms = np.log([0.8, 1.2])
    half = 12.7062047 * logarithms.std(ddof=1) / math.sqrt(2)  # Student, one degree of freedom
    ends = (math.exp(logarithms.mean() - half), math.exp(logarithms.mean() + half))
    assert (row["seeds_low"], row["seeds_high"]) == pytest.approx(ends)


def test_trainings_of_two_methods_are_paired() -> None:
    """Tests that training k is held against training k, one run against all of them, and 2 not against 3."""
    runs = _runs("trained", [5.0, 10.0]) + _runs("trained", [40.0, 80.0], repetition=1)
    runs += _runs("imitated", [10.0, 20.0]) + _runs("imitated", [80.0, 160.0], repetition=1)
    frame = pd.DataFrame(runs + _runs("fifo", [10.0, 10.0]))
    assert seed_ratios(frame, "trained", "imitated") == pytest.approx(np.log([0.5, 0.5]))
    (row,) = (row for row in jct_tests(frame, "imitated").to_dict("records") if row["label"] == "trained")
    assert (row["seeds_low"], row["seeds_high"]) == pytest.approx((0.5, 0.5))
    assert seed_ratios(frame, "fifo", "trained") == pytest.approx(np.log([math.sqrt(2), math.sqrt(1 / 32)]))
    three = pd.concat([frame, pd.DataFrame(_runs("imitated", [1.0, 1.0], repetition=2))])
    assert len(seed_ratios(three, "trained", "imitated")) == 0


def test_places_are_tested_apart() -> None:
    """Tests that each load has rows and a correction of its own, and lost runs leave pairs out."""
    runs = _runs("base", [1.0, 2.0, 3.0]) + _runs("x", [2.0, None, 6.0])
    runs += _runs("base", [1.0], load=1.1) + _runs("x", [3.0], load=1.1) + _runs("x", [3.0], load=0.5)
    table = jct_test_table(pd.DataFrame(runs), "base", "-")
    assert table.headings == ("load", "method", "pairs", "ratio", "interval", "over seeds", "shorter", "p", "p Holm")
    assert table.rows == (
        ("0.9", "x", "2", "2", "[2, 2]", "-", "0", "0.5000", "0.5000"),
        ("1.1", "x", "1", "3", "-", "-", "0", "1.0000", "1.0000"),
    )
    assert table.to_dict()["rows"][1]["ratio"] == pytest.approx(3)


def test_the_baseline_must_be_there() -> None:
    """Tests that a label that nobody has is refused with those that there are."""
    with pytest.raises(ValueError, match=r"baseline: expected one of x, got 'y'\."):
        jct_tests(pd.DataFrame(_runs("x", [1.0])), "y")
