"""Performance profiles of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from studies.figures.house_style import gap_name, lines_only, method_styles, new_axes, percent_axis
from studies.figures.share_lines import share_lines
from studies.statistics.performance_profile import performance_profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.statistics.study_gaps import StudyGaps


SPREAD_OUT = 30
"""In percent: profiles that go further have a logarithmic axis, for what tells methods apart lies near 0."""


def performance_profiles(
    gaps: StudyGaps, *, against: Literal["bound", "best"] = "bound", ax: Axes | None = None
) -> Axes:
    """Draw for every method the share of instances on which its mean objective is within a percentage of the reference.

    Parameters
    ----------
    gaps
        Runs at one budget; an instance without a bound above 0 is left out, one without a schedule of a method counts
        against it.
    against
        The best proven bound (a profile that does not change with the other methods), or the best of the methods, as
        published.
    ax
        Where to draw; by default a figure of its own.

    References
    ----------
    Dolan and More (2002).
    """
    ax = ax or new_axes(8.0, max(4.5, 1.0 + 0.2 * len(gaps.labels)))
    means = gaps.mean_gaps()[(gaps.references["reference"] > 0).to_numpy()]
    styles = method_styles(gaps)
    largest = 0.0
    if len(means):
        values = 1.0 + means.to_numpy(np.float64)
        profile = performance_profile(values, np.ones(len(values)) if against == "bound" else None)
        at = 100 * (profile.factors - 1)
        largest = float(at[-1])
        edge = 1.2 * max(largest, 1.0)
        lines = {label: (at, profile.shares[:, column]) for column, label in enumerate(gaps.labels)}
        share_lines(ax, lines, edge, styles)
    lines_only(ax)
    name = gap_name(gaps.is_proven) if against == "bound" else "excess over the best method"
    percent_axis(ax, "x", largest, name, wide=SPREAD_OUT)
    ax.set_ylim(0.0, 1.02)
    ax.set_ylabel("share of instances")
    return ax
