"""How soon runs come within a ladder of gaps, as in COCO's data profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import QUIET, lines_only, logarithmic_axis, method_styles, new_axes
from studies.figures.share_lines import share_lines
from studies.statistics.target_ecdf import PROFILE_TARGETS, target_ecdf
from studies.statistics.target_table import target_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from studies.statistics.run_steps import Axis
    from studies.statistics.study_gaps import StudyGaps


def target_ecdf_figure(
    gaps: StudyGaps,
    traces: pd.DataFrame,
    axis: Axis = "evaluations",
    *,
    targets: Sequence[float] = PROFILE_TARGETS,
    ax: Axes | None = None,
) -> Axes:
    """Draw for every search the share of pairs of run and target that are reached by a time.

    Parameters
    ----------
    gaps, traces, axis, targets
        As `target_ecdf` takes them; the targets stand in the figure.
    ax
        Where to draw; by default a figure of its own.
    """
    ax = ax or new_axes(8.0, max(4.5, 1.0 + 0.2 * len(gaps.labels)))
    table = target_ecdf(gaps, traces, axis, targets)
    known = table[np.isfinite(table["at"].astype(float))]
    nothing = np.zeros(0)
    lines = dict.fromkeys(table["label"], (nothing, nothing))
    for label, group in known.groupby("label", sort=False):
        lines[label] = (group["at"].to_numpy(np.float64), group["share"].to_numpy(np.float64))
    first, last = (float(known["at"].min()), float(known["at"].max())) if len(known) else (1.0, 10.0)
    first = first if first > 0 else min(last, 1e-3)
    last = max(last, 1.0001 * first)
    share_lines(ax, lines, last, method_styles(gaps), is_logarithmic=True)
    lines_only(ax)
    logarithmic_axis(ax, first, last, axis)
    ax.set_ylabel("share of pairs of run and target")
    ax.text(
        0.0,
        1.01,
        f"targets: gaps of {', '.join(target_name(target) for target in targets)}",
        transform=ax.transAxes,
        fontsize=8,
        color=QUIET,
        verticalalignment="bottom",
    )
    return ax
