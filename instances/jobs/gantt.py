"""Gantt charts of jobs: one band per server, one lane in it per GPU."""

from __future__ import annotations

import heapq
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.objective import job_durations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


MAX_LABELLED_JOBS = 60
"""Above this many jobs the bars carry no names: they would not be legible."""

CHARACTERS_ACROSS = 95
"""About so many characters of a name fit across the chart; a name that is wider than its bar is left out."""

MAX_LABELLED_SERVERS = 40
"""Above this many servers only some have their name beside them."""

GAP = 0.5
"""Between the bands of two servers, in lanes."""


def plot_jobs_gantt(
    instance: JobsInstance, schedule: JobsSchedule, ax: Axes | None = None, *, end: int | None = None
) -> Axes:
    """Draw a schedule: bands are servers, lanes in them GPUs (or half GPUs that jobs share), bars are jobs.

    Parameters
    ----------
    instance
        What is scheduled.
    schedule
        A schedule of it that verifies.
    ax
        Where to draw; by default a figure of its own, whose height follows the number of GPUs.
    end
        Last tick of the axis, for charts on one scale; by default the last completion.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    capacity = instance.num_gpus_of * instance.share
    bottom = np.concatenate([[0.0], np.cumsum(capacity + GAP)])
    if ax is None:
        figure = Figure(figsize=(8.0, 1.0 + min(0.22 * float(bottom[-1]), 11.0)), layout="constrained")
        FigureCanvasAgg(figure)
        ax = figure.subplots()
    bars = server_lanes(instance, schedule)
    span = max((bar.start + bar.ticks for bar in bars), default=1) if end is None else end
    is_small = instance.num_jobs <= MAX_LABELLED_JOBS
    for server in range(instance.num_servers):
        ax.axhspan(bottom[server], bottom[server] + capacity[server], color="#f4f4f4", linewidth=0, zorder=0)
    colours_of_map = np.array(colormaps["tab20"].colors)  # type: ignore[attr-defined]  # the stubs know no listed maps
    palette = 0.5 + 0.5 * np.concatenate([colours_of_map[::2], colours_of_map[1::2]])  # light: names stay legible
    corners = [
        _corners(bar.start, bar.ticks, float(bottom[bar.server] + bar.first_lane), bar.num_lanes) for bar in bars
    ]
    ax.add_collection(
        PolyCollection(
            corners,
            facecolors=[palette[bar.job % len(palette)] for bar in bars],
            edgecolors="#4d4d4d",
            linewidths=0.5 if is_small else 0.0,  # edges would cover the colours of thin bars
            zorder=2,
        )
    )
    if is_small:
        for bar in bars:
            name = _drawable(instance.job_names[bar.job])
            if bar.ticks * CHARACTERS_ACROSS >= span * len(name):
                middle = float(bottom[bar.server] + bar.first_lane) + bar.num_lanes / 2
                ax.text(
                    bar.start + bar.ticks / 2,
                    middle,
                    name,
                    ha="center",
                    va="center",
                    fontsize=7,
                    zorder=3,
                    parse_math=False,
                )
    shown = range(0, instance.num_servers, 1 + instance.num_servers // MAX_LABELLED_SERVERS)
    ax.set_yticks(
        [float(bottom[server] + capacity[server] / 2) for server in shown],
        [_label(instance, server) for server in shown],
        fontsize=8,
        parse_math=False,
    )
    ax.set_ylim(float(bottom[-1]), -GAP)
    ax.set_xlim(0, span * 1.01)
    ax.set_xlabel(f"time in ticks of {instance.tick_seconds:g} s", fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6, zorder=1)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def jobs_gantt_svg(instance: JobsInstance, schedule: JobsSchedule) -> str:
    """Return the chart as one ``<svg>`` element, for notebooks and reports."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "optgap", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # whoever shows the text chooses the font
        figure = plot_jobs_gantt(instance, schedule).get_figure(root=True)
        assert figure is not None  # the axes were just made with one
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _corners(start: int, ticks: int, low: float, lanes: int) -> list[tuple[float, float]]:
    """Return the corners of a bar, a little lower than its lanes so that neighbours stay apart."""
    top, bottom = low + 0.04, low + lanes - 0.04
    return [(start, top), (start + ticks, top), (start + ticks, bottom), (start, bottom)]


def _label(instance: JobsInstance, server: int) -> str:
    """Return what stands beside a server."""
    kind = instance.kinds[int(instance.server_kind[server])]
    return _drawable(f"{instance.server_names[server]} ({instance.num_gpus_of[server]} x {kind})")


def _drawable(name: str) -> str:
    """Replace what is no letter: fonts and XML know no control characters and no lone surrogates."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Neighbouring lanes of a server that a job holds, from its start for some ticks.

    Parameters
    ----------
    server, job
        Who holds what.
    first_lane, num_lanes
        Lanes of the server from 0 on, as many per GPU as jobs may share one.
    start, ticks
        When, in ticks.
    """

    server: int
    job: int
    first_lane: int
    num_lanes: int
    start: int
    ticks: int


def server_lanes(instance: JobsInstance, schedule: JobsSchedule) -> list[Bar]:
    """Give every job lanes on its servers, always the lowest ones that are free, in order of start.

    Where two jobs may share a GPU, a GPU has two lanes, and jobs have lanes of the GPUs that the schedule names.

    Parameters
    ----------
    instance
        What is scheduled.
    schedule
        A schedule of it that verifies.

    Returns
    -------
    list of Bar
        No two overlap; those of a job on a server have as many lanes as it has replicas there.
    """
    share = instance.share
    named = [schedule.gpus_of(instance, job) if share > 1 else [] for job in range(instance.num_jobs)]
    durations, starts = job_durations(instance, schedule).tolist(), schedule.start.tolist()
    held: list[dict[int, int]] = [{} for _ in range(instance.num_servers)]
    for job in range(instance.num_jobs):
        rows = instance.stages_of(job)
        entries = slice(schedule.entry_offsets[rows.start], schedule.entry_offsets[rows.stop])
        pairs = zip(schedule.entry_server[entries].tolist(), schedule.entry_count[entries].tolist(), strict=True)
        for server, count in pairs:
            held[server][job] = held[server].get(job, 0) + count
    bars: list[Bar] = []
    for server, count_of in enumerate(held):
        free = list(range(int(instance.num_gpus_of[server]) * share))
        running: list[tuple[int, list[int]]] = []
        for job in sorted(count_of, key=lambda job: (starts[job], job)):
            while running and running[0][0] <= starts[job]:
                for lane in heapq.heappop(running)[1]:
                    heapq.heappush(free, lane)
            if share == 1:
                lanes = [heapq.heappop(free) for _ in range(count_of[job])]
            else:
                own = {gpu for where, gpu in named[job] if where == server}
                lanes = sorted(
                    {lane // share: lane for lane in sorted(free, reverse=True) if lane // share in own}.values()
                )
                free = sorted(set(free) - set(lanes))  # sorted lists are heaps
            heapq.heappush(running, (starts[job] + durations[job], lanes))
            for first, number in _neighbours(lanes):
                bars.append(
                    Bar(
                        server=server,
                        job=job,
                        first_lane=first,
                        num_lanes=number,
                        start=starts[job],
                        ticks=durations[job],
                    )
                )
    return bars


def _neighbours(lanes: list[int]) -> list[tuple[int, int]]:
    """Group ascending lanes into (first, number of neighbours)."""
    groups: list[tuple[int, int]] = []
    for lane in lanes:
        if groups and sum(groups[-1]) == lane:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((lane, 1))
    return groups
