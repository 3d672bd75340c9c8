"""Tests of the table of a study: numbers by hand, and every form of it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from solvers.table import latex_number
from studies.analysis.comparison import MethodComparison, compare_methods
from studies.analysis.gaps import study_gaps
from studies.analysis.paired_tests import wilcoxon
from studies.text import p_text, points
from tests.check_latex import check_latex
from tests.studies.analysis.synthetic_study import synthetic_study

BUDGET = "2000 evaluations"
FAMILIES = ("pipeline", "stencil", "transformer")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Twelve instances; ga has no schedule on one of them, and one run of woa is killed."""
    made = synthetic_study()
    made.loc[(made["label"] == "ga") & (made["instance"] == "instance-3"), ["objective", "gap"]] = np.nan
    killed = (made["label"] == "woa") & (made["instance"] == "instance-4") & (made["repetition"] == 1)
    made.loc[killed & (made["budget"] == BUDGET), "error"] = "killed: more than 2 GiB"
    return made


@pytest.fixture(scope="module")
def comparison(frame: pd.DataFrame) -> MethodComparison:
    """Return everything against worl-rtgs."""
    return compare_methods(frame, budget=BUDGET, baseline="worl-rtgs")


def small() -> pd.DataFrame:
    """Three instances with bound 100, two methods with two runs each, one construction."""
    rows = []
    table = {"woa": ((110, 130), (120, 120), (100, 140)), "ga": ((110, 110), (100, 100), (120, 120)), "heft": ()}
    table["heft"] = ((130,), (120,), (150,))
    for label, objectives in table.items():
        for number, runs in enumerate(objectives):
            for repetition, objective in enumerate(runs):
                rows.append(
                    {
                        "instance": f"i{number}",
                        "family": "chain" if number else "tree",
                        "label": label,
                        "kind": "construction" if label == "heft" else "search",
                        "budget": "-" if label == "heft" else "9 evaluations",
                        "repetition": repetition,
                        "objective": objective,
                        "bound": 100,
                        "is_optimum": True,
                        "error": "",
                    }
                )
    return pd.DataFrame(rows)


def test_numbers_by_hand() -> None:
    """Tests every number of a small table: means over seeds are 20, 20, 20 for woa, 10, 0, 20 for ga."""
    table = compare_methods(small(), baseline="ga")
    assert [row.label for row in table.methods] == ["ga", "woa", "heft"]
    woa, ga, heft = table["woa"], table["ga"], table["heft"]
    assert (woa.num_runs, heft.num_runs, woa.num_failed, woa.num_without_schedule) == (6, 3, 0, 0)
    assert (woa.num_optimal, woa.num_with_known_optimum, ga.share_optimal) == (1, 6, pytest.approx(1 / 3))
    assert (woa.mean_gap, woa.median_gap, woa.worst_gap) == pytest.approx((0.2, 0.2, 0.4))
    assert (woa.lower_quartile, woa.upper_quartile, woa.high_gap) == pytest.approx((0.125, 0.275, 0.35))
    # Ranks: i0 ga, woa, heft; i1 ga, then woa and heft tied; i2 woa and ga tied, heft.
    assert (ga.average_rank, woa.average_rank, heft.average_rank) == pytest.approx((3.5 / 3, 6 / 3, 8.5 / 3))
    rival = woa.rivalry
    assert rival is not None
    assert (rival.num_pairs, rival.median_difference) == (3, pytest.approx(0.1))
    # Differences 10, 20 and 0: ranks 2, 3 and none; all of the 4 sign patterns leave a side at 0 twice: p 1/2.
    assert (rival.p_value, rival.effect) == (pytest.approx(0.5), 1.0)
    # heft: 20, 20 and 30, three of one sign: p 1/4; Holm: 2 x 1/4, then 1/2.
    assert heft.rivalry is not None
    assert (heft.rivalry.p_value, heft.rivalry.holm_p_value, rival.holm_p_value) == pytest.approx((0.25, 0.5, 0.5))
    assert ga.rivalry is None
    assert (woa.stability.mean_range, woa.stability.mean_iqr) == pytest.approx((0.2, 0.1))


def test_common_instances_are_compared_and_the_rest_is_told(comparison: MethodComparison, frame: pd.DataFrame) -> None:
    """Tests that lacking runs are counted, pairs are those of both, and the notes say so."""
    ga, woa = comparison["ga"], comparison["woa"]
    assert (ga.num_runs, ga.num_without_schedule, ga.num_failed, ga.num_instances) == (60, 5, 0, 11)
    assert (woa.num_runs, woa.num_without_schedule, woa.num_failed, woa.num_instances) == (60, 0, 1, 12)
    assert ga.rivalry is not None
    assert ga.rivalry.num_pairs == 11
    assert comparison.num_ranked_instances == 11
    assert comparison.incomplete == {"ga": 1}
    assert comparison.partial == {"woa": 1}
    notes = " ".join(comparison.notes())
    assert "ga has no gap on 1 of 12 instances" in notes
    assert "woa lacks some runs on 1 of 12 instances" in notes
    assert "over the 11 instances where all methods have one" in notes
    proven = frame["is_optimum"] | (frame["objective"] == frame["bound"])  # a schedule that meets a bound proves it
    assert f"proven for {frame.loc[proven, 'instance'].nunique()} of 12" in notes


