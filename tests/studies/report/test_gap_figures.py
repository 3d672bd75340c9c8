"""Tests of the box plot: the data drawn."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from studies.analysis.gap_table import GapInstance, GapRun, GapTable, MethodGaps
from studies.report.gap_figures import plot_gaps


def gap_table_of(gaps: dict[str, list[float]], *, is_optimum: bool = True) -> GapTable:
    """Return a table with these gaps per method, in this order."""
    return GapTable(
        objective_name="makespan",
        methods=tuple(
            MethodGaps(
                method=method,
                num_runs=len(values),
                num_without_schedule=0,
                num_optimal=values.count(0.0),
                mean_gap=float(np.mean(values)) if values else None,
                median_gap=float(np.median(values)) if values else None,
                worst_gap=max(values, default=None),
                mean_seconds=1.0,
            )
            for method, values in gaps.items()
        ),
        instances=(GapInstance(name="i", sha256="0", bound=None, is_optimum=is_optimum),),
        runs=tuple(
            GapRun(method=method, instance=0, seed=0, objective=1, gap=gap, is_optimal=gap == 0, runtime_seconds=1.0)
            for method, values in gaps.items()
            for gap in values
        ),
    )


SMALL = {"best": [0.0, 0.0, 0.1], "middle": [0.1, 0.2, 0.3], "none": []}


def test_every_run_is_a_point() -> None:
    """Tests that all gaps are drawn in percent, in the row of their method, and methods without gaps left out."""
    ax = plot_gaps(gap_table_of(SMALL))
    points = [np.asarray(collection.get_offsets()) for collection in ax.collections]
    assert [values[:, 0].tolist() for values in points] == [pytest.approx([0, 0, 10]), pytest.approx([10, 20, 30])]
    assert [set(np.rint(values[:, 1])) for values in points] == [{1}, {2}]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["best", "middle"]


def test_equal_gaps_stay_visible() -> None:
    """Tests that points with the same gap do not cover each other."""
    ax = plot_gaps(gap_table_of({"best": [0.0, 0.0, 0.0]}))
    assert len(np.unique(ax.collections[0].get_offsets(), axis=0)) == 3


def test_best_method_is_on_top() -> None:
    """Tests that rows follow the table, from above."""
    low, high = plot_gaps(gap_table_of(SMALL)).get_ylim()
    assert low > high


def test_axis_says_what_the_gap_is() -> None:
    """Tests that gaps to bounds are not called optimality gaps, and that the optimum is marked at 0."""
    proven, unproven = plot_gaps(gap_table_of(SMALL)), plot_gaps(gap_table_of(SMALL, is_optimum=False))
    assert proven.get_xlabel() == "optimality gap in %"
    assert unproven.get_xlabel() == "gap to the best proven bound in %"
    assert list(proven.lines[0].get_xdata()) == [0.0, 0.0]


def test_wide_range_has_a_logarithmic_axis_with_a_zero() -> None:
    """Tests that gaps beyond 100 % switch to an axis on which small gaps are still seen."""
    ax = plot_gaps(gap_table_of({"a": [0.0, 0.01], "b": [5.0, 9.0]}))
    assert ax.get_xscale() == "symlog"
    assert ax.get_xlim()[0] < 0 < 900 < ax.get_xlim()[1]
    assert "logarithmic from 10 on" in ax.get_xlabel()
    assert plot_gaps(gap_table_of(SMALL)).get_xscale() == "linear"


def test_draws_where_it_is_told() -> None:
    """Tests that the axes passed in are used and returned."""
    ax = Figure().subplots()
    assert plot_gaps(gap_table_of(SMALL), ax) is ax


def test_nothing_to_draw() -> None:
    """Tests that a table without gaps gives empty axes."""
    ax = plot_gaps(gap_table_of({"none": []}))
    assert (len(ax.collections), ax.get_yticklabels()) == (0, [])
