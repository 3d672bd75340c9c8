from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from studies.command_line.study_progress import duration_text, progress_text
from studies.experiment.study_state import StudyState
from studies.experiment.study_store import DATABASE
from tests.studies.experiment.study_specs import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

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
        (("run", "nowhere.toml"), "nowhere.toml: specification: expected a TOML file or one of authors_setting, "),
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
        "--budget: expected one of 40 evaluations, got '41 evaluations'.\n",
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
    assert progress_text(state) == "2 running, 1 failed, 3 min left, heft on E\\x1b"
    assert [duration_text(seconds) for seconds in (3.4, 89.0, 5399.0, 7200.0)] == ["3 s", "89 s", "90 min", "2.0 h"]
