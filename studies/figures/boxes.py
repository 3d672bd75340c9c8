"""Horizontal boxes, all rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from studies.figures.house_style import BOX, EDGE, MEDIAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

REACH = 1.5
"""Interquartile ranges within which the last value ends a whisker."""


class BoxStatistics(NamedTuple):
    """Quartiles (interpolated linearly), ends of the whiskers, mean, and the values beyond the whiskers."""

    low: float
    lower: float
    median: float
    upper: float
    high: float
    mean: float
    outliers: NDArray[np.float64]


def box_statistics(values: NDArray[np.float64]) -> BoxStatistics:
    """Return what a box shows of some values, at least one."""
    lower, median, upper = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = REACH * (upper - lower)
    inside = values[(values >= lower - reach) & (values <= upper + reach)]
    low, high = min(float(inside.min()), lower), max(float(inside.max()), upper)
    outliers = values[(values < low) | (values > high)]
    return BoxStatistics(low, lower, median, upper, high, float(values.mean()), outliers)


def draw_boxes(
    ax: Axes,
    rows: Sequence[float],
    values: Sequence[NDArray[np.float64]],
    *,
    height: float,
    colour: str = BOX,
    means: bool = False,
    outliers: bool = False,
) -> None:
    """Draw a box per row, as `matplotlib.axes.Axes.boxplot` does, with a few artists in all instead of seven per row.

    Parameters
    ----------
    ax
        Where to draw.
    rows, values
        Height of every box, and what it is about; rows without values stay empty.
    height
        Of a box, in rows.
    colour
        Of its inside.
    means, outliers
        Whether means are drawn as diamonds, and values beyond the whiskers as points.
    """
    drawn = [(row, box_statistics(found)) for row, found in zip(rows, values, strict=True) if len(found)]
    if not drawn:
        return
    at = np.array([row for row, _ in drawn])
    boxes = [box for _, box in drawn]
    low, lower, median, upper, high, mean = (np.array([box[field] for box in boxes]) for field in range(6))
    ax.hlines(np.concatenate([at, at]), np.concatenate([low, upper]), np.concatenate([lower, high]), color=EDGE, lw=1.0)
    ends, both = np.concatenate([low, high]), np.concatenate([at, at])
    ax.vlines(ends, both - height / 4, both + height / 4, color=EDGE, lw=1.0)
    ax.barh(at, upper - lower, left=lower, height=height, facecolor=colour, edgecolor=EDGE, linewidth=1.0, zorder=2.1)
    ax.vlines(median, at - height / 2, at + height / 2, color=MEDIAN, linewidth=2.0, zorder=4)
    if means:
        ax.plot(
            mean,
            at,
            linestyle="",
            marker="D",
            markersize=5,
            markerfacecolor="white",
            markeredgecolor=MEDIAN,
            zorder=4,
        )
    if outliers:
        beyond = np.concatenate([box.outliers for box in boxes])
        heights = np.repeat(at, [len(box.outliers) for box in boxes])
        ax.scatter(beyond, heights, s=9, color=EDGE, alpha=0.6, linewidths=0)
