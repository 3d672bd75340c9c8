"""Tests of the report of a study: complete, self-contained, escaped, honest about what is missing."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from studies.experiment.run_answer import RunAnswer
from studies.experiment.store import StudyStore
from studies.report.page_figures import CAPTIONS
from studies.report.study_figures import FIGURES
from studies.report.study_report import study_report_html, write_study_report
from tests.studies.experiment.study_specs import SMALL, small_spec
from tests.studies.report.filled_study import filled_store, usual_answer
from tests.studies.report.page_structure import PageStructure

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.whole

EVIL = "<script>alert(1)</script> & 'x' $x^{$"
BOOM = 'ValueError: <b>boom</b> & "bang"'

ONE_BUDGET = ("\n[[budgets]]\nevaluations = 80\n", "")
NO_SEARCH = SMALL[SMALL.index('[[methods]]\nmethod = "random-search"') : SMALL.index("[reference]")]
NO_EXACT = ('[[reference.exact]]\nmethod = "cp-sat"\ntime_limit = 20\n', "")


def _some_fail(row: dict[str, Any]) -> RunAnswer:
    """Fail WOA on the larger instance; random search finds nothing there once."""
    if "8" in row["instance"] and row["method"] == "woa":
        return RunAnswer(error=BOOM)
    if "8" in row["instance"] and row["method"] == "random-search" and row["repetition"] == 1:
        return RunAnswer(termination="evaluations", seconds=0.1, evaluations=40)
    return usual_answer(row)


def _with_name(store_names: dict[str, str], answer: Any) -> Any:
    """Tell the answering function the name of the instance too."""
    return lambda row: answer({**row, "instance": store_names[row["sha256"]]})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StudyStore:
    """Fill a study with evil names, failed runs, runs without a schedule, and a reference of bounds only."""
    spec = small_spec(
        ('name = "small"', f'name = "{EVIL}"'),
        ('label = "woa, no HEFT seed"', f'label = "{EVIL}"'),
        ONE_BUDGET,
        NO_EXACT,
    )
    from studies.experiment.instances import expand_instances

    names = {item.instance.sha256: item.instance.name for item in expand_instances(spec)}
    return filled_store(tmp_path_factory.mktemp("filled"), spec, _with_name(names, _some_fail))


@pytest.fixture(scope="module")
def html(store: StudyStore) -> str:
    """Write its report."""
    return study_report_html(store)


@pytest.fixture(scope="module")
def parsed(html: str) -> PageStructure:
    """Parse it."""
    return PageStructure(html)


@pytest.fixture
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw figures, but write none: most of the time of a report, and other tests look at them."""
    monkeypatch.setattr(
        "studies.report.page_figures.svg_of", lambda ax, **_: f"<svg><title>{len(ax.lines)}</title></svg>"
    )


def test_page_needs_nothing_else(html: str, parsed: PageStructure) -> None:
    """Tests that the page is well formed, loads nothing, and runs only the script that its policy names."""
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert parsed.tags.count("script") == 1
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'; style-src" in html
    assert {"link", "img", "iframe", "object", "b>"}.isdisjoint(parsed.tags)
    for name, value in parsed.attributes:
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,")), value
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    assert "@import" not in html
    assert re.findall(r'(?<!xmlns=")(?<!xmlns:xlink=")https?://', html) == []


def test_identifiers_are_unique_and_links_arrive(parsed: PageStructure) -> None:
    """Tests that no two elements share an identifier, clip paths of figures included, and every link has an end."""
    assert len(parsed.ids) == len(set(parsed.ids))
    targets = {value[1:] for name, value in parsed.attributes if name in ("href", "xlink:href") and value[0] == "#"}
    targets |= {value[5:-1] for name, value in parsed.attributes if value.startswith("url(#")}
    assert len(targets) > 20
    assert targets <= set(parsed.ids)


