"""Gantt charts of jobs: one band per server, one lane in it per GPU."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
from instances.jobs.objective import job_durations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


GAP = 0.5
"""Space between the bands of two servers, in lanes."""


def plot_jobs_gantt(
    instance: JobsInstance, schedule: JobsSchedule, ax: Axes | None = None, *, end: int | None = None
) -> Axes:
    """Draw a schedule: bands are servers, lanes in them GPUs (or half GPUs that jobs share), bars are jobs.

    Jobs differ in colour and pattern, wide bars have the name of their job, and a legend names up to `MAX_LEGEND` jobs.

    Parameters
    ----------
    schedule
        A schedule that verifies.
    ax
        Axes to draw on; by default those of a new figure, whose height follows the number of GPUs.
    end
        Last tick of the axis, for charts on one scale; by default the last completion.

    Returns
    -------
    Axes
        The axes with the chart; positions on them are in ticks, labels in human units.
    """
    from matplotlib.collections import PolyCollection

    capacity = instance.num_gpus_of * instance.share
    bottom = np.concatenate([[0.0], np.cumsum(capacity + GAP)]).tolist()
    has_legend = ax is None
    if ax is None:
        ax = gantt_axes(1.0 + min(0.22 * bottom[-1], 11.0))
    bars, palette = server_lanes(instance, schedule), bar_colours()
    span = max((bar.start + bar.ticks for bar in bars), default=1) if end is None else end
    is_small = instance.num_jobs <= MAX_LABELLED_BARS
    for server in range(instance.num_servers):
        ax.axhspan(bottom[server], bottom[server] + capacity[server], color="#f4f4f4", linewidth=0, zorder=0)
    corners = [_corners(bar, bottom[bar.server] + bar.first_lane) for bar in bars]
    if is_small:
        draw_patterns(ax, corners, [bar.job for bar in bars])
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
            middle = bottom[bar.server] + bar.first_lane + bar.num_lanes / 2
            name_bar(ax, instance.job_names[bar.job], bar.start, bar.ticks, middle, span)
    middles = [bottom[server] + float(capacity[server]) / 2 for server in range(instance.num_servers)]
    name_lanes(ax, middles, [_label(instance, server) for server in range(instance.num_servers)])
    ax.set_ylim(bottom[-1], -GAP)
    finish_time_axis(ax, span, instance.tick_seconds)
    if has_legend:
        job_legend(ax, instance.job_names)
    return ax


def jobs_gantt_svg(instance: JobsInstance, schedule: JobsSchedule) -> str:
    """Return the chart as one ``<svg>`` element, for notebooks and reports."""
    return figure_svg(plot_jobs_gantt(instance, schedule))


def _corners(bar: Bar, low: float) -> list[tuple[float, float]]:
    """Return the corners of a bar, a little lower than its lanes so that neighbours stay apart."""
    start, end, top, bottom = bar.start, bar.start + bar.ticks, low + 0.04, low + bar.num_lanes - 0.04
    return [(start, top), (end, top), (end, bottom), (start, bottom)]


def _label(instance: JobsInstance, server: int) -> str:
    """Return the name of a server with the number and kind of its GPUs."""
    kind = instance.kinds[int(instance.server_kind[server])]
    return f"{instance.server_names[server]} ({instance.num_gpus_of[server]} x {kind})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Neighbouring lanes of a server that a job holds, from its start for some ticks.

    Parameters
    ----------
    first_lane, num_lanes
        Lanes of the server from 0 on, as many per GPU as jobs may share one.
    start, ticks
        Start and duration in ticks.
    """

    server: int
    job: int
    first_lane: int
    num_lanes: int
    start: int
    ticks: int


def server_lanes(instance: JobsInstance, schedule: JobsSchedule) -> list[Bar]:
    """Give every job lanes on its servers, always the lowest ones that are free, in order of start.

    Where two jobs may share a GPU, a GPU has two lanes, and jobs have lanes of the GPUs that the schedule names. The
    schedule verifies. No two bars overlap; those of a job on a server have as many lanes as it has replicas there.
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
                where = {"server": server, "job": job, "first_lane": first, "num_lanes": number}
                bars.append(Bar(**where, start=starts[job], ticks=durations[job]))
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
