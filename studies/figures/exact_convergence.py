"""Incumbents and bounds of exact methods, closing in on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import LINEAR_UP_TO, OPTIMUM, WIDE, line_styles, lines_only, logarithmic_axis, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def exact_convergence(curves: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw median objective and bound of every exact method over seconds, both against the best proven bound.

    Bands reach from the lower to the upper quartile over instances. Incumbents come from above, bounds from below;
    where both have met the optimum is proven.

    Parameters
    ----------
    curves
        As `bound_curves` returns them.
    ax
        Where to draw; by default a figure of its own.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ax = ax or new_axes(8.0, 4.5)
    ax.axhline(0.0, color=OPTIMUM, linewidth=1.5, zorder=1)
    names = [f"{label}, {budget}" for label, budget in zip(curves["label"], curves["budget"], strict=True)]
    styles = line_styles(dict.fromkeys(names))
    named, highest, lowest = curves.assign(name=names), 1.0, -1.0
    for name, group in named.groupby("name", sort=False):
        at = group["at"].to_numpy(np.float64)
        for side, dashes in (("incumbent", "-"), ("bound", (0, (4, 1.5)))):
            middle, low, high = (
                100 * group[f"{side}_{part}"].to_numpy(np.float64) for part in ("median", "lower", "upper")
            )
            known = np.isfinite(middle)
            colour = styles[name].colour
            label = f"{name}: {side}"
            ax.step(at[known], middle[known], where="post", color=colour, linestyle=dashes, linewidth=1.8, label=label)
            banded = np.isfinite(high)
            ax.fill_between(at, low, high, where=banded, step="post", color=colour, alpha=0.12, linewidth=0)
            highest = max(highest, float(high[banded].max(initial=0.0)), float(middle[known].max(initial=0.0)))
            lowest = min(lowest, float(low[np.isfinite(low)].min(initial=0.0)))
    lines_only(ax)
    shown = len(curves) > 0
    logarithmic_axis(ax, curves["at"].min() if shown else 1.0, curves["at"].max() if shown else 10.0, "seconds")
    is_wide = max(highest, -lowest) >= WIDE
    if is_wide:
        ax.set_yscale("symlog", linthresh=LINEAR_UP_TO, linscale=1.0)
        ticks = [2, 5, *(factor * 10**power for power in range(1, 8) for factor in (1, 3))]
        ax.yaxis.set_major_locator(FixedLocator([*(-tick for tick in ticks if tick <= WIDE), 0, *ticks]))
        ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(1.08 * lowest, 1.08 * highest)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    scale = f"\n(logarithmic beyond {LINEAR_UP_TO})" if is_wide else ""
    ax.set_ylabel(f"difference to the best proven bound in %{scale}")
    if shown:
        ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)
    return ax
