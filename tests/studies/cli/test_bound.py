"""Tests of `optgap bound` and `optgap solve --confirm`: files, tables and what is refused."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from optgap.check_certificate import check
from solvers.backends.highs import run_highs
from solvers.backends.second_opinion import Answer, SecondHighs
from solvers.bound_table import RECORD_COLUMNS
from solvers.lower_bound import lower_bound
from solvers.run.versions import version_of
from tests.check_latex import check_latex

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run


METHODS = ["critical-path", "area", "cp-sat"]
OPTIONS = ["--methods", ",".join(METHODS), "--threads", "1", "--seed", "3"]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let HiGHS answer in this process, without the second that a process takes to start."""
    monkeypatch.setattr("solvers.backends.highs_worker.run_highs_in_worker", run_highs)


@pytest.mark.whole
def test_files_and_document_agree_with_the_library(run: Run, heft_example: DagInstance, tmp_path: Path) -> None:
    """Tests that CSV, LaTeX and JSON hold the values, proofs and confirmations that `lower_bound` returns."""
    instance = replace(heft_example, name="a_b%")
    write_dag_instance(instance, tmp_path / "i.json")
    ended = run("bound", "i.json", *OPTIONS, "--confirm", "--csv", "b.csv", "--latex", "b.tex", "--json")
    assert (ended.status, ended.err) == (0, "")
    expected = lower_bound(instance, methods=METHODS, threads=1, seed=3, confirm=True)
    said = [(bound.method, bound.value, bound.proof, bound.confirmed_by, bound.solver) for bound in expected]
    fields = ("method", "value", "proof", "confirmed_by", "solver")
    assert [tuple(bound[field] for field in fields) for bound in ended.document["bounds"]] == said
    assert (ended.document["lower_bound"], ended.document["is_optimum"], ended.document["seed"]) == (73, True, 3)
    assert ended.document["versions"]["highspy"] == version_of("highspy")
    assert {item["confirmed_by"] for item in ended.document["confirmations"]} == {said[0][3], said[2][3]}
    rows = list(csv.DictReader(io.StringIO((tmp_path / "b.csv").read_text(encoding="utf-8"))))
    assert list(rows[0]) == list(RECORD_COLUMNS)
    assert [(row["method"], int(row["value"]), row["proof"], row["confirmed_by"]) for row in rows] == [
        bound[:4] for bound in said
    ]
    latex = check_latex((tmp_path / "b.tex").read_text(encoding="utf-8"))
    assert latex[1] == [r"a\_b\%", "10", "15", "3", "41", "31", "73", r"73$^{*\dagger}$"]


def test_table_reads_well_in_80_columns(run: Run, example_file: str) -> None:
    """Tests that no name is cut inside a word, and that proofs and confirmations are wrapped between words."""
    ended = run("bound", example_file, "--confirm", "--threads", "1")
    assert ended.status == 0
    assert max(map(len, ended.out.splitlines())) <= 80
    for word in ("transfer-aware-path", "join-aware-path", "critical-path", "destructive", "multipliers"):
        assert word in ended.out
    assert "best: 15" in ended.out
    assert "confirmed by" in ended.out
    assert "confirmed by" not in run("bound", example_file, "--methods", "area").out


def test_time_that_is_over_is_told(
    run: Run, heft_example: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a second model that does not get there leaves the bound and says so below the table."""
    monkeypatch.setattr(SecondHighs, "ask", lambda *_, **__: Answer())
    write_dag_instance(heft_example, tmp_path / "i.json")
    ended = run("bound", "i.json", *OPTIONS, "--confirm", "--confirm-time-limit", "2")
    assert ended.status == 0
    assert "no makespan below 73: not confirmed, not reached in" in " ".join(ended.out.split())
    assert "best: 73, the optimum" in ended.out


def test_solve_confirms(run: Run, example_file: str) -> None:
    """Tests that `solve --confirm` shows who confirms the bound, in text and document."""
    ended = run("solve", example_file, "--confirm", "--threads", "1")
    assert ended.status == 0
    assert "confirmation: no makespan below 15: confirmed by" in ended.out
    document = run(
        "solve", example_file, "--confirm", "--confirm-time-limit", "30", "--threads", "1", "--json"
    ).document
    assert document["confirmation"]["confirmed_by"] == document["lower_bound_from"]["confirmed_by"] is not None
    assert document["confirmation"]["time_limit"] == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--csv", "no/b.csv"], "no/b.csv: expected a file that can be written, got: no such file or directory."),
        (["--latex", "no/b.tex"], "no/b.tex: expected a file that can be written, got: no such file or directory."),
        (["--latex", "."], ".: expected a file that can be written, got: is a directory."),
        (["--csv", "e.json"], "e.json: expected another file to write than the one that is read."),
        (["--csv", "b", "--latex", "b"], "b: expected a file of its own for each output, got it twice."),
        (["--confirm-time-limit", "3"], "--confirm-time-limit: expected none without --confirm, got 3."),
        (["--confirm", "--confirm-time-limit", "0"], "--confirm-time-limit: expected a number above 0, got 0."),
    ],
)
def test_misuse_is_one_line(
    run: Run, example_file: str, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that misuse ends with status 2 before any bound is computed."""
    monkeypatch.setattr(sys.modules["solvers.lower_bound"], "lower_bound", lambda *_, **__: 1 // 0)
    ended = run("bound", example_file, *arguments)
    assert (ended.status, ended.out, ended.err) == (2, "", f"{message}\n")


def test_heuristics_have_nothing_to_confirm(run: Run, example_file: str) -> None:
    """Tests that `solve --method heft --confirm` is misuse."""
    ended = run("solve", example_file, "--method", "heft", "--confirm")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == "--confirm: expected none for heft, which is no exact method and proves no bound.\n"


def test_infeasible_instance(run: Run, tmp_path: Path) -> None:
    """Tests that an instance without a schedule has a LaTeX row that says so, and no best bound anywhere."""
    refuted = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3], name="refuted")
    write_dag_instance(refuted, tmp_path / "i.json")
    ended = run(
        "bound", "i.json", "--methods", "area,cp-sat", "--confirm", "--latex", "b.tex", "--json", "--threads", "1"
    )
    assert (ended.document["lower_bound"], ended.document["infeasible_by"]) == (None, ["cp-sat"])
    claims = {item["claim"]: item["confirmed_by"] for item in ended.document["confirmations"]}
    assert claims["no schedule at all"].startswith("disjunctive MILP")
    assert check_latex((tmp_path / "b.tex").read_text())[1] == ["refuted", "3", "0", "2", "--", "infeasible"]


@pytest.mark.parametrize("command", [("bound", "--methods", "area"), ("solve", "-m", "heft")])
def test_certificate_is_written_and_accepted(
    run: Run, example_e: DagInstance, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Tests that both commands write a proof that the checker accepts, and say on the second stream what it proves."""
    write_dag_instance(example_e, tmp_path / "i.json")
    ended = run(command[0], "i.json", *command[1:], "--certificate", "c.txt", "--time-limit", "20", "--json")
    assert ended.status == 0
    assert check(str(tmp_path / "i.json"), str(tmp_path / "c.txt")) == ("makespan", 15)
    assert ended.err == "c.txt: makespan at least 15, proof of kind refuted.\n"
