"""Tests of the figures of online policies: the data drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from instances.generators.jobs.generate import generate_jobs
from solvers.solve import solve
from studies.report.jobs_figures import cluster_over_time, jct_distribution, mean_level, online_gaps, parameter_sweep

if TYPE_CHECKING:
    from solvers.result import Result


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Return three policies on forty jobs."""
    instance = generate_jobs("jobs-small", jobs=40, seed=1, load=1.0)
    return {name: solve(instance, name, bounds=[]) for name in ("fifo", "wcs-duration", "a-srpt")}


def _summary() -> pd.DataFrame:
    """Return a summary of two policies at two loads."""
    rows = [
        ("a", 0.7, 0.10, 0.05, 0.2),
        ("a", 0.9, 0.30, 0.20, 0.4),
        ("b", 0.7, 0.01, 0.00, 0.02),
        ("b", 0.9, 0.02, 0.01, 0.03),
    ]
    frame = pd.DataFrame(rows, columns=["label", "load", "gap", "gap_low", "gap_high"])
    return frame.assign(scenario="s", all_optima=True)


def test_gaps_are_drawn_per_load_with_intervals() -> None:
    """Tests that marks and intervals are those of the summary in percent, the best policy on top."""
    ax = online_gaps(_summary())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a"]
    marks = [line for line in ax.lines if line.get_marker() not in ("", "None")]
    assert [list(np.round(line.get_xdata(), 6)) for line in marks] == [[1.0, 10.0], [2.0, 30.0]]
    intervals = [[list(segment[:, 0]) for segment in lines.get_segments()] for lines in ax.collections]
    assert np.allclose(intervals[0], [[0.0, 2.0], [5.0, 20.0]])
    assert ax.get_xlabel() == "mean optimality gap in %"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["load 0.7", "load 0.9"]


def test_sweep_orders_points_by_the_parameter() -> None:
    """Tests that a line goes through the means in order of the parameter, with a band from low to high."""
    summary = pd.DataFrame(
        {"label": ["x4", "x1"], "gap": [0.4, 0.1], "gap_low": [0.3, 0.1], "gap_high": [0.5, 0.2], "all_optima": False}
    )
    ax = parameter_sweep(summary, {"x4": ("x", 4.0), "x1": ("x", 1.0)}, "mu", is_logarithmic=True)
    (line,) = ax.lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1.0, 4.0], [10.0, 40.0])
    assert "gap to the best proven bound" in ax.get_ylabel()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "4"]


def test_distribution_starts_at_one_and_ends_at_the_largest(results: dict[str, Result]) -> None:
    """Tests that every line falls from 1 at the smallest JCT to one job at the largest."""
    ax = jct_distribution(results)
    for line, result in zip(ax.lines, results.values(), strict=True):
        assert result.jct is not None
        times, shares = (np.asarray(values, dtype=float) for values in (line.get_xdata(), line.get_ydata()))
        assert np.allclose(times, np.sort(result.jct) * result.instance.tick_seconds)
        assert (shares[0], shares[-1]) == (1.0, pytest.approx(1 / 40))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(results)


def test_mean_level_by_hand() -> None:
    """Tests the mean level of two items, also in stretches that they only touch."""
    edges = np.array([0.0, 2.0, 4.0, 8.0])
    level = mean_level(np.array([1, 2]), np.array([3, 8]), np.array([4, 1]), edges)
    assert level.tolist() == [2.0, 3.0, 1.0]
    empty = np.zeros(0, dtype=np.int64)
    assert mean_level(empty, empty, empty, edges).tolist() == [0.0, 0.0, 0.0]


def test_areas_are_work_and_waiting(results: dict[str, Result]) -> None:
    """Tests that the area under GPUs in use is the work, and that under the queue all waiting together."""
    axes = cluster_over_time(results)
    assert len(axes) == 4
    for ax, queue, result in zip(axes[:-1], axes[-1].patches, results.values(), strict=True):
        assert result.completion is not None
        assert result.schedule is not None
        hours = result.instance.tick_seconds / 3600
        held = (result.completion - result.schedule.start) * result.instance.gang_size
        assert _area(ax.patches[0]) / 100 * result.instance.num_gpus == pytest.approx(float(held.sum()) * hours)
        waited = float((result.schedule.start - result.instance.release).sum())
        assert _area(queue) == pytest.approx(waited * hours)


def _area(patch: object) -> float:
    """Return the area under a step patch."""
    values, edges, _ = patch.get_data()  # type: ignore[attr-defined]  # a StepPatch
    return float((values * np.diff(edges)).sum())


def test_runs_without_a_schedule_are_refused(results: dict[str, Result]) -> None:
    """Tests that a run without a schedule cannot be drawn over time."""
    instance = results["fifo"].instance
    stopped = solve(instance, "fifo", bounds=[], time_limit=1e-9)
    with pytest.raises(ValueError, match=r"^results: expected runs with a schedule, got one of fifo without\.$"):
        cluster_over_time({"fifo": stopped})
