"""Tests of bounds of many instances side by side."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.figure import Figure

from instances.dag.objective import Objective
from solvers.bound_table import RECORD_COLUMNS, BoundTable
from solvers.run.bound import Bound
from studies.analysis.bound_comparison import BoundComparison
from studies.report.gap_figures import plot_bounds
from tests.check_latex import check_latex

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def _table(instance: DagInstance, name: str, *bounds: Bound) -> BoundTable:
    """Return a table of an instance under another name."""
    return BoundTable(bounds, instance=replace(instance, name=name), objective=Objective.MAKESPAN)


def _bound(method: str, value: int, *, is_optimum: bool = False, confirmed_by: str | None = None) -> Bound:
    """Return a bound."""
    solver = "ortools 9.15" if method == "cp-sat" else None
    return Bound(
        value=value, method=method, proof="x", is_optimum=is_optimum, confirmed_by=confirmed_by, solver=solver, seed=3
    )


@pytest.fixture
def comparison(example_e: DagInstance) -> BoundComparison:
    """Return four instances: confirmed optimum, optimum, open, infeasible."""
    infeasible = _table(example_e, "[d]", _bound("area", 99))
    infeasible.infeasible_by.append("cp-sat")
    return BoundComparison(
        [
            _table(example_e, "a_b%", _bound("area", 10), _bound("cp-sat", 20, is_optimum=True, confirmed_by="MILP")),
            _table(example_e, "b", _bound("join-aware-path", 9), _bound("area", 10, is_optimum=True)),
            _table(example_e, "c", _bound("area", 12, confirmed_by="CP-SAT")),
            infeasible,
        ]
    )


def test_rows(comparison: BoundComparison) -> None:
    """Tests one row per instance, methods in order of appearance, a dash for none, and the marks of the best."""
    assert comparison.headings() == ["instance", "tasks", "edges", "GPUs", "area", "cp-sat", "join-aware-path", "best"]
    assert comparison.rows() == [
        ["a_b%", "5", "5", "2", "10", "20", "-", "20*\N{DAGGER}"],
        ["b", "5", "5", "2", "10", "-", "9", "10*"],
        ["c", "5", "5", "2", "12", "-", "-", "12\N{DAGGER}"],
        ["[d]", "5", "5", "2", "-", "-", "-", "infeasible"],
    ]


def test_ratios_are_to_proven_optima_only(comparison: BoundComparison) -> None:
    """Tests bound over optimum where the optimum is known, and its mean, which is rounded down."""
    assert comparison.ratios("area") == [0.5, 1.0]
    assert comparison.ratios("join-aware-path") == [0.9]
    assert comparison.mean_ratios() == ["0.750", "1.000", "0.900"]
    nearly = [_table(comparison.tables[0].instance, "n", _bound("a", 99999), _bound("b", 100000, is_optimum=True))]
    assert BoundComparison(nearly).mean_ratios() == ["0.999", "1.000"]


def test_optimum_of_zero_has_no_ratio(example_e: DagInstance) -> None:
    """Tests that nothing is divided by 0."""
    made = BoundComparison([_table(example_e, "z", _bound("area", 0, is_optimum=True))])
    assert (made.ratios("area"), made.mean_ratios()) == ([], ["-"])


def test_latex(comparison: BoundComparison) -> None:
    """Tests that the table would compile, row by row, and says what marks mean and what it was made with."""
    latex = comparison.to_latex()
    rows = check_latex(latex)
    assert rows[0] == [
        *("instance", "tasks", "edges", "GPUs", "area"),
        r"\shortstack[r]{cp-\\sat}",
        r"\shortstack[r]{join-\\aware-\\path}",
        "best",
    ]
    assert rows[1:] == [
        [r"a\_b\%", "5", "5", "2", "10", "20", "--", r"20$^{*\dagger}$"],
        ["b", "5", "5", "2", "10", "--", "9", "10$^{*}$"],
        ["c", "5", "5", "2", "12", "--", "--", r"12$^{\dagger}$"],
        ["{[}d]", "5", "5", "2", "--", "--", "--", "infeasible"],
        ["mean of bound/optimum", "", "", "", "0.750", "1.000", "0.900", ""],
    ]
    assert r"\footnotesize $^{*}$ the optimum: a verified schedule meets the bound.} \\" in latex
    assert r"\footnotesize $^{\dagger}$ confirmed: " in latex
    assert latex.splitlines()[1].startswith("% ortools 9.15")
    assert latex.count(f"sha256 {comparison.tables[1].instance.sha256}") == 1


def test_other_headings(comparison: BoundComparison) -> None:
    """Tests that a paper's own names can stand above the columns."""
    rows = check_latex(comparison.to_latex({"join-aware-path": "$B_3$"}))
    assert rows[0][4:] == ["area", r"\shortstack[r]{cp-\\sat}", "$B_3$", "best"]


