"""Tests of `optgap library`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from instances.library.library import read_library
from tests.studies.library.small_library import small_library

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


SPEC = """
[study]
name = "small"
[[instances]]
files = ["library/instances/layered-8.json.gz", "library/instances/sweep-7.json.gz"]
[[methods]]
method = "heft"
[[methods]]
method = "woa"
[[budgets]]
evaluations = 40
[reference]
bounds = []
"""


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, str]:
    """Write the small library into the folder of `run`."""
    small_library(tmp_path / "library")
    return "--library", "library"


def test_list(run: Run) -> None:
    """Tests that the list of the library has one line per entry within 80 columns, and ends with what to cite."""
    library = read_library()
    ended = run("library", "list")
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert lines[-1] == library.identifier
    assert max(map(len, lines[:-1])) <= 80
    assert sum(line.startswith((" dag-", " jobs-")) for line in lines) == len(library.entries()) == 299
    document = run("library", "list", "--json").document
    assert document["identifier"] == library.identifier
    assert len(document["entries"]) == 299
    assert {"name", "family", "bound", "schedule", "status", "gap"} <= set(document["entries"][0])


def test_filters(run: Run) -> None:
    """Tests that filters choose by family, size, problem, name and what is open."""

    def names(*arguments: str) -> list[str]:
        return [entry["name"] for entry in run("library", "list", "--json", *arguments).document["entries"]]

    catalogue = read_library().catalogue
    assert set(names("--family", "fft")) == {name for name, entry in catalogue.items() if entry.family == "fft"}
    assert {catalogue[name].problem for name in names("--problem", "jobs")} == {"jobs"}
    sizes = [catalogue[name].size for name in names("--problem", "dag", "--min-tasks", "20", "--max-tasks", "30")]
    assert sizes
    assert all(20 <= size <= 30 for size in sizes)
    assert set(names("dag-00")) == {name for name in catalogue if name.startswith("dag-00")}
    statuses = [entry["status"] for entry in run("library", "list", "--open", "--json").document["entries"]]
    assert statuses
    assert "optimal" not in statuses


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["list", "--family", "flat"], "--family: expected one of layered, "),
        (["list", "nobody"], "NAME: expected how a name of the library begins, got 'nobody'."),
        (["list", "--problem", "dags"], "--problem: expected one of dag, jobs, got 'dags' (did you mean dag?)."),
        (["list", "dag-42"], "NAME: expected how a name of the library begins, got 'dag-42' (did you mean "),
        (["check", "--problem", "jobs", "--family", "fft"], "NAME: expected names and options that some instance fits"),
        (["check", "--revision", "abc"], "--revision: expected at least 8 hexadecimal digits, got 'abc'."),
        (["show", "dag-"], "NAME: expected the name of one instance (see "),
        (["show", "dag-000", "--objective", "weighted-completion"], "--objective: expected makespan for dag-000"),
        (["update", "--methods", "nonsense"], "--methods: expected methods, bounds without search or 'bounds'"),
        (["update", "--confirm-time-limit", "3"], "--confirm-time-limit: expected none without --confirm."),
        (["check", "--library", "nowhere"], "nowhere/catalogue.json: expected a file of the library, got: no such"),
    ],
)
def test_misuse(run: Run, arguments: list[str], expected: str) -> None:
    """Tests that misuse is told in one line with status 2."""
    ended = run("library", *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(expected)
    assert ended.err.count("\n") == 1


def test_show(run: Run, tmp_path: Path) -> None:
    """Tests that an instance is shown with the origin of what is known, and that what is written verifies."""
    ended = run("library", "show", "dag-018", "--instance-out", "i.json", "--schedule-out", "s.json.gz")
    assert ended.status == 0
    for text in ("minimised: makespan", "minimised: weighted_completion", "content hash", "seed=18"):
        assert text in ended.out
    entry = read_library().entry("dag-018", "makespan")
    assert entry.schedule is not None
    verified = run("verify", "i.json", "s.json.gz", "--json").document
    assert verified["verifies"]
    assert verified["objectives"]["makespan"] == entry.schedule.objective
    document = run(
        "library", "show", "jobs-000", "--instance-out", "j.json", "--schedule-out", "t.json", "--json"
    ).document
    assert [found["objective_name"] for found in document["entries"]] == ["total_completion", "weighted_completion"]
    assert run("verify", "j.json", "t.json").status == 0


def test_update_and_check(run: Run, small: tuple[str, str], tmp_path: Path) -> None:
    """Tests that an update fills a ledger, a second one changes nothing, and a check tells what is wrong."""
    arguments = ("library", "update", *small, "--methods", "bounds,heft,fifo")
    ended = run(*arguments, "--json")
    assert ended.status == 0
    document = ended.document
    assert {change["method"] for change in document["changes"]} == {"bounds", "heft", "fifo"}
    assert "layered-8 makespan: bound None -> " in ended.err
    assert run(*arguments, "--json").document["changes"] == []
    ended = run("library", "check", *small)
    assert ended.status == 0
    assert "no violations." in ended.out
    revision = read_library(tmp_path / "library").revision
    assert f"ledger {revision}\n" in ended.out
    assert run("library", "check", *small, "--revision", revision).status == 0
    assert run("library", "check", *small, "--revision", revision[7:17]).status == 0
    ended = run("library", "check", *small, "--revision", "0" * 16, "--json")
    assert (ended.status, ended.document["violations"][0]["place"]) == (1, "ledger revision")
    assert ended.document["ledger_revision"] == revision
    next((tmp_path / "library" / "schedules").glob("layered-8*")).unlink()
    ended = run("library", "check", *small, "--json")
    assert ended.status == 1
    assert [finding["place"] for finding in ended.document["violations"]] == ["layered-8 makespan"]


def test_damaged_library(run: Run, small: tuple[str, str], tmp_path: Path) -> None:
    """Tests that a damaged ledger, and a damaged instance, are each told in one line with status 2."""
    (tmp_path / "library" / "instances" / "layered-8.json.gz").write_bytes(b"")
    ended = run("library", "update", *small, "--methods", "heft")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.splitlines()[-1].startswith("library/instances/layered-8.json.gz: ")
    (tmp_path / "library" / "ledger.json").write_text("{}")
    ended = run("library", "list", *small)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == "library/ledger.json: format: expected text, got nothing.\n"


@pytest.mark.usefixtures("runs_here")
def test_gaps(run: Run, small: tuple[str, str], tmp_path: Path) -> None:
    """Tests that a study on a library is held against its ledger, from the specification to the tables."""
    (tmp_path / "small.toml").write_text(SPEC, encoding="utf-8")
    assert run("library", "update", *small, "layered", "sweep", "--methods", "cp-sat").status == 0
    assert run("study", "run", "small.toml", "--out", "s", "--workers", "1").status == 0
    ended = run("library", "gaps", "s", *small, "--markdown", "g.md", "--csv", "g.csv")
    assert ended.status == 0
    assert "The optimum is known for 2 of them" in " ".join(ended.out.split())
    library = read_library(tmp_path / "library")
    lines = (tmp_path / "g.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    for line in lines[1:]:
        name, _, _, _, _, _, objective, bound, is_optimum, gap = line.split(",")
        entry = library.entry(name, "makespan")
        assert entry.bound is not None
        assert (int(bound), is_optimum) == (entry.bound.value, "True")
        assert float(gap) == pytest.approx(int(objective) / int(bound) - 1)
    assert (tmp_path / "g.md").read_text(encoding="utf-8").count("| heft |") == 2


def test_shipped_specifications_take_the_whole_library(run: Run) -> None:
    """Tests that the shipped specifications are on all instances of the library."""
    for name, count in (("library", 220), ("library-jobs", 42)):
        assert len(run("study", "run", name, "--dry-run", "--json").document["instances"]) == count
