"""Distribution of JCT: which share of the jobs has ended how long after it arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import line_styles, lines_only, new_axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from solvers.jobs.jobs_result import JobsResult


def jct_distribution(results: Mapping[str, JobsResult], ax: Axes | None = None) -> Axes:
    """Draw, for every policy, the share of jobs whose JCT is longer than a time; both axes are logarithmic.

    The tail is what users complain of, and where policies differ.

    Parameters
    ----------
    results
        With a schedule each, by the name of the policy, of one instance.
    ax
        Where to draw; by default a figure of its own.
    """
    ax = ax or new_axes(8.0, 4.2)
    styles = line_styles(results)
    smallest = 1.0
    for label, result in results.items():
        jct = result.jct
        if jct is None or not len(jct):
            continue
        times = np.sort(jct) * result.instance.tick_seconds
        longer = 1.0 - np.arange(len(times)) / len(times)
        smallest = min(smallest, float(longer[-1]))
        ax.step(
            times,
            longer,
            where="pre",
            color=styles[label].colour,
            linestyle=styles[label].dashes,
            linewidth=1.5,
            label=label,
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(smallest * 0.8, 1.15)
    ax.set_xlabel("JCT in seconds (logarithmic)")
    ax.set_ylabel("share of jobs that take as long or longer")
    lines_only(ax)
    ax.legend(frameon=False, fontsize=9, loc="lower left")
    return ax
