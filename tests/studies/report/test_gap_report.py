"""Tests of the report: complete, self-contained, escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from solvers.solve import solve
from studies.report.gap_report import report_html, write_report
from tests.studies.report.page_structure import PageStructure

if TYPE_CHECKING:
    from pathlib import Path

    from solvers.result import Result


EVIL = '<script>alert("1")</script> & $x^{$ \x1b'


@pytest.fixture(scope="module")
def results(example_e: DagInstance, no_room: DagInstance) -> list[Result]:
    """CP-SAT, HEFT and round-robin on two instances; round-robin finds nothing on one of them."""
    found = []
    for instance in (example_e, no_room):
        exact = solve(instance, "cp-sat", threads=1, seed=11)
        assert exact.bound is not None
        found += [exact, *(solve(instance, name, seed=11, bounds=[exact.bound]) for name in ("heft", "round-robin"))]
    return found


@pytest.fixture(scope="module")
def html(results: list[Result]) -> str:
    """Write their report."""
    return report_html(results, title="A title")


def test_page_needs_nothing_else(html: str) -> None:
    """Tests that the page is well formed, loads nothing, runs nothing, and is small."""
    page = PageStructure(html)
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(page.tags)
    assert all(value.startswith("#") for name, value in page.attributes if name in ("src", "href", "xlink:href"))
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    assert "@import" not in html
    assert len(html.encode()) < 1_000_000


def test_page_shows_what_was_run(results: list[Result], html: str) -> None:
    """Tests that instances, methods, gaps, proofs, seeds, hashes and versions are there."""
    assert "<title>A title</title>" in html
    assert "All gaps are optimality gaps: the optima of all 2 instances are proven." in html
    assert '<td class="number" style="background:' in html
    assert ">20.00</td>" in html  # HEFT on E: 18 against 15
    for result in results:
        assert result.bound is not None
        assert f"{result.bound.method}: {result.bound.proof}" in html
    for text in ("no-room", "round-robin", "unknown", results[0].instance.sha256, "ortools", ">11</td>"):
        assert text in html


def test_schedules_are_drawn_where_methods_differ(results: list[Result], html: str) -> None:
    """Tests that the optimum stands above HEFT's schedule, and that nothing is drawn where all are equal."""
    captions = re.findall(r"<figcaption>([^<]*)</figcaption>", html)
    assert captions[1:] == ["cp-sat: 15, gap 0.00 %", "heft: 18, gap 20.00 %"]
    assert "<h2>Schedules</h2>" not in report_html([result for result in results if result.method == "cp-sat"])


def test_report_is_honest_about_missing_proofs(example_e: DagInstance) -> None:
    """Tests that an instance without a proven optimum is marked, and the page says so at the top."""
    html = report_html([solve(example_e, "heft")])
    assert 'class="verdict warning"' in html
    assert "The optimum is proven for 0 of 1 instances" in html
    assert ">E *</th>" in html
    assert "lower bound" in html


def test_free_text_is_escaped() -> None:
    """Tests that names cannot become markup, formulas or control characters."""
    instance = DagInstance.from_lists(
        [[300, 900], [400, 800], [500, 700]],
        [(0, 2, 1)],
        name=EVIL,
        task_names=["<script>\x1b", "$\\frac$", "\u4e2d"],
        gpu_names=["<b>", "$_$"],
        gpu_kinds=["<i>", "]]>"],
    )
    results = [solve(instance, "cp-sat", threads=1), solve(instance, "random", seed=1)]
    html = report_html(results, title=EVIL)
    assert "script" not in PageStructure(html).tags
    assert {"b", "i"}.isdisjoint(PageStructure(html).tags)
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; $x^{$ \\x1b" in html
    assert "\x1b" not in html
    assert ">&lt;script&gt;\N{REPLACEMENT CHARACTER}</text>" in html  # in the chart


def test_write_report_writes_the_page(results: list[Result], tmp_path: Path) -> None:
    """Tests that the file is UTF-8 and complete."""
    write_report(results, tmp_path / "r.html", title="Grüße")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>Grüße</h1>" in text
    assert text.endswith("</html>\n")


def test_other_objectives_are_named(example_e: DagInstance) -> None:
    """Tests that the page says what was minimised."""
    html = report_html([solve(example_e, "heft", objective=Objective.WEIGHTED_COMPLETION)])
    assert "minimised: weighted completion" in html
