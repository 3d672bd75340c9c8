"""Tests of the page to look at schedules as a browser shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import optgap
from studies.export.page import view_html
from tests.browser import in_a_frame, needs_browser, opened, told, without_policy

pytestmark = [needs_browser, pytest.mark.slow]

USED = Path(__file__).with_name("use_page.js").read_text(encoding="utf-8")
"""Is put into a copy of the page, which it uses as a person with a keyboard and a pointer does."""


@pytest.fixture(scope="module")
def page() -> tuple[Any, str]:
    """Return an instance and its page with two schedules."""
    cluster = optgap.parse_cluster("v100-t4-p100-pair")
    instance = optgap.generate("pipeline-training", tasks=24, seed=1, cluster=cluster)
    return instance, view_html(instance, {name: optgap.solve(instance, name).schedule for name in ("heft", "peft")})


def used(html: str, folder: Path, width: int) -> tuple[dict[str, Any], str]:
    """Use a copy of a page in the browser; return what was found, and the console."""
    dom, console = opened(without_policy(html, USED), folder, width)
    return told(dom, "data-used"), console


def test_the_page_obeys_its_own_policy(page: tuple[Any, str], tmp_path: Path) -> None:
    """Tests that the browser runs the script under the page's policy, draws both charts, and complains of nothing."""
    dom, console = opened(page[1], tmp_path, 1400)
    assert console == ""
    assert dom.count("<canvas") == 2 * dom.count('role="application"') == 4  # a chart and a graph per schedule
    assert "Binding chain: " in dom


def test_keyboard_pointer_and_search(page: tuple[Any, str], tmp_path: Path) -> None:
    """Tests that arrows, Enter and Escape choose tasks and say them, dragging moves, pointing tells, search finds."""
    instance, html = page
    found, console = used(html, tmp_path, 1400)
    assert console == ""
    assert found["requests"] == 0
    assert found["drawn"] > instance.num_tasks
    assert found["colours"] > 20
    names = list(instance.task_names)
    lines = [found[key].split("\n") for key in ("first", "second", "below")]
    assert all(line[0] in names for line in lines)
    assert len({line[0] for line in lines}) == 3
    assert lines[0][1] == lines[1][1] != lines[2][1]  # the GPU
    assert all("After: " in line[3] and "Before: " in line[3] for line in lines)
    assert found["span"] < found["all"][2] / 2
    assert found["none"] == "Nothing chosen."
    assert found["all"][0] <= 0 < found["all"][2] <= found["all"][1]
    assert found["panned"] > 0
    assert found["tip"][0] is False
    assert " to " in found["tip"][1]
    count = 2 * sum("b0." in name.lower() for name in names)
    assert int(found["matches"].split()[0]) >= count > 0
    assert "B0." in found["found"]
    assert found["switched"] > 5
    assert found["rows"] >= instance.num_tasks
    assert found["graph"] == [3, names[3], True]
    assert found["paper"] == "#12181f"


@pytest.mark.slow
def test_a_legend_names_jobs(tmp_path: Path) -> None:
    """Tests that a legend of jobs finds their bars, that bars have patterns, and nothing else is offered."""
    jobs = optgap.generate("jobs-small", jobs=4, seed=1)
    html = view_html(jobs, {"fifo": optgap.solve(jobs, "fifo").schedule})
    asked = """const entries = document.querySelectorAll("#legend button");
entries[2].click();
const hidden = ["links", "memory", "chain"].map((id) => byId(id).parentElement.hidden);
document.body.setAttribute("data-used", JSON.stringify({ names: [...entries].map((each) => each.textContent), hidden,
  found: parseInt(byId("matches").textContent), textures: textures.size }));"""
    dom, console = opened(without_policy(html, asked), tmp_path, 1000)
    found = told(dom, "data-used")
    assert console == ""
    assert found["names"] == list(jobs.job_names)
    assert found["hidden"] == [True, True, True]
    assert found["found"] == jobs.gang_size[2]
    assert found["textures"] == 4


def test_no_sideways_scrolling_on_a_phone(page: tuple[Any, str], tmp_path: Path) -> None:
    """Tests that in a frame of 360 pixels the page is no wider than the frame, with everything unfolded."""
    dom, _ = opened(in_a_frame(without_policy(page[1], USED)), tmp_path, 800)
    whole, window = told(dom, "data-used")["width"]
    assert 300 < window <= 360
    assert whole == window