def test_figures_and_tables_have_captions(parsed: PageStructure) -> None:
    """Tests that every figure has a drawing, a caption and an alternative text, and every table a caption."""
    assert len(parsed.figures) >= 6
    assert all(name and caption for name, caption in parsed.figures.items())
    assert parsed.figures_with_svg == set(parsed.figures)
    assert [value for name, value in parsed.attributes if name == "aria-label"].count("") == 0
    assert len(parsed.tables) >= 12
    assert all(name and caption for name, caption in parsed.tables.items())
    assert all(rows for rows in parsed.rows.values())


def test_free_text_is_escaped(html: str, parsed: PageStructure) -> None:
    """Tests that labels, errors and the name of the study cannot become markup."""
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#39;x&#39; $x^{$" in html
    assert "<title>Study &lt;script&gt;" in html
    assert [row[3] for row in parsed.rows["errors"]] == [BOOM]
    assert EVIL in [row[0] for row in parsed.rows["results-40-evaluations-gaps"]]


def test_what_was_run_is_there(html: str, parsed: PageStructure, store: StudyStore) -> None:
    """Tests the specification in full, counts, hashes, coordinates and environments."""
    facts = dict(parsed.rows["study"])
    assert (facts["minimised"], facts["seed"], facts["instances"]) == ("makespan", "3", "2")
    assert (facts["runs planned"], facts["runs finished"], facts["runs failed"]) == ("14", "12", "2")
    assert (facts["runs without a schedule"], facts["budgets of searches"]) == ("1", "40 evaluations")
    (row,) = store.select("SELECT specification FROM study")
    pre = html[html.index("<pre>") : html.index("</pre>")]
    assert all(line.split("=")[0] in pre for line in row["specification"].splitlines())
    hashes = {row["sha256"] for row in store.select("SELECT sha256 FROM instances")}
    assert {row[1] for row in parsed.rows["hashes"]} == hashes
    assert [row[:2] for row in parsed.rows["instances"]] == [
        ["layered-6-mixed-2-ccr0.5-inconsistent-s0", "layered"],
        ["layered-8-mixed-2-ccr0.5-inconsistent-s0", "layered"],
    ]
    assert parsed.rows["environments"][0][:4] == ["1", "an abacus", "abc123", "14"]
    assert ["numpy", "2"] in parsed.rows["software"]


def test_gaps_are_those_of_the_store(html: str, parsed: PageStructure) -> None:
    """Tests gaps worked out by hand: to the bound of 90, for no optimum is proven."""
    assert 'class="verdict warning"' in html
    assert "The optimum is proven for 0 of 2 instances" in html
    rows = {row[0]: row for row in parsed.rows["results-40-evaluations-gaps"]}
    assert rows["heft"][1:7] == ["2", "2", "0", "0", "-", "38.89"]  # 125 against 90
    assert rows["random-search"][1:7] == ["2", "4", "0", "1", "-", "22.59"]  # 110, 111, 110 against 90
    assert rows[EVIL][1:7] == ["1", "4", "2", "0", "-", "16.11"]  # 104, 105 against 90
    assert parsed.rows["bound-ratios"][0][:3] == ["critical-path", "2", "0.888"]
    assert [row[1:7] for row in parsed.rows["proofs"]] == [
        ["90", "lower bound", "104", EVIL, "15.56", "area"],
        ["90", "lower bound", "110", "random-search", "22.22", "area"],
    ]


def test_nothing_that_failed_is_hidden(html: str, parsed: PageStructure) -> None:
    """Tests that failed runs, runs without a schedule and unproved instances are listed one by one."""
    failed = parsed.rows["failed-runs"]
    assert [(row[1], row[2], row[3]) for row in failed] == [(EVIL, "40 evaluations", number) for number in ("0", "1")]
    assert parsed.rows["errors"][0][:3] == ["1", "2", EVIL]
    assert [row[1:4] for row in parsed.rows["runs-without-schedule"]] == [["random-search", "40 evaluations", "1"]]
    assert len(parsed.rows["unproved-instances"]) == 2
    assert "2 of 14 runs failed. 1 runs ended without a schedule." in html
    assert "Not in this choice, for they lack gaps in some runs:" in html
    assert "heft has the smallest mean gap of 3 methods: 38.89 %" in html


