"""Tests of boxes against those of Matplotlib."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure

from studies.report.figure_style import box_statistics, draw_boxes


@given(values=st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_agrees_with_matplotlib(values: list[int]) -> None:
    """Tests quartiles, whiskers, mean and outliers against `boxplot_stats`, ties and single values included."""
    data = np.array(values, dtype=float)
    (expected,) = boxplot_stats(data)
    box = box_statistics(data)
    assert box[:6] == pytest.approx([expected[key] for key in ("whislo", "q1", "med", "q3", "whishi", "mean")])
    assert sorted(box.outliers) == pytest.approx(sorted(expected["fliers"]))


def test_draws_boxes_medians_and_outliers_in_their_rows() -> None:
    """Tests the box from 1 to 3 about 2 in row 1, the far value 9 beyond its whisker, and an empty row."""
    ax = Figure().subplots()
    draw_boxes(ax, [1, 2], [np.array([1.0, 1.0, 2.0, 3.0, 9.0]), np.zeros(0)], height=0.5, means=True, outliers=True)
    (box,) = ax.patches
    assert (box.get_x(), box.get_width(), box.get_y(), box.get_height()) == (1.0, 2.0, 0.75, 0.5)
    whiskers, caps, medians, outliers = ax.collections
    assert [segment.tolist() for segment in whiskers.get_segments()] == [[[1, 1], [1, 1]], [[3, 1], [3, 1]]]
    assert {segment[0, 0] for segment in caps.get_segments()} == {1.0, 3.0}
    assert [segment.tolist() for segment in medians.get_segments()] == [[[2.0, 0.75], [2.0, 1.25]]]
    assert np.asarray(outliers.get_offsets()).tolist() == [[9.0, 1.0]]
    (mean,) = ax.lines
    assert mean.get_xdata().tolist() == [3.2]
    draw_boxes(ax, [3], [np.zeros(0)], height=0.5)
    assert len(ax.patches) == 1
