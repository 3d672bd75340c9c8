"""Names of lines beside their right ends, instead of a legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

FONT_SIZE = 9
"""In points."""

SPACE, LEFT, RIGHT = 1.35, 1.005, 1.04
"""Lines of text from one name to the next; where leaders begin and end, as shares of the width of the axes."""


def label_lines(ax: Axes, ends: Mapping[str, float], colours: Mapping[str, str]) -> None:
    """Write the name of every line to the right of the axes, at the height of its end, without overlaps.

    Call it last: the limits and scales of the axes must be final.

    Parameters
    ----------
    ax
        Where the lines are.
    ends
        Height of every line at the right edge, as data; those outside the axes are put at the edge.
    colours
        Of the lines.
    """
    if not ends:
        return
    to_share = ax.transScale + ax.transLimits
    left = ax.get_xlim()[1]
    heights = [float(np.clip(to_share.transform((left, end))[1], 0.0, 1.0)) for end in ends.values()]
    inches = ax.get_window_extent().height / ax.figure.dpi
    spread = spread_out(heights, SPACE * FONT_SIZE / (72 * inches))
    for label, height, place in zip(ends, heights, spread, strict=True):
        ax.plot(
            [LEFT, RIGHT - 0.005],
            [height, place],
            transform=ax.transAxes,
            clip_on=False,
            color=colours[label],
            linewidth=0.8,
        )
        ax.text(
            RIGHT,
            place,
            label,
            transform=ax.transAxes,
            color=colours[label],
            fontsize=FONT_SIZE,
            verticalalignment="center",
            parse_math=False,
        )


def spread_out(heights: Sequence[float], space: float) -> list[float]:
    """Return heights that keep their order and lie at least `space` apart, close to where they were, from 0 to 1.

    Neighbours that are too close form a block about the mean of where they want to be; blocks that touch become one.
    Where there is no room for all, the lowest ones go below 0.
    """
    order = np.argsort(np.asarray(heights), kind="stable")
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([int(index)])
        while len(blocks) > 1 and _top(blocks[-2], heights, space) + space > _bottom(blocks[-1], heights, space):
            last = blocks.pop()
            blocks[-1] += last
    placed = [0.0] * len(heights)
    for block in blocks:
        bottom = _bottom(block, heights, space)
        for position, index in enumerate(block):
            placed[index] = bottom + position * space
    floor, ceiling = 0.0, 1.0
    for index in order:
        placed[index] = max(placed[index], floor)
        floor = placed[index] + space
    for index in order[::-1]:
        placed[index] = min(placed[index], ceiling)
        ceiling = placed[index] - space
    return placed


def _bottom(block: Sequence[int], heights: Sequence[float], space: float) -> float:
    """Return the lowest place of a block."""
    return float(np.mean([heights[index] for index in block])) - (len(block) - 1) * space / 2


def _top(block: Sequence[int], heights: Sequence[float], space: float) -> float:
    """Return the highest place of a block."""
    return _bottom(block, heights, space) + (len(block) - 1) * space