def test_same_store_same_page(store: StudyStore, html: str) -> None:
    """Tests that nothing but the date changes from one report to the next."""
    date = re.compile(r"Report of \d{4}-\d\d-\d\d \d\d:\d\d UTC")
    assert date.search(html)
    assert date.sub("", study_report_html(store)) == date.sub("", html)


def test_every_figure_has_a_caption_of_its_own() -> None:
    """Tests that a new figure comes with its words."""
    assert set(CAPTIONS) == set(FIGURES)


@pytest.mark.usefixtures("plain_figures")
@pytest.mark.parametrize(
    ("changes", "answer", "expected"),
    [
        pytest.param(
            [(NO_SEARCH, "")], usual_answer, "heft has the smallest mean gap: 25.00 %", marks=pytest.mark.slow
        ),
        ([("[6, 8]", "6"), ONE_BUDGET], usual_answer, "With 1 instance and 3 tests no p after Holm"),
        ([ONE_BUDGET, NO_EXACT], lambda row: RunAnswer(error=BOOM), "14 of 14 runs failed."),
        ([ONE_BUDGET], lambda row: usual_answer(row) if row["kind"] == "bound" else None, "The study is not finished:"),
        ([ONE_BUDGET, NO_EXACT], lambda row: None, "No run of a method has ended yet."),
    ],
    ids=["constructions", "one instance", "all failed", "bounds only", "nothing run"],
)
def test_poor_studies_have_a_report(tmp_path: Path, changes: list[tuple[str, str]], answer: Any, expected: str) -> None:
    """Tests that studies without searches, with one instance, with failures or bounds only, or unmade, are told."""
    with filled_store(tmp_path, small_spec(*changes), answer) as store:
        html = study_report_html(store)
    parsed = PageStructure(html)
    assert expected in html
    assert len(parsed.ids) == len(set(parsed.ids))
    assert all(parsed.rows[name] for name in ("study", "methods", "proofs", "instances"))


@pytest.mark.usefixtures("plain_figures")
def test_runs_without_traces_have_a_report(tmp_path: Path) -> None:
    """Tests that curves are left out where nothing was traced, and the rest is there."""

    def answer(row: dict[str, Any]) -> RunAnswer:
        given = usual_answer(row)
        return RunAnswer(objective=given.objective, bound=given.bound, seconds=given.seconds, trace="[]")

    with filled_store(tmp_path, small_spec(ONE_BUDGET), answer) as store:
        parsed = PageStructure(study_report_html(store))
    assert "results-40-evaluations-box-plots" in parsed.figures
    assert "results-40-evaluations-convergence-evaluations" not in parsed.figures
    assert {row[2] for row in parsed.rows["proofs"]} == {"optimum"}
    assert "unproved-instances" not in parsed.tables


@pytest.mark.usefixtures("plain_figures")
def test_a_planned_baseline_is_tested_against_its_rivals(tmp_path: Path) -> None:
    """Tests that a given baseline is named, and that an unknown one is refused."""
    with filled_store(tmp_path, small_spec(ONE_BUDGET)) as store:
        with pytest.raises(ValueError, match=r"baseline: expected one of heft, random-search, .*, got 'best'\."):
            study_report_html(store, baseline="best")
        counts = write_study_report(store, tmp_path / "r.html", baseline="heft", title="A title")
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<title>A title</title>" in html
    assert "The baseline heft has a mean gap of 25.00 %." in html
    assert "With 2 instances and 2 tests no p after Holm&#39;s correction can be below 1.0000" in html
    page = PageStructure(html)
    assert (counts["figures"], counts["tables"]) == (len(page.figures), len(page.tables))
    assert counts["bytes"] == (tmp_path / "r.html").stat().st_size
    assert (counts["runs"], counts["finished_runs"], counts["unproved_instances"]) == (16, 16, 0)


def test_a_store_without_a_plan_is_refused(tmp_path: Path) -> None:
    """Tests that a store in which nothing was planned has no report."""
    with (
        StudyStore(tmp_path, create=True) as store,
        pytest.raises(ValueError, match=r"study: expected a store with a plan, got an empty one\."),
    ):
        study_report_html(store)
