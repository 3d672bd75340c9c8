"""Gantt charts: one lane per GPU, one bar per task."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.objective import finish_times

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


MAX_LABELLED_TASKS = 60
"""Above this many tasks the bars carry no names: they would not be legible."""

CHARACTERS_ACROSS = 95
"""About so many characters of a name fit across the chart; a name that is wider than its bar is left out."""


def plot_gantt(instance: DagInstance, schedule: DagSchedule, ax: Axes | None = None, *, end: int | None = None) -> Axes:
    """Draw a schedule: lanes are GPUs, bars are tasks, colours are jobs (tasks where there is one job).

    Parameters
    ----------
    instance
        What is scheduled.
    schedule
        A schedule of it.
    ax
        Where to draw; by default a figure of its own, whose height follows the number of GPUs.
    end
        Last tick of the axis, for charts on one scale; by default the makespan.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if ax is None:
        figure = Figure(figsize=(8.0, 1.0 + 0.38 * min(instance.num_gpus, 40)), layout="constrained")
        FigureCanvasAgg(figure)
        ax = figure.subplots()
    finish = finish_times(instance, schedule)
    colour_of = instance.job_of_task if instance.num_jobs > 1 else np.arange(instance.num_tasks)
    colours_of_map = np.array(colormaps["tab20"].colors)  # type: ignore[attr-defined]  # the stubs know no listed maps
    palette = 0.5 + 0.5 * np.concatenate([colours_of_map[::2], colours_of_map[1::2]])  # light: names stay legible
    span = int(finish.max(initial=1)) if end is None else end
    edge = 0.5 if instance.num_tasks <= MAX_LABELLED_TASKS else 0.0  # edges would cover the colours of thin bars
    for gpu in range(instance.num_gpus):
        ax.axhspan(gpu - 0.42, gpu + 0.42, color="#f4f4f4", linewidth=0, zorder=0)
        tasks = np.flatnonzero(schedule.gpu == gpu)
        bars = [(int(schedule.start[task]), int(finish[task] - schedule.start[task])) for task in tasks]
        colours = [palette[int(colour_of[task]) % len(palette)] for task in tasks]
        ax.broken_barh(bars, (gpu - 0.42, 0.84), facecolors=colours, edgecolors="#4d4d4d", linewidth=edge, zorder=2)
    if instance.num_tasks <= MAX_LABELLED_TASKS:
        for task, name in enumerate(map(_drawable, instance.task_names)):
            width = int(finish[task] - schedule.start[task])
            if width * CHARACTERS_ACROSS >= span * len(name):
                middle, gpu = int(schedule.start[task]) + width / 2, int(schedule.gpu[task])
                ax.text(middle, gpu, name, ha="center", va="center", fontsize=7, zorder=3, parse_math=False)
    labels = [_drawable(f"{name} ({kind})") for name, kind in zip(instance.gpu_names, instance.gpu_kinds, strict=True)]
    shown = range(0, instance.num_gpus, 1 + instance.num_gpus // 40)
    ax.set_yticks(list(shown), [labels[gpu] for gpu in shown], fontsize=8, parse_math=False)
    ax.set_ylim(instance.num_gpus - 0.4, -0.6)
    ax.set_xlim(0, span * 1.01)
    ax.set_xlabel(f"time in ticks of {instance.tick_seconds:g} s", fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6, zorder=1)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def _drawable(name: str) -> str:
    """Replace what is no letter: fonts and XML know no control characters and no lone surrogates."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


def gantt_svg(instance: DagInstance, schedule: DagSchedule) -> str:
    """Return the chart as one ``<svg>`` element, for notebooks and reports."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "optgap", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # whoever shows the text chooses the font
        figure = plot_gantt(instance, schedule).get_figure(root=True)
        assert figure is not None  # the axes were just made with one
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
