"""Gantt charts: one lane per GPU, one bar per task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.dag.objective import finish_times
from instances.gantt_axes import (
    MAX_LABELLED_BARS,
    bar_colours,
    figure_svg,
    finish_time_axis,
    gantt_axes,
    name_bar,
    name_lanes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


def plot_gantt(instance: DagInstance, schedule: DagSchedule, ax: Axes | None = None, *, end: int | None = None) -> Axes:
    """Draw a schedule: lanes are GPUs, bars are tasks, colours are jobs (tasks where there is one job).

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
    if ax is None:
        ax = gantt_axes(1.0 + 0.38 * min(instance.num_gpus, 40))
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
        ax.broken_barh(bars, (gpu - 0.42, 0.84), facecolors=colours, edgecolors="#4d4d4d", linewidth=edge, zorder=2)
    if is_small:
        for task, name in enumerate(instance.task_names):
            start = int(schedule.start[task])
            name_bar(ax, name, start, int(finish[task]) - start, int(schedule.gpu[task]), span)
    labels = [f"{name} ({kind})" for name, kind in zip(instance.gpu_names, instance.gpu_kinds, strict=True)]
    name_lanes(ax, range(instance.num_gpus), labels)
    ax.set_ylim(instance.num_gpus - 0.4, -0.6)
    finish_time_axis(ax, span, instance.tick_seconds)
    return ax


def gantt_svg(instance: DagInstance, schedule: DagSchedule) -> str:
    """Return the chart as one ``<svg>`` element, for notebooks and reports."""
    return figure_svg(plot_gantt(instance, schedule))
