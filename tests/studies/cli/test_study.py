"""Tests of `optgap study` from a specification to tables and reports."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from studies.cli.study_progress import progress_text
from studies.experiment.run_study import StudyState
from studies.experiment.store import DATABASE, StudyStore
from tests.check_latex import check_latex
from tests.studies.analysis.large_study import EVALUATIONS, large_study
from tests.studies.experiment.study_specs import SMALL, small_spec
from tests.studies.report.filled_study import filled_store
from tests.studies.report.page_structure import PageStructure

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


NO_REFERENCE = f"{SMALL.partition('[reference]')[0]}[reference]\nbounds = ['area']\n"


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Write the small study without an exact method to the folder of `run`."""
    (tmp_path / "small.toml").write_text(NO_REFERENCE)
    return "small.toml"


def test_dry_run_shows_the_plan_and_writes_nothing(run: Run, small: str, tmp_path: Path) -> None:
    """Tests that the plan counts instances, runs and methods, and that nothing is left behind."""
    document = run("study", "run", small, "--out", "s", "--dry-run", "--workers", "2", "--json").document
    assert (document["runs"], document["runs_done"], document["workers"]) == (20, 0, 2)
    assert [item["tasks"] for item in document["instances"]] == [6, 8]
    assert document["estimated_seconds"] > 0
    assert {"label": "heft", "method": "heft", "kind": "construction", "budget": "-", "runs": 2, "done": 0} in document[
        "methods"
    ]
    ended = run("study", "run", small, "--dry-run")
    assert ended.status == 0
    assert "20, of which 0 are done" in ended.out
    assert "woa, no HEFT seed" in ended.out
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_run_and_table(run: Run, small: str, tmp_path: Path) -> None:
    """Tests the way from a specification to tables, each by one command."""
    ended = run("study", "run", small, "--out", "s", "--workers", "1", "--json")
    assert ended.status == 0
    assert ended.document["finished"] == ended.document["planned"] == 20
    assert (tmp_path / "s" / DATABASE).is_file()
    assert len(list((tmp_path / "s" / "instances").glob("*.json"))) == 2
    again = run("study", "run", small, "--out", "s", "--workers", "1")
    assert again.out.startswith("s: 20 of 20 runs finished, 0 failed; ")
    assert "20, of which 20 are done" in run("study", "run", small, "--out", "s", "--dry-run").out

    files = ("--markdown", "t.md", "--csv", "t.csv", "--latex", "t.tex")
    ended = run("study", "table", "s", "--baseline", "heft", "--reductions-of", "random-search", *files)
    assert ended.status == 0
    assert "Gaps on 2 instances at 40 evaluations" in ended.out
    assert "Gaps on 2 instances at 80 evaluations" in ended.out
    assert "Reductions of random-search at 80 evaluations" in ended.out
    assert (tmp_path / "t.md").read_text().count("woa, no HEFT seed") >= 4
    assert (tmp_path / "t.tex").read_text().count(r"\toprule") >= 4
    assert (tmp_path / "t.csv").read_text().count("num_worse") == 1
    document = run("study", "table", "s", "--budget", "80 evaluations", "--json").document
    assert [table["budget"] for table in document["comparisons"]] == ["80 evaluations"]
    assert document["failed"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nowhere.toml"), "nowhere.toml: specification: expected a TOML file or one of a_srpt, "),
        (("run", "small.toml"), "--out: expected a folder for the store, got nothing."),
        (("run", "small.toml", "--out", "small.toml"), "small.toml: expected a file that can be written"),
        (("run", "bad.toml", "--out", "s"), "bad.toml: study.seed: expected an integer of at least 0, got 'x'."),
        (("run", "odd.toml", "--out", "s"), "odd.toml: methods[2].parameters: expected a parameter of woa"),
        (("run", "cluster.toml", "--dry-run"), "cluster.toml: instances[0], GPU kind: expected one of K80, "),
        (("run", "file.toml", "--out", "s"), "file.toml: instances[0].files, empty.json, format: expected text"),
        (("run", "odd.toml", "--dry-run"), "odd.toml: methods[2].parameters: expected a parameter of woa"),
        (("run", "small.toml", "--workers", "0"), "--workers: expected an integer of at least 1, got 0."),
        (("table", "nowhere"), "nowhere: expected the folder of a study, got one without a store."),
        (("plot", "nowhere", "--out", "f"), "nowhere: expected the folder of a study, got one without a store."),
        (("rum",), "optgap study: expected a command ("),
    ],
)
def test_misuse(run: Run, small: str, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Tests that misuse and bad input end with status 2 and one line that names the place."""
    (tmp_path / "bad.toml").write_text(NO_REFERENCE.replace("seed = 3", 'seed = "x"'))
    (tmp_path / "odd.toml").write_text(NO_REFERENCE.replace("population", "popluation"))
    (tmp_path / "cluster.toml").write_text(NO_REFERENCE.replace("mixed-2", "nonsense"))
    (tmp_path / "file.toml").write_text('study.name = "f"\n[[instances]]\nfiles = "empty.json"\n')
    (tmp_path / "empty.json").write_text("{}")
    ended = run("study", *arguments)
    assert ended.status == 2
    assert ended.out == ""
    assert message in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.usefixtures("runs_here")
def test_names_and_figures(run: Run, tmp_path: Path) -> None:
    """Tests that a store without runs, an unknown budget and an unknown label are refused, and that figures come."""
    text = NO_REFERENCE.replace("[6, 8]", "6").replace("repetitions = 2", "repetitions = 1")
    text = text.replace("[[budgets]]\nevaluations = 80", "")
    (tmp_path / "bounds.toml").write_text(text.replace("[[methods]]", "[[x]]").partition("[[x]]")[0])
    assert run("study", "run", "bounds.toml", "--out", "b", "--workers", "1").status == 0
    assert "b: expected finished runs of methods, got none yet." in run("study", "table", "b").err
    (tmp_path / "one.toml").write_text(text)
    assert run("study", "run", "one.toml", "--out", "s", "--workers", "1").status == 0
    ended = run("study", "table", "s", "--budget", "41 evaluations")
    assert (ended.status, ended.err) == (
        2,
        "--budget: expected one of 40 evaluations, got '41 evaluations' (did you mean 40 evaluations?).\n",
    )
    assert run("study", "table", "s", "--baseline", "best").err.startswith("--baseline: expected one of heft, ")
    assert run("study", "table", "s", "--reductions-of", "x").err.startswith("--reductions-of: expected one of heft, ")
    figures = run("study", "plot", "s", "--out", "figures", "--json").document["figures"]
    assert figures
    assert all((tmp_path / figure).stat().st_size > 1000 for figure in figures)


def test_progress_tells_how_things_stand() -> None:
    """Tests the text beside the bar."""
    state = StudyState(
        planned=9, finished=3, failed=1, running=2, pending=3, seconds=4.0, seconds_left=200.0, doing="heft on E\x1b"
    )
    assert progress_text(state) == "2 running, 1 failed, 3.3 min left, heft on E\\x1b"


def test_report_is_written_and_counted(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the page, its counts as JSON, and misuse in one line each; other tests look at its figures."""
    monkeypatch.setattr("studies.report.page_figures.svg_of", lambda ax, **_: "<svg></svg>")
    spec = small_spec(("[6, 8]", "6"), ("\n[[budgets]]\nevaluations = 80\n", ""))
    filled_store(tmp_path / "s", spec).close()
    ended = run("study", "report", "s", "-o", "r.html", "--title", "A <title>", "--json")
    assert ended.status == 0
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    page = PageStructure(html)
    assert "<h1>A &lt;title&gt;</h1>" in html
    document = ended.document
    assert document["report"] == "r.html"
    assert (document["instances"], document["unproved_instances"]) == (1, 0)
    assert (document["runs"], document["finished_runs"], document["failed_runs"], document["pending_runs"]) == (
        8,
        8,
        0,
        0,
    )
    assert (document["figures"], document["tables"]) == (len(page.figures), len(page.tables))
    assert document["bytes"] == len(html.encode())

    StudyStore(tmp_path / "empty", create=True).close()
    for arguments, message in (
        (("nowhere", "-o", "x.html"), "nowhere: expected the folder of a study, got one without a store."),
        (("empty", "-o", "x.html"), "empty: study: expected a store with a plan, got an empty one."),
        (("s", "-o", "s"), "s: expected a file that can be written, got: is a directory."),
        (("s", "-o", "x.html", "--baseline", "best"), "--baseline: expected one of heft, random-search, "),
    ):
        ended = run("study", "report", *arguments)
        assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert message in ended.err
        assert not (tmp_path / "x.html").exists()


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


@pytest.mark.slow
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
        (
            ("table", "--what", "gap"),
            "--what: expected one of gaps, jct, interference, bounds, targets, got 'gap' (did you mean gaps?).",
        ),
        (("table", "--what", "gaps,jct"), "--what: expected jct for studies of jobs only, got it for "),
        (("table", "--by", "colour"), "--by: expected size or one of study, "),
        (("table", "--by", "family", "--statistic", "mode"), "--statistic: expected one of mean, median, "),
        (("table", "--targets", "10,x"), "--targets: expected a number, got 'x'."),
        (("table", "--targets", "-1"), "--targets: expected a number in 0..1e+06, got -1."),
        (("plot", "--out", "f", "--what", "pie"), "--what: expected one of box-plots, "),
        (("plot", "--out", "f", "--format", "gif"), "--format: expected one of png, pdf, svg, got 'gif'."),
        (("plot", "--out", "f", "--budget", "1 s"), f"--budget: expected one of {BUDGET}, got '1 s'."),
    ],
)
def test_misuse_study_table_command(run: Run, folder: str, arguments: tuple[str, ...], message: str) -> None:
    """Tests that a wrong option is named in one line, with what was expected."""
    command, *rest = arguments
    ended = run("study", command, folder, *rest)
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(message)
