"""Tests of the command `study report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.study_store import StudyStore
from tests.studies.experiment.study_specs import small_spec
from tests.studies.report.filled_study import filled_store
from tests.studies.report.page_structure import PageStructure

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.studies.run_command import Run


def test_report_is_written_and_counted(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the page, its counts as JSON, and misuse in one line each; other tests look at its figures."""
    monkeypatch.setattr("studies.report.view_html.svg_of", lambda ax, **_: "<svg></svg>")
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
