"""Gantt charts: one lane per GPU, one bar per task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.dag.objective import finish_times
from instances.gantt_axes import (
    MAX_LABELLED_BARS,
    bar_colours,
    draw_patterns,
    figure_svg,
    finish_time_axis,
    gantt_axes,
    job_legend,
    name_bar,
    name_lanes,
)
from instances.units import size_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


def plot_gantt(instance: DagInstance, schedule: DagSchedule, ax: Axes | None = None, *, end: int | None = None) -> Axes:
    """Draw a schedule: lanes are GPUs, bars are tasks, colours and patterns are jobs (tasks where there is one job).

    A legend below names up to `MAX_LEGEND` jobs.

    Where the instance has buffers, a lane per GPU below shows the memory in use over time, against its limit or, where
    there is none, against its peak.

    Parameters
    ----------
    ax
        Axes to draw on; by default those of a new figure, whose height follows the number of GPUs.
    end
        Last tick of the axis, for charts on one scale; by default the makespan.

    Returns
    -------
    Axes
        The axes with the chart; positions on them are in ticks, labels in human units.
    """
    has_legend = ax is None
    if ax is None:
        ax = gantt_axes(1.0 + 0.38 * min(instance.num_gpus * (2 if instance.num_buffers else 1), 40))
    finish, palette = finish_times(instance, schedule), bar_colours()
    colour_of = instance.job_of_task if instance.num_jobs > 1 else np.arange(instance.num_tasks)
    span = int(finish.max(initial=1)) if end is None else end
    is_small = instance.num_tasks <= MAX_LABELLED_BARS
    edge = 0.5 if is_small else 0.0  # edges would cover the colours of thin bars
    for gpu in range(instance.num_gpus):
        ax.axhspan(gpu - 0.42, gpu + 0.42, color="#f4f4f4", linewidth=0, zorder=0)
        tasks = np.flatnonzero(schedule.gpu == gpu)
        bars = [(int(schedule.start[task]), int(finish[task] - schedule.start[task])) for task in tasks]
        colours = [palette[int(colour_of[task]) % len(palette)] for task in tasks]
        if is_small and instance.num_jobs > 1:
            corners = [_corners(start, ticks, gpu) for start, ticks in bars]
            draw_patterns(ax, corners, [int(instance.job_of_task[task]) for task in tasks])
        ax.broken_barh(bars, (gpu - 0.42, 0.84), facecolors=colours, edgecolors="#4d4d4d", linewidth=edge, zorder=2)
    if is_small:
        for task, name in enumerate(instance.task_names):
            start = int(schedule.start[task])
            name_bar(ax, name, start, int(finish[task]) - start, int(schedule.gpu[task]), span)
    labels = [f"{name} ({kind})" for name, kind in zip(instance.gpu_names, instance.gpu_kinds, strict=True)]
    if instance.num_buffers:
        labels += _draw_memory(ax, instance, schedule, span)
    name_lanes(ax, range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    finish_time_axis(ax, span, instance.tick_seconds)
    if has_legend:
        job_legend(ax, instance.job_names)
    return ax


def _corners(start: int, ticks: int, gpu: int) -> list[tuple[float, float]]:
    """Return the corners of a bar in the lane of a GPU."""
    low, high = gpu - 0.42, gpu + 0.42
    return [(start, low), (start + ticks, low), (start + ticks, high), (start, high)]


def memory_in_use(
    instance: DagInstance, schedule: DagSchedule, gpu: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ticks at which the memory in use on a GPU changes, and the bytes from each of them on."""
    finish = finish_times(instance, schedule)
    held = int(instance.task_memory[schedule.gpu == gpu].sum())
    change = {0: held}
    for task, size, released_by in instance.buffers:
        if schedule.gpu[task] == gpu:
            for tick, more in ((int(schedule.start[task]), size), (int(finish[list(released_by)].max()), -size)):
                change[tick] = change.get(tick, 0) + more
    ticks = np.array(sorted(change), dtype=np.int64)
    return ticks, np.cumsum([change[tick] for tick in ticks.tolist()], dtype=np.int64)


def _draw_memory(ax: Axes, instance: DagInstance, schedule: DagSchedule, span: int) -> list[str]:
    """Draw a lane of memory per GPU below the lanes of tasks, and return their labels."""
    labels = []
    for gpu, name in enumerate(instance.gpu_names):
        ticks, used = memory_in_use(instance, schedule, gpu)
        limit, peak = int(instance.gpu_memory[gpu]), int(used.max(initial=0))
        whole, middle = max(peak if limit < 0 else limit, 1), instance.num_gpus + gpu
        ax.axhspan(middle - 0.42, middle + 0.42, color="#f4f4f4", linewidth=0, zorder=0)
        ends, heights = np.append(ticks, max(span, int(ticks[-1]))), np.append(used, used[-1])
        top = middle + 0.42 - 0.84 * heights / whole
        ax.fill_between(ends, top, middle + 0.42, step="post", color="#7f9fc4", linewidth=0, zorder=2)
        of = "" if limit < 0 else f" of {size_text(limit)}"
        labels.append(f"{name} memory, up to {size_text(peak)}{of}")
    return labels


def gantt_svg(instance: DagInstance, schedule: DagSchedule) -> str:
    """Return the chart as one ``<svg>`` element, for notebooks and reports."""
    return figure_svg(plot_gantt(instance, schedule))
