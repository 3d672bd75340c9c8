"""Figures of policies and their schedules of jobs: gaps over load, JCT, and the cluster over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.report.figure_style import (
    COLOURS,
    OPTIMUM,
    gap_name,
    line_styles,
    lines_only,
    new_axes,
    percent_axis,
    rows_of_methods,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from solvers.result import Result

    JobsResult = Result[JobsInstance, JobsSchedule]


MARKERS = ("o", "s", "D", "^", "v", "P")
"""One per load, beside the colour."""

SPREAD = 0.5
"""Height over which the loads of a policy are spread."""


def online_gaps(summary: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the mean gap of every policy with its confidence interval, one mark per load; the best is on top.

    Parameters
    ----------
    summary
        As `online_summary` returns it, of one scenario.
    ax
        Where to draw; by default a figure of its own, whose height follows the number of policies.
    """
    means = summary.groupby("label", sort=False)["gap"].mean().sort_values(kind="stable")
    labels = list(means.index)
    loads = list(dict.fromkeys(summary["load"]))
    ax = ax or new_axes(8.0, 1.3 + 0.42 * max(len(labels), 1))
    ax.axvline(0.0, color=OPTIMUM, linewidth=1.5, zorder=1)
    shifts = np.linspace(-SPREAD, SPREAD, len(loads)) / 2 if len(loads) > 1 else np.zeros(1)
    largest = 0.0
    for index, (load, shift) in enumerate(zip(loads, shifts, strict=True)):
        part = summary[summary["load"] == load].set_index("label").reindex(labels)
        gap = 100 * part["gap"].to_numpy(dtype=np.float64)
        low, high = (100 * part[name].to_numpy(dtype=np.float64) for name in ("gap_low", "gap_high"))
        rows = np.arange(1, len(labels) + 1) + shift
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        has_interval = np.isfinite(low)
        ax.hlines(rows[has_interval], low[has_interval], high[has_interval], color=colour, linewidth=1.4, zorder=2)
        ax.plot(gap, rows, linestyle="", marker=marker, markersize=5, color=colour, label=f"load {load:g}", zorder=3)
        largest = max(largest, float(np.nanmax(np.concatenate([gap, high]), initial=0.0)))
    rows_of_methods(ax, labels)
    percent_axis(ax, "x", largest, f"mean {gap_name(bool(summary['all_optima'].all()))}")
    if len(loads) > 1:
        ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(loads))
    return ax


def parameter_sweep(
    summary: pd.DataFrame,
    points: Mapping[str, tuple[str, float]],
    name: str,
    ax: Axes | None = None,
    *,
    is_logarithmic: bool = False,
) -> Axes:
    """Draw the mean gap of every line over a parameter, with its confidence interval as a band.

    Parameters
    ----------
    summary
        As `online_summary` returns it, of one scenario and load.
    points
        For a label its line and where it stands on it.
    name
        Of the parameter, for the axis.
    is_logarithmic
        Whether the axis of the parameter is.
    """
    ax = ax or new_axes(7.0, 4.0)
    rows = summary.set_index("label")
    lines = list(dict.fromkeys(line for line, _ in points.values()))
    styles = line_styles(lines)
    largest = 0.0
    for line in lines:
        mine = sorted((place, label) for label, (of, place) in points.items() if of == line and label in rows.index)
        places = [place for place, _ in mine]
        gap, low, high = (
            100 * rows.loc[[label for _, label in mine], column].to_numpy(dtype=np.float64)
            for column in ("gap", "gap_low", "gap_high")
        )
        style = styles[line]
        ax.fill_between(places, low, high, color=style.colour, alpha=0.15, linewidth=0)
        ax.plot(places, gap, color=style.colour, linestyle=style.dashes, marker="o", markersize=4, label=line)
        largest = max(largest, float(np.nanmax(np.concatenate([gap, high]), initial=0.0)))
    if is_logarithmic:
        ax.set_xscale("log")
        places = sorted({place for _, place in points.values()})
        ax.set_xticks(places, [f"{place:g}" for place in places])
        ax.minorticks_off()
    ax.set_xlabel(name)
    lines_only(ax)
    percent_axis(ax, "y", largest, f"mean {gap_name(bool(summary['all_optima'].all()))}\n")
    ax.legend(frameon=False, fontsize=9)
    return ax


