"""How the time of a decision grows with the cluster, a line per number of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.decision_latency.decision_latency_study import HIGH, LIMIT_GPUS, LIMIT_MS, LOW
from studies.figures.direct_labels import label_lines
from studies.figures.house_style import QUIET, line_styles, lines_only, new_axes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from studies.decision_latency.decision_latency_study import DecisionLatencyStudy

ROOM = 1.6
"""Sizes whose labels do not overlap differ by this factor."""


def decision_latency_figure(study: DecisionLatencyStudy, ax: Axes | None = None) -> Axes:
    """Draw medians over GPUs, both axes logarithmic, with a band between percentiles and the limit of 50 ms.

    Parameters
    ----------
    study
        Result of `decision_latency_study`.
    ax
        Where to draw; by default a figure of its own.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ax = ax or new_axes(8.5, 4.6)
    agents = list(dict.fromkeys(row.agents for row in study.rows))
    labels = {number: f"{number} agent{'s' if number > 1 else ''}" for number in agents}
    styles = line_styles(labels.values())
    servers_of = {row.gpus: row.servers for row in study.rows}
    ends, colours = {}, {}
    for number in agents:
        rows = [row for row in study.rows if row.agents == number]
        gpus, label = [row.gpus for row in rows], labels[number]
        colour = colours[label] = styles[label].colour
        ends[label] = rows[-1].decision_ms
        ax.plot(gpus, [row.decision_ms for row in rows], color=colour, marker="o", markersize=4, linewidth=1.6)
        ax.fill_between(
            gpus, [row.low_ms for row in rows], [row.high_ms for row in rows], color=colour, alpha=0.1, linewidth=0
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    lines_only(ax)
    least, most = min(servers_of), max(servers_of)
    ax.set_xlim(least / 1.1, most * 1.05)
    ax.axhline(LIMIT_MS, color=QUIET, linewidth=1.0, linestyle="--")
    ax.text(least, 1.05 * LIMIT_MS, f"{LIMIT_MS:g} ms", color=QUIET, fontsize=9, verticalalignment="bottom")
    if least <= LIMIT_GPUS <= most:
        ax.axvline(LIMIT_GPUS, color=QUIET, linewidth=0.8, linestyle=":")
        at_bottom = ax.get_xaxis_transform()
        ax.text(1.03 * LIMIT_GPUS, 0.02, f"{LIMIT_GPUS:,} GPUs", color=QUIET, fontsize=9, transform=at_bottom)
    ax.xaxis.set_major_locator(FixedLocator(_ticks(servers_of)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}\n({servers_of[round(at)]:,})"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:g}"))
    ax.set_xlabel("GPUs, and in brackets servers (logarithmic)")
    ax.set_ylabel(f"ms of one core per decision (logarithmic):\nmedian, band from {LOW} to {HIGH} %")
    label_lines(ax, ends, colours)
    return ax


def _ticks(sizes: Iterable[int]) -> list[int]:
    """Return the sizes that have room for a label; the limit has one anyway and makes room for others."""
    kept: list[int] = []
    for size in sorted(sizes, key=lambda size: (size == LIMIT_GPUS, size)):
        if all(max(size, other) >= ROOM * min(size, other) for other in kept):
            kept.append(size)
    return sorted(kept)
