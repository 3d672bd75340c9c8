"""Tests of the figure of plan distance and finish time gap: the data drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from instances.generators.dag.generate import generate
from studies.papers.plan_distance import PUBLISHED_CORRELATIONS, plan_distance_figure, plan_distance_study

if TYPE_CHECKING:
    from studies.papers.plan_distance import PlanDistanceTable


@pytest.fixture(scope="module")
def table() -> PlanDistanceTable:
    """Three small instances of two families, and one where nothing varies."""
    instances = [generate(family, tasks=12, seed=seed) for family, seed in (("fft", 0), ("fft", 1), ("chains", 0))]
    constant = DagInstance.from_lists([[2, 2]], name="constant")
    return plan_distance_study([*instances, constant], placements=40, pairs=200, resamples=5)


def test_rows_hold_what_was_measured_and_published(table: PlanDistanceTable) -> None:
    """Tests a point and an interval per instance, a box per definition, and three numbers per published row."""
    ax = plan_distance_figure(table)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:3] == ["fft", "chains", "constant"]
    assert labels[3:8] == [f"all families, {name}" for name in table.distances]
    assert labels[8:] == [f"published: {entry.name}" for entry in PUBLISHED_CORRELATIONS]
    lines = [line for line in ax.lines if len(line.get_xdata())]  # boxes without far points have empty ones
    drawn = [(list(line.get_xdata()), line.get_marker(), np.mean(line.get_ydata())) for line in lines]
    rows = [row for row in table.rows if row.distance == "l2" and row.pearson is not None]
    assert len(rows) == 3
    for row in rows:
        y = labels.index(row.family) + 1
        assert [round(at) for x, marker, at in drawn if x == [row.pearson] and marker == "o"] == [y]
        assert [round(at) for x, _, at in drawn if x == [row.pearson_low, row.pearson_high]] == [y]
    for y, entry in enumerate(PUBLISHED_CORRELATIONS, 9):
        assert [x for x, _, at in drawn if at == y and x[0] != 0] == [[entry.smallest, entry.largest], [entry.mean]]
    assert "Euclidean distance of final loads" in ax.get_xlabel()


def test_other_definition(table: PlanDistanceTable) -> None:
    """Tests that another definition draws its own numbers and says so; an unknown one is refused."""
    ax = plan_distance_figure(table, distance="hamming")
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
    assert points[:3] == [row.pearson for row in table.rows if row.distance == "hamming" and row.pearson is not None]
    assert "hamming = number of tasks on different GPUs" in ax.get_xlabel()
    message = r"^distance: expected one of l2, l1, sum, running-l2, hamming, got 'cosine'\.$"
    with pytest.raises(ValueError, match=message):
        plan_distance_figure(table, distance="cosine")


def test_nothing_is_cut_off(table: PlanDistanceTable) -> None:
    """Tests that axes, labels and caption lie inside the figure."""
    figure = plan_distance_figure(table).figure
    figure.draw_without_rendering()
    box, size = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= size[0]
    assert box.y1 <= size[1]
