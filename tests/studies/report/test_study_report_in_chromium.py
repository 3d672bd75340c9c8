"""Tests of the report of a study as a browser shows it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from studies.report.study_report import study_report_html
from tests.browser import in_a_frame, needs_browser, opened, told, without_policy
from tests.studies.experiment.study_specs import small_spec
from tests.studies.report.filled_study import filled_store
from tests.studies.report.page_structure import PageStructure

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [needs_browser, pytest.mark.slow]

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
"""Is put into a copy of the page."""


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
    assert copy.count("<script>") == 2
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


USED = """
const report = { bar: !byId("bar").hidden };
const table = document.querySelector('table[id$="-gaps"]');
const firsts = () => Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent);
const heading = [...table.tHead.rows[0].cells].find((cell) => cell.textContent.trim() === "mean %");
report.orders = [firsts()];
for (let time = 0; time < 3; time++) {
  heading.querySelector("button").click();
  report.orders.push([heading.getAttribute("aria-sort"), ...firsts()]);
}
const totals = document.querySelector("tr.total").parentElement;
totals.parentElement.querySelector("th button").click();
report.last = totals.lastElementChild.className;
const find = (text) => { byId("filter").value = text; byId("filter").dispatchEvent(new Event("input")); };
const visible = () => Array.from(document.querySelectorAll("tbody tr")).filter((row) => !row.hidden).length;
const open = () => document.querySelectorAll("details[open]").length;
report.rows = [visible(), open()];
find("random-search");
report.found = [visible(), open(), byId("found").textContent];
report.pale = document.querySelectorAll(".pale").length;
find("");
report.again = [visible(), open()];
const point = document.querySelector('[data-tip*="repetition"]');
point.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: 50, clientY: 50 }));
report.tip = [byId("tip").hidden, byId("tip").textContent];
document.body.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
report.gone = byId("tip").hidden;
byId("theme").value = "dark";
byId("theme").dispatchEvent(new Event("change"));
report.paper = getComputedStyle(document.body).backgroundColor;
report.drawing = getComputedStyle(document.querySelector("figure svg")).filter;
document.querySelectorAll("details").forEach((each) => { each.open = true; });
report.width = [document.documentElement.scrollWidth, document.documentElement.clientWidth];
document.body.setAttribute("data-used", JSON.stringify(report));
"""
"""Sorts, filters, points and changes the colours, as a reader does."""


def test_sorting_finding_pointing_and_colours(html: str, tmp_path: Path) -> None:
    """Tests that headings sort up, down and back, finding hides rows and opens what has some, and points say a run."""
    dom, console = opened(without_policy(html, USED), tmp_path, 1200)
    found = told(dom, "data-used")
    assert console == ""
    assert found["bar"]
    first, up, down, back = found["orders"]
    assert first == back[1:] == ["woa, no HEFT seed", "random-search", "heft"]
    assert (up[0], down[0], back[0]) == ("ascending", "descending", None)
    assert up[1:] == down[:0:-1] == first
    assert found["last"] == "total"
    assert found["found"][0] < found["rows"][0] == found["again"][0]
    assert found["found"][1] > found["rows"][1] == found["again"][1] == 0
    assert re.fullmatch(r"\d+ of \d+ rows", found["found"][2])
    assert found["pale"] > 0
    assert found["tip"][0] is False
    assert re.fullmatch(r".+ on layered-.+, repetition \d: [\d.]+ %", found["tip"][1])
    assert found["gone"]
    assert found["paper"] == "rgb(18, 24, 31)"
    assert "invert" in found["drawing"]


@pytest.mark.slow  # the test below has a window that is a little wider
def test_no_sideways_scrolling_on_a_phone(html: str, tmp_path: Path) -> None:
    """Tests that in a frame of 360 pixels the page is no wider than the frame, with everything unfolded."""
    dom, _ = opened(in_a_frame(without_policy(html, USED)), tmp_path, 800)
    whole, window = told(dom, "data-used")["width"]
    assert 300 < window <= 360
    assert whole == window


def test_wide_tables_scroll_in_their_own_box_on_a_phone(html: str, tmp_path: Path) -> None:
    """Tests that the page itself is no wider than a narrow window."""
    measured, _ = _measured(html, tmp_path, 400)
    assert measured["window"] <= 500  # some browsers open no narrower window
    assert max(width for _, width, _ in measured["tables"]) > 500
    assert measured["page"] == measured["window"]


def test_the_browser_would_complain(html: str, tmp_path: Path) -> None:
    """Tests that errors and requests would be seen: the page's own policy forbids what is put into it here."""
    spoiled = html.replace("</body>", '<script>1</script><img src="http://127.0.0.1:9/x.png" alt="x"></body>')
    dom, console = opened(spoiled, tmp_path, 1200)
    assert dom.count('<button type="button">') > 20  # the page's own script has run under the policy
    assert console.count("CONSOLE") == 2
    assert "inline script" in console
    assert "127.0.0.1:9/x.png" in console
