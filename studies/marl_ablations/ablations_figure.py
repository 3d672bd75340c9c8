"""How validation went on in each training of the ablations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import line_styles, lines_only, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.marl_ablations.marl_ablations import MarlAblations


def ablations_figure(study: MarlAblations, ax: Axes | None = None) -> Axes:
    """Draw the mean validation over the updates, with a band of one standard error where there are seeds.

    Trainings without updates (imitation only) are left out; so is what comes before the updates.

    Parameters
    ----------
    study
        Result of `marl_ablations`.
    ax
        Where to draw; by default a figure of its own.
    """
    ax = ax or new_axes(9.5, 2.2 + 0.2 * max(12, len(study.curves)))
    ax.axhline(1.0, color="0.6", linewidth=1.0, linestyle=":")
    curves = {name: curve for name, curve in study.curves.items() if curve[0][-1] > 0}
    for name, style in line_styles(curves).items():
        updates, values = curves[name]
        first = len(updates) - 1 - updates[::-1].index(0)  # the last measurement before any update
        steps, shown = updates[first:], values[:, first:]
        mean = shown.mean(axis=0)
        ax.plot(steps, mean, color=style.colour, linestyle=style.dashes, linewidth=1.5, label=name)
        if len(shown) > 1:
            error = shown.std(axis=0, ddof=1) / np.sqrt(len(shown))
            ax.fill_between(steps, mean - error, mean + error, color=style.colour, alpha=0.12, linewidth=0)
    lines_only(ax)
    ax.set_xlim(left=0)
    ax.set_xlabel("updates")
    ax.set_ylabel("validation: mean JCT over the teacher's")
    if curves:
        ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
