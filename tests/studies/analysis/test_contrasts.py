"""Tests of chosen pairs of methods and of tables of factors, with numbers by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from studies.analysis.contrasts import contrast_table, contrasts, factor_table
from studies.analysis.grouped_comparison import grouped_comparison


def _frame(num: int = 6) -> pd.DataFrame:
    """Return two methods on instances with bound 100: the first is better by 10, 20, ... but for one instance."""
    rows = [
        {
            "instance": f"i{number}",
            "sha256": f"{number}",
            "size": number % 2,
            "label": label,
            "kind": "construction",
            "budget": "-",
            "repetition": 0,
            "objective": objective,
            "bound": 100,
            "gap": objective / 100 - 1,
            "is_optimum": False,
            "error": "",
        }
        for number in range(num)
        for label, objective in (("net; rank", 150 if number else 170), ("none; rank", 160 + 10 * number))
    ]
    return pd.DataFrame(rows)


def test_numbers_by_hand() -> None:
    """Tests differences +10, -20, -30, -40, -50, -60: mean -31.67, better on 5 of 6, p = 2 x 2 / 64."""
    (row,) = contrasts(_frame(), [("net; rank", "none; rank")]).to_dict("records")
    assert (row["num_pairs"], row["better"]) == (6, 5)
    assert row["difference"] == pytest.approx(-190 / 600)
    assert (row["gap"], row["other_gap"]) == (pytest.approx(320 / 600), pytest.approx(510 / 600))
    assert row["low"] < row["difference"] < row["high"] < 0
    assert row["p_value"] == row["holm_p_value"] == pytest.approx(2 * 2 / 64)
    assert row["least_holm_p_value"] == pytest.approx(2 / 64)


def test_groups_and_both_directions() -> None:
    """Tests that groups are compared on their own instances, with one correction over all rows."""
    found = contrasts(_frame(), [("net; rank", "none; rank"), ("none; rank", "net; rank")], by="size")
    assert found["group"].tolist() == ["0", "0", "1", "1"]
    assert found["num_pairs"].tolist() == [3] * 4
    assert found["difference"].tolist() == pytest.approx([-0.7 / 3, 0.7 / 3, -0.4, 0.4])
    assert found["least_holm_p_value"].tolist() == pytest.approx([1.0] * 4)
    assert "CAN SHOW NO SIGNIFICANCE" in contrast_table(_frame(), [("net; rank", "none; rank")], by="size").notes[0]
    assert "CAN SHOW NO" not in contrast_table(_frame(9), [("net; rank", "none; rank")]).notes[0]
    mixed = _frame(14).assign(size=lambda frame: (frame["instance"].isin(["i0", "i1", "i2"])).astype(int))
    (note,) = contrast_table(mixed, [("net; rank", "none; rank")], by="size").notes
    assert note.endswith("can be below 0.0020; NO SIGNIFICANCE CAN BE SHOWN by the rows of 1 (0.5000).")


def test_misuse_is_named() -> None:
    """Tests the messages for an unknown label and an unknown column."""
    with pytest.raises(ValueError, match="pairs: expected one of net; rank, none; rank, got 'net'"):
        contrasts(_frame(), [("net", "none; rank")])
    with pytest.raises(ValueError, match="by: expected one of"):
        contrasts(_frame(), [("net; rank", "none; rank")], by="colour")


def test_factors_by_hand() -> None:
    """Tests levels, means of every group and the number of instances."""
    table = factor_table(_frame(), ["placement", "order"], by="size")
    assert table.headings == ("placement", "order", "size 0", "size 1")
    assert table.rows == (
        ("net", "rank", "56.67", "50.00"),
        ("none", "rank", "80.00", "90.00"),
        ("instances", "", "3", "3"),
    )


def test_groups_without_power_say_so() -> None:
    """Tests that a table by groups names the groups in which no mark is possible, and no others."""
    few = grouped_comparison(_frame(), "size", baseline="net; rank").notes()
    assert any("No mark is possible" in note and "0 (0.25), 1 (0.25)" in note for note in few)
    many = grouped_comparison(_frame(14), "size", baseline="net; rank").notes()
    assert not any("No mark is possible" in note for note in many)
