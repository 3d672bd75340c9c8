"""Tests of Gantt charts: the data drawn, and the SVG text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from instances.dag.gantt import gantt_svg, memory_in_use, plot_gantt
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from instances.gantt_axes import MAX_LABELLED_BARS


@pytest.fixture(scope="module")
def instance() -> DagInstance:
    """Four tasks of two jobs on three GPUs."""
    return DagInstance.from_lists(
        [[4, 9, 9], [3, 5, 9], [9, 9, 6], [2, 9, 9]],
        job_of_task=[0, 1, 0, 1],
        release=[0, 0],
        gpu_names=["a", "b", "c"],
        gpu_kinds=["T4", "T4", "V100"],
        tick_seconds=0.001,
    )


@pytest.fixture(scope="module")
def schedule() -> DagSchedule:
    """Tasks 0 and 3 on GPU 0, task 1 on GPU 1, task 2 on GPU 2; makespan 10."""
    return DagSchedule(gpu=[0, 1, 2, 0], start=[0, 1, 4, 7])


def bars(axes: object) -> set[tuple[float, float, float, tuple[float, ...]]]:
    """Return begin, end, middle of the lane and colour of every bar."""
    found = set()
    for collection in axes.collections:
        if not isinstance(collection, PolyCollection) or collection.get_hatch():
            continue
        colours = np.broadcast_to(collection.get_facecolors(), (len(collection.get_paths()), 4))
        for path, colour in zip(collection.get_paths(), colours, strict=True):
            (left, bottom), (right, top) = path.vertices.min(axis=0), path.vertices.max(axis=0)
            found.add((left, right, round((bottom + top) / 2, 6), tuple(np.round(colour, 6).tolist())))
    return found


def test_bars_stand_where_tasks_run(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that every task is one bar from start to finish in the lane of its GPU."""
    places = sorted(bar[:3] for bar in bars(plot_gantt(instance, schedule)))
    assert places == [(0, 4, 0), (1, 6, 1), (4, 10, 2), (7, 9, 0)]


