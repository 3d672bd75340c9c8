"""How long a browser takes to show and to move a schedule of 5,000 tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import optgap
from studies.export.page import view_html
from tests.browser import needs_browser, opened, told, without_policy

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.speed, needs_browser]

MEASURE = """
const loaded = performance.now();
const canvas = document.querySelector("canvas");
zoom(0.5, end / 2);
const frames = [];
for (let step = 0; step < 60; step++) {
  move(view.from + (step < 30 ? 1 : -1) * (view.to - view.from) / 40, view.to - view.from);
  const before = performance.now();
  canvas.redraw();
  canvas.getContext("2d").getImageData(0, 0, 1, 1); // waits until it is drawn
  frames.push(performance.now() - before);
}
frames.sort((a, b) => a - b);
document.body.setAttribute("data-measured", JSON.stringify({ loaded, median: frames[30], slowest: frames[59] }));
"""


@pytest.mark.parametrize("transfers", [False, True])
def test_five_thousand_tasks(tmp_path: Path, transfers: bool) -> None:
    """Tests that a page of 5,000 tasks is there in 2 s and that a frame takes under 50 ms while it is moved."""
    cluster = optgap.parse_cluster("mixed-16")
    instance = optgap.generate("pipeline-training", tasks=5000, seed=1, cluster=cluster)
    html = view_html(instance, {"heft": optgap.solve(instance, "heft").schedule})
    script = f'byId("links").checked = {str(transfers).lower()};{MEASURE}'
    measured = told(opened(without_policy(html, script), tmp_path, 1400)[0], "data-measured")
    print(measured)
    assert measured["loaded"] < 2000
    assert measured["median"] < 50
