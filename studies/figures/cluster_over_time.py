"""What a cluster does while jobs arrive: GPUs in use and jobs that wait, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import line_styles, lines_only

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from solvers.jobs.jobs_result import JobsResult

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