def test_tests_are_over_means_per_instance(comparison: MethodComparison, frame: pd.DataFrame) -> None:
    """Tests the p-value of a rival against one computed from the frame alone."""
    runs = frame[(frame["budget"] == BUDGET) & frame["label"].isin(["random-search", "worl-rtgs"])]
    means = runs.groupby(["instance", "label"])["gap"].mean().unstack()
    test = wilcoxon((means["random-search"] - means["worl-rtgs"]).to_numpy())
    rival = comparison["random-search"].rivalry
    assert rival is not None
    assert test is not None
    assert rival.p_value == pytest.approx(test.p_value)
    assert rival.holm_p_value is not None
    assert rival.p_value <= rival.holm_p_value <= 5 * rival.p_value
    assert rival.interval is not None
    assert rival.interval.low < (rival.median_difference or 0) < rival.interval.high


def test_text_fits_a_terminal(comparison: MethodComparison, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that all lines fit 80 columns, numbers are whole, and every method is there."""
    monkeypatch.setenv("COLUMNS", "80")
    text = comparison.to_text()
    assert max(len(line) for line in text.splitlines()) <= 80
    assert str(comparison) == text
    assert repr(comparison) == (
        "<MethodComparison: Gaps on 12 instances at 2000 evaluations, 6 methods, baseline worl-rtgs>"
    )
    for row in comparison.methods:
        assert text.count(f" {row.label} ") >= 2
    assert "fixed" in text
    assert "p Holm" in text
    assert "p Holm" not in compare_methods(comparison.frame, budget=BUDGET).to_text()


def test_latex_compiles(comparison: MethodComparison) -> None:
    """Tests that the table for papers has one row per method and commands of LaTeX and booktabs only."""
    head, *rows = check_latex(comparison.to_latex())
    assert head[0] == "method"
    assert [row[0] for row in rows] == [row.label for row in comparison.methods]
    chosen = check_latex(comparison.to_latex(["method", "med %", "p Holm"]))
    assert chosen[0] == ["method", r"med \%", "p Holm"]
    assert latex_number("-<0.01") == "$-{<}0.01$"
    assert latex_number("<0.01") == r"\textless{}0.01"


def test_markdown_has_equal_rows(comparison: MethodComparison) -> None:
    """Tests that every row has as many cells as the heading."""
    lines = [line for line in comparison.to_markdown().splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(comparison.methods)
    assert {line.count(" | ") for line in lines} == {lines[0].count(" | ")}


def test_views_agree(comparison: MethodComparison) -> None:
    """Tests that CSV, JSON and HTML show the same numbers."""
    rows = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    document = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert [row["label"] for row in rows] == [row["label"] for row in document["methods"]]
    for read, written in zip(rows, document["methods"], strict=True):
        assert float(read["mean_gap"]) == written["mean_gap"]
        assert (read["holm_p_value"] == "") == (written["holm_p_value"] is None)
    pd.testing.assert_frame_equal(
        pd.read_csv(io.StringIO(comparison.to_csv())), comparison.to_frame(), check_dtype=False
    )
    groups = comparison.by("family")
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(groups.to_csv())), groups.to_frame(), check_dtype=False)
    html = comparison._repr_html_()
    assert f"{100 * document['methods'][0]['median_gap']:.2f}" in html


def test_groups(comparison: MethodComparison, frame: pd.DataFrame) -> None:
    """Tests that a family's table is that of its instances alone, and that the groups stand side by side."""
    groups = comparison.by("family")
    assert list(groups.groups) == ["pipeline", "stencil", "transformer"]
    alone = compare_methods(frame[frame["family"] == "stencil"], budget=BUDGET, baseline="worl-rtgs")
    assert groups["stencil"].to_csv() == alone.to_csv()
    assert groups.rows()[-2] == ["instances", "4", "4", "4"]
    proven = study_gaps(frame, BUDGET).runs.drop_duplicates("instance").groupby("family")["is_optimum"].sum()
    assert groups.rows()[-1] == ["optima proven", *(str(count) for count in proven)]
    head, *rows = check_latex(groups.to_latex())
    assert head == ["method", "pipeline", "stencil", "transformer"]
    assert len(rows) == 8
    assert "5 of 252 runs" not in groups.to_text()
    assert "family pipeline: 5 of 88 runs failed or have no schedule" in groups.to_text().replace("\n", " ")
    assert len(list(csv.DictReader(io.StringIO(groups.to_csv())))) == 18
    assert json.dumps(groups.to_dict(), allow_nan=False)
    assert "<table>" in groups._repr_html_()
    with pytest.raises(ValueError, match="by: expected size or one of"):
        comparison.by("colour")


def test_groups_of_two_columns_and_other_statistics(
    comparison: MethodComparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests families times sizes, each statistic by its name, and pieces of wide tables."""
    groups = comparison.by("family+size", "worst")
    assert list(groups.groups) == [f"{family}, {size}" for family in FAMILIES for size in (20, 30)]
    assert groups.title == "Worst gaps in % by family and tasks at 2000 evaluations"
    worst = groups["stencil, 20"]["woa"].worst_gap
    assert worst is not None
    row = next(cells for cells in groups.rows() if cells[0] == "woa")
    assert row[3].rstrip("+*") == f"{100 * worst:.2f}"
    monkeypatch.setenv("COLUMNS", "80")
    text = groups.to_text()
    assert max(len(line) for line in text.splitlines()) <= 80
    assert text.count("continued") == 1
    assert sum(line.startswith(" woa ") for line in text.splitlines()) == 2  # every piece names the methods
    assert all(f" {name}" in text for name in groups.groups)
    assert comparison.by("size", "optimal").rows()[0][1].replace(".", "").isdigit()
    with pytest.raises(ValueError, match="statistic: expected one of mean, median, .*, got 'best'"):  # noqa: RUF043
        comparison.by("size", "best")


def test_groups_are_marked_where_the_difference_is_significant() -> None:
    """Tests marks on six clear instances in either direction: p is 2 / 2 ** 6, two rivals."""
    rows = []
    for number in range(6):
        for label, objective in (("base", 150), ("worse", 160 + number), ("better", 120 + number)):
            run = {"instance": f"i{number}", "family": "all", "label": label, "kind": "search", "budget": "1 s"}
            rows.append({**run, "repetition": 0, "objective": objective, "bound": 100, "is_optimum": True})
    groups = compare_methods(pd.DataFrame(rows).assign(error=None), baseline="base").by("family")
    assert groups["all"]["worse"].rivalry.holm_p_value == pytest.approx(2 * 2 / 64)  # type: ignore[union-attr]
    assert not any(cell[-1] in "+*" for _, cell in groups.rows())
    more = [{**row, "instance": f"j{row['instance']}"} for row in rows]
    marked = compare_methods(pd.DataFrame(rows + more).assign(error=None), baseline="base").by("family")
    assert {label: cell[-1] for label, cell in marked.rows()[:3]} == {"base": "0", "worse": "+", "better": "*"}
    assert check_latex(marked.to_latex())


def test_few_instances_are_told_what_they_cannot_show() -> None:
    """Tests that the note names the smallest p that three instances can give to two rivals: 2 x 2 / 8."""
    assert "With 3 instances no smallest p can be below 0.5000" in compare_methods(
        small(), baseline="ga"
    ).to_text().replace("\n", " ")


def test_a_method_without_any_schedule_stays_in_the_table() -> None:
    """Tests that it has its row, is not ranked, and the others are ranked without it."""
    frame = small()
    frame.loc[frame["label"] == "ga", "objective"] = np.nan
    table = compare_methods(frame, baseline="woa")
    ga = table["ga"]
    assert table.methods[-1].label == "ga"
    assert (ga.num_without_schedule, ga.mean_gap, ga.average_rank) == (6, None, None)
    assert ga.rivalry is not None
    assert (ga.rivalry.num_pairs, ga.rivalry.p_value, ga.rivalry.holm_p_value) == (0, None, None)
    assert table.num_ranked_instances == 3
    assert "all methods but ga have one" in table.to_text().replace("\n", " ")
    assert check_latex(table.to_latex())


def test_misuse(frame: pd.DataFrame) -> None:
    """Tests that unknown baselines, columns and labels are named."""
    with pytest.raises(ValueError, match="baseline: expected one of worl-rtgs, .* got 'sa'"):  # noqa: RUF043
        compare_methods(frame, budget=BUDGET, baseline="sa")
    table = compare_methods(frame, budget=BUDGET)
    with pytest.raises(ValueError, match="columns: expected one of method, .*, got 'colour'"):  # noqa: RUF043
        table.to_latex(["colour"])
    with pytest.raises(KeyError, match="sa"):
        table["sa"]


def test_small_numbers_are_not_rounded_to_nothing() -> None:
    """Tests texts of p-values and differences near 0."""
    assert [p_text(value) for value in (None, 0.5, 0.00004, 1.0)] == ["-", "0.5000", "<0.0001", "1.0000"]
    assert [points(value) for value in (None, 0.0, 0.012, -0.012, 1e-5, -1e-5)] == [
        "-",
        "0.00",
        "+1.20",
        "-1.20",
        "+<0.01",
        "-<0.01",
    ]