def jct_distribution(results: Mapping[str, JobsResult], ax: Axes | None = None) -> Axes:
    """Draw, for every policy, the share of jobs whose JCT is longer than a time; both axes are logarithmic.

    The tail is what users complain of, and where policies differ.

    Parameters
    ----------
    results
        With a schedule each, by the name of the policy, of one instance.
    """
    ax = ax or new_axes(8.0, 4.2)
    styles = line_styles(results)
    smallest = 1.0
    for label, result in results.items():
        jct = result.jct
        if jct is None or not len(jct):
            continue
        times = np.sort(jct) * result.instance.tick_seconds
        longer = 1.0 - np.arange(len(times)) / len(times)
        smallest = min(smallest, float(longer[-1]))
        ax.step(
            times,
            longer,
            where="pre",
            color=styles[label].colour,
            linestyle=styles[label].dashes,
            linewidth=1.5,
            label=label,
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(smallest * 0.8, 1.15)
    ax.set_xlabel("JCT in seconds (logarithmic)")
    ax.set_ylabel("share of jobs that take as long or longer")
    lines_only(ax)
    ax.legend(frameon=False, fontsize=9, loc="lower left")
    return ax


BINS = 300
"""Stretches of time whose means are drawn: more would be thinner than a line."""


def cluster_over_time(results: Mapping[str, JobsResult], axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw GPUs in use in percent, policy by policy, and below them the jobs that wait under all of them.

    Both are means over `BINS` stretches of time.

    Parameters
    ----------
    results
        With a schedule each, by the name of the policy, of one instance.
    axes
        One for every policy, and one more; by default those of a figure of its own.
    """
    drawn = list(_new_axes(len(results) + 1) if axes is None else axes)
    styles = line_styles(results)
    begins = [int(result.instance.release.min(initial=0)) for result in results.values()]
    ends = [_completion(result).max(initial=1) for result in results.values()]
    edges = np.linspace(min(begins, default=0), max(map(int, ends), default=1), BINS + 1)
    hours = edges * _tick_seconds(results) / 3600
    queue = drawn[-1]
    for (label, result), ax in zip(results.items(), drawn[:-1], strict=True):
        instance, completion, start = result.instance, _completion(result), _start(result)
        style = styles[label]
        busy = mean_level(start, completion, instance.gang_size, edges) / instance.num_gpus
        ax.stairs(100 * busy, hours, color=style.colour, fill=True, alpha=0.75)
        ax.set_ylabel("GPUs in\nuse in %")
        ax.set_ylim(0, 104)
        ax.set_title(label, loc="left", fontsize=9, color=style.colour, parse_math=False)
        waiting = mean_level(instance.release, start, np.ones(instance.num_jobs, dtype=np.int64), edges)
        queue.stairs(waiting, hours, color=style.colour, linestyle=style.dashes, linewidth=1.3, label=label)
    queue.set_ylabel("jobs that wait")
    queue.set_ylim(bottom=0)
    queue.set_xlabel("time in hours")
    for ax in drawn:
        lines_only(ax)
        ax.set_xlim(float(hours[0]), float(hours[-1]))
    queue.legend(frameon=False, fontsize=9, loc="upper right")
    return drawn


def mean_level(
    begin: NDArray[np.int64], end: NDArray[np.int64], amount: NDArray[np.int64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean of a level in every stretch between two edges, to which each item adds while it lasts.

    Parameters
    ----------
    begin, end, amount
        Of the items, shape (items,) each.
    edges
        Ascending, shape (stretches + 1,).

    Returns
    -------
    NDArray[np.float64]
        Shape (stretches,).
    """
    times = np.concatenate([begin, end]).astype(np.float64)
    changes = np.concatenate([amount, -amount]).astype(np.float64)
    order = np.argsort(times, kind="stable")
    times, level = times[order], np.cumsum(changes[order])
    # The integral of the level up to every change, linear in between.
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(times))]) if len(times) else np.zeros(0)
    integral = np.interp(edges, times, area) if len(times) else np.zeros(len(edges))
    return np.asarray(np.diff(integral) / np.diff(edges))


def _new_axes(number: int) -> list[Axes]:
    """Return axes above each other, the last one higher, in a figure that no window shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    heights = [1.0] * (number - 1) + [2.0]
    figure = Figure(figsize=(8.0, 0.6 + 1.05 * sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    return list(np.atleast_1d(figure.subplots(number, sharex=True, height_ratios=heights)))


def _completion(result: JobsResult) -> NDArray[np.int64]:
    """Return the completion times of a result that has a schedule."""
    if result.completion is None:
        raise ValueError(f"results: expected runs with a schedule, got one of {result.method} without.")
    return result.completion


def _start(result: JobsResult) -> NDArray[np.int64]:
    """Return the starts of a result that has a schedule."""
    assert result.schedule is not None  # its completion times were asked for before
    return result.schedule.start


def _tick_seconds(results: Mapping[str, JobsResult]) -> float:
    """Return the length of a tick of the one instance."""
    return next((result.instance.tick_seconds for result in results.values()), 1.0)
