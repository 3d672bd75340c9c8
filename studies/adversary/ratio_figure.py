"""The ratio over the steps of a search."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from studies.figures.house_style import COLOURS, OPTIMUM, QUIET, lines_only, new_axes

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes


def ratio_figure(
    trace: Path, title: str, *, against: str = "optimum", mean: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the ratio of the instance that is being changed, and the largest so far.

    Parameters
    ----------
    trace
        CSV file of a search (`AdversaryFolder`).
    title
        What the ratio is.
    against
        What a ratio of 1 is.
    mean
        Mean ratio on random instances, None where it is not known.
    ax
        Where to draw; by default a figure of its own.
    """
    ax = ax or new_axes(8.0, 4.5)
    current: list[float] = []
    best: list[float] = []
    begins: list[int] = []
    with trace.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["current"] == "" or row["best"] == "":
                continue
            if row["step"] == "0":
                begins.append(len(current))
            current.append(float(row["current"]))
            best.append(float(row["best"]))
    for begin, end in zip(begins, [*begins[1:], len(current)], strict=True):
        label = "current instance" if begin == begins[0] else None
        steps = range(begin, end)
        ax.step(steps, current[begin:end], where="post", color=COLOURS[0], linewidth=1.0, label=label)
    ax.step(range(len(best)), best, where="post", color=COLOURS[1], linewidth=1.8, label="largest so far")
    ax.axhline(1.0, color=OPTIMUM, linewidth=1.2, label=against)
    if mean is not None:
        ax.axhline(mean, color=QUIET, linestyle=(0, (4, 2)), linewidth=1.2, label="mean of random instances")
    lines_only(ax)
    ax.set_xlabel("step" if len(begins) < 2 else f"step ({len(begins)} searches, one after the other)")
    ax.set_ylabel(title, parse_math=False)
    ax.set_ylim(bottom=min(0.95, *current) if current else 0.95)
    ax.legend(frameon=False, loc="upper left")
    return ax
