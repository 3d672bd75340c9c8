"""Tests of the commands that tabulate and draw a study, on a store of invented answers."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from tests.check_latex import check_latex
from tests.studies.statistics.large_study import EVALUATIONS, large_study

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

BUDGET = f"{EVALUATIONS} evaluations"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Eight instances, four methods, two seeds."""
    folder = tmp_path_factory.mktemp("study")
    large_study(folder, count=1, methods=4, repetitions=2).close()
    return str(folder)


def test_every_part_in_every_form(run: Run, folder: str, tmp_path: Path) -> None:
    """Tests that gaps, groups, bounds and targets fit the terminal, are valid LaTeX, and are there in CSV and JSON."""
    parts = ("--what", "gaps,bounds,targets", "--by", "family,family+size", "--statistic", "q90", "--targets", "20,0")
    ended = run("study", "table", folder, *parts, "--markdown", "t.md", "--latex", "t.tex", "--csv", "t.csv")
    assert (ended.status, ended.err) == (0, "")
    assert max(len(line) for line in ended.out.splitlines()) <= 80
    for title in (
        f"Gaps on 8 instances at {BUDGET}",
        f"90 % points of the gaps in % by family at {BUDGET}",
        f"90 % points of the gaps in % by family and tasks at {BUDGET}",
        f"Runs that reach a gap at {BUDGET}, in %",
        f"Evaluations to reach a gap at {BUDGET}: median / expected",
        "Ratio of lower bounds to the best proven bound by family",
    ):
        assert title in " ".join(ended.out.split())
    assert "20 %" in ended.out
    tables = (tmp_path / "t.tex").read_text().split(r"\end{tabular}")[:-1]
    assert len(tables) == 9
    for table in tables:
        assert len(check_latex(table.strip() + "\n\\end{tabular}\n")) >= 3
    assert (tmp_path / "t.md").read_text().count("woa, 3 whales") >= 6
    assert "share" in (tmp_path / "t.csv").read_text()
    document = run("study", "table", folder, *parts, "--json").document
    (targets,) = (table for table in document["comparisons"] if table.get("table") == "targets")
    assert {row["target"] for row in targets["rows"]} == {0.2, 0.0}
    assert all(0 <= row["share"] <= 1 for row in targets["rows"])
    bounds = [table for table in document["comparisons"] if table.get("table") == "bounds"]
    assert [len(table["rows"]) for table in bounds] == [3, 12, 24]
    exact = next(row for row in bounds[0]["rows"] if row["label"] == "cp-sat")
    assert (exact["mean_ratio"], exact["num_best"], exact["num_runs"]) == (1.0, 8, 8)


def test_tidy_frames_for_own_analyses(run: Run, folder: str, tmp_path: Path) -> None:
    """Tests that runs and traces are exported with every run, references included."""
    assert run("study", "table", folder, "--frame", "runs.csv", "--traces", "traces.csv").status == 0
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert len(runs) == 8 * (4 * 2 + 3)
    assert set(runs["kind"]) == {"search", "bound", "exact"}
    assert (runs["gap"].dropna() >= 0).all()
    with (tmp_path / "traces.csv").open() as file:
        points = list(csv.DictReader(file))
    assert {point["label"] for point in points} == {*(f"woa, {number} whales" for number in range(3, 7)), "cp-sat"}


def test_figures_by_name_and_format(run: Run, folder: str, tmp_path: Path) -> None:
    """Tests that all figures come by default, some by name, and in other formats."""
    names = [
        path.rpartition("/")[2] for path in run("study", "plot", folder, "--out", "f", "--json").document["figures"]
    ]
    assert len(names) == 11
    assert {"bound-ratios.png", "incumbent-and-bound.png", "gap-ecdf-2000-evaluations.png"} <= set(names)
    some = ("--what", "targets-seconds,bound-ratios", "--format", "svg,pdf", "--budget", BUDGET)
    assert run("study", "plot", folder, "--out", "g", *some).status == 0
    assert sorted(path.name for path in (tmp_path / "g").iterdir()) == [
        "bound-ratios.pdf",
        "bound-ratios.svg",
        "targets-seconds-2000-evaluations.pdf",
        "targets-seconds-2000-evaluations.svg",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table", "--what", "gap"), "--what: expected some of gaps, jct, interference, bounds, targets, got 'gap'."),
        (("table", "--what", "gaps,jct"), "--what: expected jct for studies of jobs only, got it for "),
        (("table", "--by", "colour"), "--by: expected size or one of study, "),
        (("table", "--by", "family", "--statistic", "mode"), "--statistic: expected one of mean, median, "),
        (("table", "--targets", "10,x"), "--targets: expected a number, got 'x'."),
        (("table", "--targets", "-1"), "--targets: expected a number in 0..1e+06, got -1."),
        (("plot", "--out", "f", "--what", "pie"), "--what: expected some of box-plots, "),
        (("plot", "--out", "f", "--format", "gif"), "--format: expected some of png, pdf, svg, got 'gif'."),
        (("plot", "--out", "f", "--budget", "1 s"), f"--budget: expected one of {BUDGET}, got '1 s'."),
    ],
)
def test_misuse(run: Run, folder: str, arguments: tuple[str, ...], message: str) -> None:
    """Tests that a wrong option is named in one line, with what was expected."""
    command, *rest = arguments
    ended = run("study", command, folder, *rest)
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(message)
