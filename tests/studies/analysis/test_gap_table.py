"""Tests of the gap table against numbers computed by hand."""

from __future__ import annotations

import json

import pytest

from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from solvers.result import Result
from solvers.run.bound import Bound
from solvers.run.outcome import Termination
from studies.analysis.gap_table import gap_table


def result(
    instance: DagInstance,
    method: str,
    objective: int | None,
    bound: int | None,
    *,
    is_optimum: bool = False,
    minimised: Objective = Objective.MAKESPAN,
) -> Result:
    """Return a result whose only task ends at `objective`."""
    start = None if objective is None else objective - int(instance.durations[0, 0])
    return Result(
        instance=instance,
        method=method,
        objective_name=minimised,
        schedule=None if start is None else DagSchedule(gpu=[0], start=[start]),
        bound=None if bound is None else Bound(value=bound, method="by hand", proof="said so", is_optimum=is_optimum),
        termination=Termination.FINISHED,
        runtime_seconds=0.5,
        parameters={},
        seed=7,
        threads=1,
    )


@pytest.fixture(scope="module")
def ten() -> DagInstance:
    """One task of 10 ticks."""
    return DagInstance.from_lists([[10]], name="ten")


@pytest.fixture(scope="module")
def twenty() -> DagInstance:
    """One task of 20 ticks."""
    return DagInstance.from_lists([[20]], name="twenty")


@pytest.fixture(scope="module")
def thirty() -> DagInstance:
    """One task of 30 ticks."""
    return DagInstance.from_lists([[30]], name="thirty")


@pytest.fixture(scope="module")
def results(ten: DagInstance, twenty: DagInstance, thirty: DagInstance) -> list[Result]:
    """Three instances, on the last of which nobody proves the optimum; `lazy` finds one schedule less."""
    return [
        result(ten, "exact", 10, 10, is_optimum=True),
        result(ten, "quick", 12, 5),
        result(ten, "lazy", 15, None),
        result(twenty, "exact", 20, 20, is_optimum=True),
        result(twenty, "quick", 20, 4),
        result(twenty, "lazy", None, 1),
        result(thirty, "exact", 33, 25),
        result(thirty, "quick", 40, 24),
        result(thirty, "lazy", 30, 1),
    ]


def test_gaps_are_against_the_best_bound_of_all_results(results: list[Result]) -> None:
    """Tests that every gap has the largest bound of its instance as denominator, whoever proved it."""
    table = gap_table(results)
    assert [instance.bound.value for instance in table.instances if instance.bound] == [10, 20, 25]
    assert [run.gap for run in table.runs] == [0.0, 0.2, 0.5, 0.0, 0.0, None, 8 / 25, 15 / 25, 5 / 25]


def test_rows_summarise_methods(results: list[Result]) -> None:
    """Tests means, medians, worst gaps and counts by hand, ordered by the median."""
    rows = {row.method: row for row in gap_table(results).methods}
    assert list(rows) == ["exact", "quick", "lazy"]  # medians 0, 0.2, 0.35
    exact, quick, lazy = rows["exact"], rows["quick"], rows["lazy"]
    assert (exact.mean_gap, exact.median_gap, exact.worst_gap) == pytest.approx((0.32 / 3, 0.0, 0.32))
    assert (quick.mean_gap, quick.median_gap, quick.worst_gap) == pytest.approx((0.8 / 3, 0.2, 0.6))
    assert (lazy.mean_gap, lazy.median_gap, lazy.worst_gap) == pytest.approx((0.35, 0.35, 0.5))
    assert [row.num_optimal for row in rows.values()] == [2, 1, 0]
    assert [(row.num_runs, row.num_without_schedule) for row in rows.values()] == [(3, 0), (3, 0), (3, 1)]
    assert quick.mean_seconds == 0.5


def test_table_says_what_is_proven(results: list[Result]) -> None:
    """Tests that gaps are called optimality gaps only where every optimum is proven."""
    table, proven = gap_table(results), gap_table(results[:6])
    assert [instance.is_optimum for instance in table.instances] == [True, True, False]
    assert (table.is_proven, table.num_proven, proven.is_proven) == (False, 2, True)
    assert table.denominators().startswith("The optimum is proven for 2 of 3 instances")
    assert proven.denominators() == "All gaps are optimality gaps: the optima of all 2 instances are proven."


def test_two_results_prove_an_optimum_together(ten: DagInstance) -> None:
    """Tests that a schedule of one result that reaches the bound of another makes it the optimum."""
    table = gap_table([result(ten, "bounds", None, 10), result(ten, "finds", 10, 3)])
    assert table.is_proven
    assert [row.num_optimal for row in table.methods] == [1, 0]


def test_negative_gap_is_an_error(ten: DagInstance) -> None:
    """Tests that a bound of one result above the objective of another raises."""
    with pytest.raises(
        ValueError, match="gap: expected at least 0, got objective 10 of quick on 'ten' below the proven"
    ):
        gap_table([result(ten, "exact", 12, 11), result(ten, "quick", 10, None)])


def test_two_optima_are_an_error(ten: DagInstance) -> None:
    """Tests that a bound above what another result calls the optimum raises, even without a schedule."""
    with pytest.raises(ValueError, match="gap: expected bounds up to the optimum 9 of by hand on 'ten', got 10"):
        gap_table([result(ten, "a", None, 9, is_optimum=True), result(ten, "b", None, 10)])


def test_objectives_are_not_mixed(ten: DagInstance) -> None:
    """Tests that results that minimise different things are refused."""
    mixed = [
        result(ten, "a", 10, 10),
        result(ten, "a", 10, 10, minimised=Objective.WEIGHTED_COMPLETION),
    ]
    with pytest.raises(ValueError, match="results: expected one objective, got makespan and weighted_completion"):
        gap_table(mixed)


def test_no_bound_no_gap(ten: DagInstance) -> None:
    """Tests that without a bound, or with bound 0, there is no gap, and the method stands last."""
    empty = DagInstance.from_lists([[0]], name="empty")
    table = gap_table(
        [result(ten, "unbounded", 10, None), result(empty, "nothing", 0, 0), result(ten, "z", None, None)]
    )
    assert [run.gap for run in table.runs] == [None, None, None]
    assert [instance.is_optimum for instance in table.instances] == [False, True]
    assert [run.is_optimal for run in table.runs] == [False, True, False]
    assert all(row.median_gap is None for row in table.methods)


def test_table_is_json(results: list[Result]) -> None:
    """Tests that the dictionary survives JSON and holds every run."""
    document = gap_table(results).to_dict()
    assert json.loads(json.dumps(document)) == document
    assert document["runs"][1] == {
        "method": "quick",
        "instance": 0,
        "seed": 7,
        "objective": 12,
        "gap": 0.2,
        "is_optimal": False,
        "runtime_seconds": 0.5,
    }
    assert document["instances"][2]["bound"]["value"] == 25


def test_text_fits_80_columns(results: list[Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the table fits 80 columns and shows the numbers."""
    monkeypatch.setenv("COLUMNS", "80")
    text = str(gap_table(results))
    assert max(map(len, text.splitlines())) <= 80
    assert ["quick", "3", "0", "1", "26.67", "20.00", "60.00", "0.5000"] in [line.split() for line in text.splitlines()]
    assert "<b>Gaps of the makespan over" in gap_table(results)._repr_html_()
