"""Tests of gaps to the bounds of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from solvers.run.contradiction import ContradictionError
from studies.library.gaps import library_gaps
from studies.library.update import UpdatePlan, update_library
from tests.studies.library.small_library import small_library

if TYPE_CHECKING:
    from pathlib import Path

    from instances.library.library import Library


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return a small library whose optima are known, but for that of the sweep."""
    monkeypatch.chdir(tmp_path)
    library = small_library(tmp_path / "library")
    library = update_library(library, [library.entry("layered-8", "makespan")], UpdatePlan(methods=["heft", "cp-sat"]))
    return update_library(library, [library.entry("sweep-7", "makespan")], UpdatePlan(methods=["critical-path"]))


def frame(library: Library, rows: list[tuple[str, str, int | None]], bound: int | None = None) -> pd.DataFrame:
    """Return runs as the engine's frame has them: instance, label, objective."""
    records = [
        {
            "instance": name,
            "sha256": library.named(name).sha256 if name in library.catalogue else "0" * 64,
            "family": "file",
            "tasks": 0,
            "gpus": 2,
            "label": label,
            "budget": "-" if label == "heft" else "9 evaluations",
            "objective": objective,
            "bound": bound,
        }
        for name, label, objective in rows
    ]
    return pd.DataFrame(records)


def known(library: Library, name: str) -> tuple[int, int | None]:
    """Return the bound and the objective of the ledger."""
    entry = library.entry(name, "makespan")
    assert entry.bound is not None
    return entry.bound.value, None if entry.schedule is None else entry.schedule.objective


def test_gaps_to_the_ledger(library: Library) -> None:
    """Tests that gaps are to the ledger's bounds, that optima are known by it, and how the tables count."""
    optimum, bound = known(library, "layered-8")[0], known(library, "sweep-7")[0]
    runs = frame(
        library,
        [
            ("layered-8", "heft", 2 * optimum),
            ("layered-8", "woa", optimum),
            ("sweep-7", "heft", 3 * bound),
            ("sweep-7", "woa", None),
            ("elsewhere", "woa", 1),
        ],
    )
    gaps = library_gaps(runs, library, objective_name="makespan")
    assert gaps.runs["gap"].tolist()[:3] == [1.0, 0.0, 2.0]
    assert gaps.runs["gap"].isna().tolist() == [False, False, False, True]
    assert gaps.runs["is_optimum"].tolist() == [True, True, False, False]
    assert gaps.runs["size"].tolist() == [8, 8, 7, 7]
    table = gaps.by_size()
    assert list(table.index) == ["woa", "heft"]
    assert table.loc["heft"].tolist() == [1.5, 1.5, 1.5, 0.0, 0]
    assert table.loc["woa"].tolist() == [0.0, 0.0, 0.0, 1.0, 1]
    assert list(table.columns) == ["to 16", "all", "median", "optima %", "none"]
    families = gaps.by_family()
    assert families.loc["layered"].tolist() == [0.0, 1.0]
    assert families.loc["sweep", "heft"] == 2.0
    assert pd.isna(families.loc["sweep", "woa"])
    assert "The optimum is known for 1 of them" in gaps.denominators()
    for text in (gaps.to_text(), gaps.to_markdown()):
        assert "150.00" in text
    assert library.identifier in gaps.to_markdown()
    assert max(len(line) for line in gaps.to_text().splitlines()) <= 80
    assert gaps.to_dict()["by_family"][1]["woa"] is None
    assert gaps.to_csv().splitlines()[1].endswith(f",heft,-,{2 * optimum},{optimum},True,1.0")


def test_better_bounds_and_schedules_of_the_study_count(library: Library) -> None:
    """Tests that a larger bound of the study is the reference, and its schedule may show it to be the optimum."""
    bound = known(library, "sweep-7")[0]
    runs = frame(library, [("sweep-7", "heft", 4 * bound), ("sweep-7", "woa", 2 * bound)], bound=2 * bound)
    gaps = library_gaps(runs, library, objective_name="makespan")
    assert gaps.runs["gap"].tolist() == [1.0, 0.0]
    assert gaps.runs["is_optimum"].all()


def test_negative_gap_is_an_alarm(library: Library, tmp_path: Path) -> None:
    """Tests that a run below a bound of the ledger stops everything and leaves a reproducer."""
    optimum = known(library, "layered-8")[0]
    with pytest.raises(ContradictionError, match=f"layered-8, makespan: .* proves {optimum}, woa has {optimum - 1}"):
        library_gaps(frame(library, [("layered-8", "woa", optimum - 1)]), library, objective_name="makespan")
    assert list(tmp_path.glob("optgap-reproducer-*.json"))


def test_a_bound_of_the_study_above_a_schedule_of_the_ledger_is_an_alarm(library: Library) -> None:
    """Tests that a study that proves more than the optimum is refused, though all of its own schedules are above."""
    optimum = known(library, "layered-8")[0]
    runs = frame(library, [("layered-8", "heft", 3 * optimum)], bound=optimum + 1)
    with pytest.raises(
        ContradictionError, match=f"the study proves {optimum + 1}, the ledger has a schedule with {optimum}"
    ):
        library_gaps(runs, library, objective_name="makespan")


def test_refused_studies(library: Library) -> None:
    """Tests that a study on other instances, and one with two budgets, are refused."""
    with pytest.raises(ValueError, match=r"^instances: expected some of optgap-library/0"):
        library_gaps(frame(library, [("elsewhere", "woa", 3)]), library, objective_name="makespan")
    two = frame(library, [("layered-8", "woa", 10**6)] * 2).assign(budget=["1 s", "2 s"])
    with pytest.raises(ValueError, match=r"^budgets: expected one, got 1 s and 2 s\.$"):
        library_gaps(two, library, objective_name="makespan")
