"""Tests of the lanes of jobs on servers, and of the chart that is made of them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings

from instances.jobs.gantt import jobs_gantt_svg, plot_jobs_gantt, server_lanes
from instances.jobs.objective import job_durations
from solvers.solve import solve
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


@settings(deadline=None, max_examples=40)
@given(instance=jobs_instances())
def test_lanes_hold_every_replica_once(instance: JobsInstance) -> None:
    """Tests that no two bars overlap, none leaves its server, and each job has as many lanes as replicas there."""
    schedule = solve(instance, "wcs-duration", bounds=[]).schedule
    assert schedule is not None
    bars = server_lanes(instance, schedule)
    durations = job_durations(instance, schedule)
    held = np.zeros((instance.num_jobs, instance.num_servers), dtype=np.int64)
    for bar in bars:
        assert bar.first_lane >= 0
        assert bar.first_lane + bar.num_lanes <= instance.num_gpus_of[bar.server]
        assert (bar.start, bar.ticks) == (schedule.start[bar.job], durations[bar.job])
        held[bar.job, bar.server] += bar.num_lanes
    for job in range(instance.num_jobs):
        assert (held[job] == schedule.placement(instance, job).sum(axis=0)).all()
    for one, other in itertools.combinations(bars, 2):
        if one.server == other.server:
            apart_in_time = one.start + one.ticks <= other.start or other.start + other.ticks <= one.start
            apart_in_lanes = (
                one.first_lane + one.num_lanes <= other.first_lane
                or other.first_lane + other.num_lanes <= one.first_lane
            )
            assert apart_in_time or apart_in_lanes


def test_chart_draws_every_bar_and_names_servers() -> None:
    """Tests the data drawn: a polygon per bar at its time, servers with their GPUs, names in wide bars."""
    instance = worked_example()
    schedule = solve(instance, "fifo", bounds=[]).schedule
    assert schedule is not None
    bars = server_lanes(instance, schedule)
    ax = plot_jobs_gantt(instance, schedule)
    paths = ax.collections[-1].get_paths()
    drawn = sorted((path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in paths)
    assert drawn == sorted((bar.start, bar.start + bar.ticks) for bar in bars)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["s0 (2 x F)", "s1 (2 x S)"]
    assert {text.get_text() for text in ax.texts} == {"j0", "j1", "j2"}
    (legend,) = ax.figure.legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["j0", "j1", "j2"]
    assert {each.get_hatch() for each in ax.collections} == {None, "////", "...."}


def test_svg_is_the_same_each_time() -> None:
    """Tests that the chart of a schedule is one element, the same bytes each time."""
    instance = worked_example()
    schedule = solve(instance, "fifo", bounds=[]).schedule
    assert schedule is not None
    first, second = (jobs_gantt_svg(instance, schedule) for _ in range(2))
    assert first == second
    assert first.startswith("<svg")
    assert first.rstrip().endswith("</svg>")
