"""Lines of shares that rise in steps, one per method, the best on top of the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from studies.figures.house_style import LineStyle


def share_lines(
    ax: Axes,
    lines: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    edge: float,
    styles: Mapping[str, LineStyle],
    *,
    is_logarithmic: bool = False,
) -> None:
    """Draw shares over an axis, with a legend beside it, sorted by the area below the lines.

    Parameters
    ----------
    ax
        Where to draw.
    lines
        By label: where the share rises, ascending, and to what; 0 before. Empty ones are drawn at 0.
    edge
        Where the lines end.
    styles
        By label.
    is_logarithmic
        Whether areas are those over a logarithmic axis.
    """
    drawn = {}
    for label, (at, shares) in lines.items():
        inside = at <= edge
        x, y = np.append(at[inside], edge), np.append(shares[inside], shares[inside][-1:] if inside.any() else 0.0)
        places = np.log(np.maximum(x, 1e-12)) if is_logarithmic else x
        drawn[label] = (x, y, float((np.diff(places) * y[:-1]).sum()) if len(x) > 1 else 0.0)
    for label in sorted(drawn, key=lambda label: -drawn[label][2]):
        x, y, _ = drawn[label]
        style = styles[label]
        x, y = np.insert(x, 0, x[0]), np.insert(y, 0, 0.0)  # the first rise is drawn too
        ax.step(x, y, where="post", color=style.colour, linestyle=style.dashes, linewidth=1.8, label=label)
    if drawn:
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)
    ax.set_ylim(0.0, 1.02)
