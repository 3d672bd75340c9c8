"""Tests of the report of a study as a browser shows it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from studies.report.study_report import study_report_html
from tests.browser import needs_browser, opened
from tests.studies.experiment.study_specs import small_spec
from tests.studies.report.filled_study import filled_store
from tests.studies.report.page_structure import PageStructure

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_browser

MEASURE = """<script>
const boxes = (what) => Array.from(document.querySelectorAll(what), (element) => {
  const box = element.getBoundingClientRect();
  return [(element.closest("figure") || element).id, box.width, box.height];
});
const report = {
  figures: boxes("figure svg"),
  parts: Array.from(document.querySelectorAll("figure svg"), (svg) => svg.querySelectorAll("path, text").length),
  tables: boxes("table"),
  page: document.documentElement.scrollWidth,
  window: document.documentElement.clientWidth,
  requests: performance.getEntriesByType("resource").map((entry) => entry.name),
};
document.body.setAttribute("data-measured", JSON.stringify(report));
</script></body>"""
"""Is put into a copy of the page, for the page itself runs nothing."""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the report of a tiny study."""
    spec = small_spec(("[6, 8]", "[6, 7, 8]"), ("\n[[budgets]]\nevaluations = 80\n", ""))
    with filled_store(tmp_path_factory.mktemp("filled"), spec) as store:
        return study_report_html(store)


def _measured(html: str, folder: Path, width: int) -> tuple[dict[str, Any], str]:
    """Measure a copy of a page in the browser, with everything unfolded; return the console too."""
    copy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html, count=1)
    copy = copy.replace("<details>", "<details open>").replace("</body>", MEASURE)
    assert copy.count("<script>") == 1
    dom, console = opened(copy, folder, width)
    (value,) = [value for name, value in PageStructure(dom).attributes if name == "data-measured"]
    measured: dict[str, Any] = json.loads(value)
    return measured, console


def test_every_figure_and_table_is_visible(html: str, tmp_path: Path) -> None:
    """Tests that the browser draws every figure and table, complains about nothing, and asks nobody for anything."""
    page = PageStructure(html)
    measured, console = _measured(html, tmp_path, 1200)
    assert console == ""
    assert measured["requests"] == []
    assert [name for name, _, _ in measured["figures"]] == list(page.figures)
    assert [name for name, _, _ in measured["tables"]] == list(page.tables)
    assert all(width > 400 and height > 30 for _, width, height in measured["figures"])
    assert all(width > 50 and height > 20 for _, width, height in measured["tables"])
    assert all(number >= 10 for number in measured["parts"])
    assert measured["page"] == measured["window"]


def test_wide_tables_scroll_in_their_own_box_on_a_phone(html: str, tmp_path: Path) -> None:
    """Tests that the page itself is no wider than a narrow window."""
    measured, _ = _measured(html, tmp_path, 400)
    assert measured["window"] <= 500  # some browsers open no narrower window
    assert max(width for _, width, _ in measured["tables"]) > 500
    assert measured["page"] == measured["window"]


def test_the_browser_would_complain(html: str, tmp_path: Path) -> None:
    """Tests that errors and requests would be seen: the page's own policy forbids what is put into it here."""
    spoiled = html.replace("</body>", '<script>1</script><img src="http://127.0.0.1:9/x.png" alt="x"></body>')
    _, console = opened(spoiled, tmp_path, 1200)
    assert "inline script" in console
    assert "127.0.0.1:9/x.png" in console
