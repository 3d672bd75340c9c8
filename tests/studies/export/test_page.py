"""Tests of the page to look at schedules, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING

import pytest

import optgap
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from studies.export.page import view_html

if TYPE_CHECKING:
    from pathlib import Path


def document_of(html: str) -> dict[str, list[dict[str, list[int]]]]:
    """Return the data that a page carries."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    found: dict[str, list[dict[str, list[int]]]] = json.loads(text)
    return found


def test_page_carries_its_schedules(example_e: DagInstance) -> None:
    """Tests that every task and transfer of both schedules is in the data, with edges, waits and the binding chain."""
    schedules = {name: optgap.solve(example_e, name).schedule for name in ("heft", "cp-sat")}
    found = document_of(view_html(example_e, schedules))
    assert [each["title"] for each in found["schedules"]] == ["heft", "cp-sat"]
    assert [each["end"] for each in found["schedules"]] == [18, 15]
    for name, each in zip(schedules, found["schedules"], strict=True):
        assert each["start"][:5] == schedules[name].start.tolist()
        assert each["item"][:5] == [0, 1, 2, 3, 4]
        assert [size for size in each["size"] if size < 0] == [-1] * 5
        assert len(each["waits"]) == 5
        assert each["chain"][-1][1] == "release"
    assert found["edges"] == example_e.edges.tolist()


def test_policy_allows_nothing_but_what_is_inside(example_e: DagInstance) -> None:
    """Tests that the policy names the hashes of the style and the script, and that the page has no address."""
    html = view_html(example_e, {"heft": optgap.solve(example_e, "heft").schedule})
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert not re.search(r"(https?:)?//[a-z]|url\(|@import|\bstyle=", html.replace("// ", ""))
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", html, flags=re.DOTALL)
    assert not re.search(r"<[^>]*\s(src|href|on\w+)=", markup)


def test_names_cannot_become_code(tmp_path: Path) -> None:
    """Tests that markup in names stays text, in the page and in its data, and that the page is the same every time."""
    name = "</script><script>alert(1)</script>&\u2028"
    instance = DagInstance.from_lists([[3]], name=name, task_names=[name], gpu_names=[name])
    schedule = DagSchedule(gpu=[0], start=[0])
    optgap.view(instance, {name: schedule}, tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    assert "alert(1)</script>" not in html
    assert document_of(html)["names"] == [name]
    assert html == view_html(instance, {name: schedule})


def test_schedules_of_jobs() -> None:
    """Tests that jobs have a slice per GPU and no edges."""
    jobs = optgap.generate("jobs-small", jobs=4, seed=1)
    found = document_of(view_html(jobs, {"fifo": optgap.solve(jobs, "fifo").schedule}))
    assert len(found["schedules"][0]["start"]) == int(jobs.gang_size.sum())
    assert found["edges"] == []


def test_what_cannot_be_shown(example_e: DagInstance) -> None:
    """Tests that no schedule, and one that does not verify, are refused."""
    with pytest.raises(ValueError, match="schedules: expected at least one, got none"):
        view_html(example_e, {})
    with pytest.raises(ValueError, match=r"schedules\['bad'\]: expected one that verifies, got one with: tasks"):
        view_html(example_e, {"bad": DagSchedule(gpu=[0] * 5, start=[0] * 5)})