def test_text_and_html_show_the_same(comparison: BoundComparison) -> None:
    """Tests that both have all cells; the text is aligned."""
    cells = [*comparison.headings(), *(cell for row in comparison.rows() for cell in row)]
    shown = [html.unescape(cell) for cell in re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", comparison._repr_html_())]
    assert shown[: len(cells)] == cells
    lines = str(comparison).splitlines()
    assert lines[0] == "Lower bounds on the makespan"
    assert [line.split()[0] for line in lines if len(line.split()) == 8] == ["instance", "a_b%", "b", "c", "[d]"]
    assert len({len(line) for line in lines[1:4:2]}) == 1


def test_csv_and_frame(comparison: BoundComparison) -> None:
    """Tests one row per instance and bound, under one heading line."""
    rows = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    assert [(row["instance"], row["method"], row["value"]) for row in rows] == [
        ("a_b%", "area", "10"),
        ("a_b%", "cp-sat", "20"),
        ("b", "join-aware-path", "9"),
        ("b", "area", "10"),
        ("c", "area", "12"),
        ("[d]", "area", "99"),
    ]
    assert [row["is_infeasible"] for row in rows] == [*["False"] * 5, "True"]
    frame = comparison.to_frame()
    assert frame.columns.tolist() == list(RECORD_COLUMNS)
    assert frame.groupby("instance")["value"].max().to_dict() == {"a_b%": 20, "b": 10, "c": 12, "[d]": 99}


def test_one_objective(example_e: DagInstance) -> None:
    """Tests that makespans and completion times are not put side by side."""
    other = BoundTable(instance=example_e, objective=Objective.WEIGHTED_COMPLETION)
    with pytest.raises(ValueError, match=r"^tables: expected one objective, got makespan and weighted_completion\.$"):
        BoundComparison([_table(example_e, "a"), other])


def test_nothing_to_compare() -> None:
    """Tests that no instances give an empty table that still compiles."""
    assert BoundComparison([]).rows() == []
    assert len(check_latex(BoundComparison([]).to_latex())) == 1


def test_plot_draws_every_ratio(comparison: BoundComparison) -> None:
    """Tests a point per ratio in the row of its method, a bar up to the mean, and the optimum at 1."""
    ax = plot_bounds(comparison)
    points = [np.asarray(collection.get_offsets()) for collection in ax.collections]
    assert [values[:, 0].tolist() for values in points] == [[0.5, 1.0], [1.0], [0.9]]
    assert [set(np.rint(values[:, 1])) for values in points] == [{1}, {2}, {3}]
    assert [bar.get_width() for bar in ax.patches] == [0.75, 1.0, 0.9]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["area", "cp-sat", "join-aware-path"]
    assert ax.lines[0].get_xdata() == [1.0, 1.0]


def test_plot_takes_axes_and_nothing(example_e: DagInstance) -> None:
    """Tests that given axes are used, and that without a proven optimum there is nothing to draw."""
    ax = Figure().subplots()
    assert plot_bounds(BoundComparison([_table(example_e, "a", _bound("area", 3))]), ax) is ax
    assert len(ax.collections) == 0