def test_colours_are_jobs(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that tasks of one job share a colour, jobs differ, and with one job tasks differ."""
    colour = {bar[0]: bar[3] for bar in bars(plot_gantt(instance, schedule))}
    assert colour[0] == colour[4] != colour[1] == colour[7]
    alone = DagInstance.from_lists(instance.durations.tolist())
    assert len({bar[3] for bar in bars(plot_gantt(alone, schedule))}) == 4


def test_jobs_differ_in_more_than_colour(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that a legend names the jobs, that one of two jobs has a pattern, and that one job alone needs neither."""
    axes = plot_gantt(instance, schedule)
    (legend,) = axes.figure.legends
    assert [text.get_text().strip() for text in legend.get_texts()] == list(instance.job_names)
    patterned = [path for each in axes.collections if each.get_hatch() for path in each.get_paths()]
    assert sorted(path.vertices[:, 0].min() for path in patterned) == [1, 7]
    alone = plot_gantt(DagInstance.from_lists(instance.durations.tolist()), schedule)
    assert alone.figure.legends == []
    assert not any(each.get_hatch() for each in alone.collections)


def test_axes_say_what_they_show(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests lane labels, the unit of time, and that GPU 0 stands at the top."""
    axes = plot_gantt(instance, schedule)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a (T4)", "b (T4)", "c (V100)"]
    assert axes.get_xlabel() == "time in ms (one tick is 1 ms)"
    axes.figure.draw_without_rendering()
    assert [label.get_text() for label in axes.get_xticklabels()][:3] == ["0", "2", "4"]
    assert axes.get_xticks()[:3].tolist() == [0, 2, 4]
    low, high = axes.get_ylim()
    assert low > high
    assert axes.get_xlim() == pytest.approx((0.0, 10.1))
    assert plot_gantt(instance, schedule, end=100).get_xlim() == pytest.approx((0.0, 101.0))


def test_axis_of_time_is_in_human_units(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that the axis shows round numbers of the unit that suits its length, without an offset or an exponent."""
    long = DagInstance.from_lists([[4_000_000_000]], tick_seconds=1e-6)
    axes = plot_gantt(long, DagSchedule(gpu=[0], start=[0]))
    axes.figure.draw_without_rendering()
    assert axes.get_xlabel() == "time in min (one tick is 1 µs)"
    assert [label.get_text() for label in axes.get_xticklabels()][:4] == ["0", "10", "20", "30"]
    assert axes.get_xticks()[1] == pytest.approx(6e8)


def test_names_stand_in_their_bars(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that names are drawn in the middle of the bars that are wide enough for them, and only there."""
    texts = {text.get_text(): text.get_position() for text in plot_gantt(instance, schedule).texts}
    assert texts == {"t0": (2.0, 0), "t1": (3.5, 1), "t2": (7.0, 2), "t3": (8.0, 0)}
    narrow = {text.get_text() for text in plot_gantt(instance, schedule, end=200).texts}
    assert narrow == {"t1", "t2"}  # 5 and 6 of 200 ticks hold two of 95 characters, 4 ticks do not


def test_many_tasks_carry_no_names() -> None:
    """Tests that above the limit no bar carries a name, at the limit all do."""
    for count, expected in ((MAX_LABELLED_BARS, MAX_LABELLED_BARS), (MAX_LABELLED_BARS + 1, 0)):
        many = DagInstance.from_lists([[1]] * count, task_names=["x"] * count)
        one_lane = DagSchedule(gpu=[0] * count, start=list(range(count)))
        assert len(plot_gantt(many, one_lane).texts) == expected


def test_drawn_on_given_axes(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that axes that are passed in are used and returned."""
    axes = Figure().subplots()
    assert plot_gantt(instance, schedule, ax=axes) is axes
    assert len(bars(axes)) == 4


def test_no_tasks() -> None:
    """Tests that a schedule without tasks has lanes and no bars."""
    axes = plot_gantt(DagInstance.from_lists([], num_gpus=2), DagSchedule(gpu=[], start=[]))
    assert bars(axes) == set()
    assert len(axes.get_yticklabels()) == 2


def test_svg_is_the_same_every_time(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that two drawings are the same text, so that reports do not change without reason."""
    first, second = gantt_svg(instance, schedule), gantt_svg(instance, schedule)
    assert first == second
    assert "<dc:date>" not in first


def test_svg_stands_alone(instance: DagInstance, schedule: DagSchedule) -> None:
    """Tests that the SVG is one well-formed element that loads nothing and keeps names as text."""
    svg = gantt_svg(instance, schedule)
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    links = re.findall(r'(?:xlink:href|href|src)="([^"]*)"', svg) + re.findall(r"url\(([^)]*)\)", svg)
    assert links
    assert all(link.startswith("#") for link in links)
    assert "<script" not in svg
    assert "c (V100)" in "".join(root.itertext())


def test_names_are_no_formulas() -> None:
    """Tests that dollar signs and angle brackets in names are drawn as they are."""
    instance = DagInstance.from_lists([[5]], task_names=["$x_1$ <b>"], gpu_kinds=["$\\bad$"])
    svg = gantt_svg(instance, DagSchedule(gpu=[0], start=[0]))
    text = "".join(ElementTree.fromstring(svg).itertext())
    assert "$x_1$ <b>" in text
    assert "g0 ($\\bad$)" in text


def test_memory_of_buffers_stands_below_the_lanes() -> None:
    """Tests that an instance with buffers has a lane of memory per GPU, whose steps are what is held."""
    instance = DagInstance.from_lists(
        [[2], [3], [1]],
        [(0, 1, 0), (1, 2, 0)],
        task_memory=[1, 0, 0],
        gpu_memory=[8],
        buffers=[(0, 4, [1]), (0, 2, [2])],
    )
    schedule = DagSchedule(gpu=[0, 0, 0], start=[1, 3, 6])
    ticks, used = memory_in_use(instance, schedule, 0)
    assert (ticks.tolist(), used.tolist()) == ([0, 1, 6, 7], [1, 7, 3, 1])
    labels = [label.get_text() for label in plot_gantt(instance, schedule).get_yticklabels()]
    assert labels == ["g0 (GPU)", "g0 memory, up to 7 bytes of 8 bytes"]
    assert len(plot_gantt(instance.without_buffers(), schedule).get_yticklabels()) == 1
