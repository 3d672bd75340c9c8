"""All figures of a study as files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from studies.figures.box_plots import box_plots
from studies.figures.convergence import convergence
from studies.figures.critical_difference import critical_difference_diagram
from studies.figures.performance_profiles import performance_profiles
from studies.figures.stability_figure import stability_figure
from studies.statistics.study_gaps import ANY_BUDGET, budgets_of, study_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from studies.statistics.study_gaps import StudyGaps

RESOLUTION = 150
"""Dots per inch of pictures made of dots."""


def write_figures(
    frame: pd.DataFrame, traces: pd.DataFrame, folder: Path, *, formats: Sequence[str] = ("png",)
) -> list[Path]:
    """Draw everything at every budget.

    Parameters
    ----------
    frame, traces
        Runs as `study_gaps` takes them, traces as `anytime_curves` does.
    folder
        Where to; made if it is not there. Files are named after figure and budget, such as
        ``box-plots-2000-evaluations.png``.
    formats
        Any that Matplotlib writes: png, pdf and svg among others.

    Returns
    -------
    list of Path
        What was written. Convergence is drawn at budgets that have traces.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for budget in budgets_of(frame) or [ANY_BUDGET]:
        gaps = study_gaps(frame, budget)
        for name, ax in _figures(gaps, traces):
            figure = ax.get_figure(root=True)
            assert figure is not None  # every axes here has been made with a figure
            for kind in formats:
                path = folder / f"{name}{_suffix(gaps.budget)}.{kind}"
                figure.savefig(path, dpi=RESOLUTION)
                written.append(path)
    return written


def _figures(gaps: StudyGaps, traces: pd.DataFrame) -> Iterator[tuple[str, Axes]]:
    """Yield the figures at a budget with their names, one at a time."""
    yield "box-plots", box_plots(gaps)
    yield "performance-profiles", performance_profiles(gaps)
    yield "critical-difference", critical_difference_diagram(gaps)
    yield "stability", stability_figure(gaps)
    if (traces["budget"] == gaps.budget).any():
        yield "convergence-evaluations", convergence(gaps, traces, "evaluations")
        yield "convergence-seconds", convergence(gaps, traces, "seconds")


def _suffix(budget: str) -> str:
    """Return a budget as the end of a file name."""
    words = re.sub(r"[^0-9A-Za-z.]+", "-", budget).strip("-")
    return f"-{words}" if words else ""
