"""All figures of a study as files."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from studies.figures.bound_ratio_figure import bound_ratio_figure
from studies.figures.box_plots import box_plots
from studies.figures.convergence import convergence
from studies.figures.critical_difference import critical_difference_diagram
from studies.figures.exact_convergence import exact_convergence
from studies.figures.gap_ecdf_figure import gap_ecdf_figure
from studies.figures.performance_profiles import performance_profiles
from studies.figures.side_by_side import side_by_side
from studies.figures.stability_figure import stability_figure
from studies.figures.target_ecdf_figure import target_ecdf_figure
from studies.statistics.study_gaps import ANY_BUDGET, budgets_of, study_gaps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from studies.statistics.study_gaps import StudyGaps

RESOLUTION = 150
"""Dots per inch of pictures made of dots."""

FIGURES = (
    *("box-plots", "performance-profiles", "gap-ecdf", "critical-difference", "stability"),
    *("convergence-evaluations", "convergence-seconds", "targets-evaluations", "targets-seconds"),
    *("bound-ratios", "incumbent-and-bound"),
)
"""Names of all figures of a study."""


def write_figures(
    frame: pd.DataFrame,
    traces: pd.DataFrame,
    folder: Path,
    *,
    formats: Sequence[str] = ("png",),
    names: Collection[str] = FIGURES,
    budgets: Sequence[str] | None = None,
    ratios: pd.DataFrame | None = None,
    curves: pd.DataFrame | None = None,
    processes: int = 1,
) -> list[Path]:
    """Draw everything at every budget, and once what does not depend on a budget.

    Parameters
    ----------
    frame, traces
        Runs as `study_gaps` takes them, traces as `anytime_curves` does.
    folder
        Where to; made if it is not there. Files are named after figure and budget, such as
        ``box-plots-2000-evaluations.png``.
    formats
        Any that Matplotlib writes: png, pdf and svg among others.
    names
        Which of `FIGURES`.
    budgets
        At which; by default all of the frame.
    ratios, curves
        Of bounds, as `bound_ratios` and `bound_curves` return them; what is None or empty is not drawn.
    processes
        That draw at a time, where the system can copy this one.

    Returns
    -------
    list of Path
        What was written. Convergence and targets are drawn at budgets of searches that have traces.

    Raises
    ------
    ValueError
        If there is no such figure.
    """
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise ValueError(f"figures: expected some of {', '.join(FIGURES)}, got {unknown[0]!r}.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tasks = []
    for budget in (budgets_of(frame) or [ANY_BUDGET]) if budgets is None else budgets:
        gaps = study_gaps(frame, budget)
        for name, draw in _study_drawers(gaps, traces, names).items():
            tasks.append(partial(_write, draw, folder / f"{name}{_suffix(gaps.budget)}", formats))
    for name, draw in _reference_drawers(ratios, curves, names).items():
        tasks.append(partial(_write, draw, folder / name, formats))
    return [path for paths in side_by_side(tasks, processes) for path in paths]


def study_figures(
    gaps: StudyGaps, traces: pd.DataFrame, names: Collection[str] = FIGURES
) -> Iterator[tuple[str, Axes]]:
    """Yield the figures at a budget with their names, one at a time; `figure_captions` says in words what they show."""
    for name, draw in _study_drawers(gaps, traces, names).items():
        yield name, draw()


def reference_figures(
    ratios: pd.DataFrame | None, curves: pd.DataFrame | None, names: Collection[str] = FIGURES
) -> Iterator[tuple[str, Axes]]:
    """Yield the figures of what proves the bounds, where there is something to draw."""
    for name, draw in _reference_drawers(ratios, curves, names).items():
        yield name, draw()


def _study_drawers(gaps: StudyGaps, traces: pd.DataFrame, names: Collection[str]) -> dict[str, Callable[[], Axes]]:
    """Return what draws the figures at a budget."""
    drawers: dict[str, Callable[[], Axes]] = {
        "box-plots": lambda: box_plots(gaps),
        "performance-profiles": lambda: performance_profiles(gaps),
        "gap-ecdf": lambda: gap_ecdf_figure(gaps),
        "critical-difference": lambda: critical_difference_diagram(gaps),
        "stability": lambda: stability_figure(gaps),
    }
    if gaps.budget != ANY_BUDGET and (traces["budget"] == gaps.budget).any():
        drawers |= {
            "convergence-evaluations": lambda: convergence(gaps, traces, "evaluations"),
            "convergence-seconds": lambda: convergence(gaps, traces, "seconds"),
            "targets-evaluations": lambda: target_ecdf_figure(gaps, traces, "evaluations"),
            "targets-seconds": lambda: target_ecdf_figure(gaps, traces, "seconds"),
        }
    return {name: draw for name, draw in drawers.items() if name in names}


def _reference_drawers(
    ratios: pd.DataFrame | None, curves: pd.DataFrame | None, names: Collection[str]
) -> dict[str, Callable[[], Axes]]:
    """Return what draws the figures of bounds, where there is something to draw."""
    drawers: dict[str, Callable[[], Axes]] = {}
    if ratios is not None and len(ratios):
        drawers["bound-ratios"] = lambda: bound_ratio_figure(ratios)
    if curves is not None and len(curves):
        drawers["incumbent-and-bound"] = lambda: exact_convergence(curves)
    return {name: draw for name, draw in drawers.items() if name in names}


def _write(draw: Callable[[], Axes], path: Path, formats: Sequence[str]) -> list[Path]:
    """Draw a figure and write it."""
    return _save(draw(), path, formats)


def _save(ax: Axes, path: Path, formats: Sequence[str]) -> list[Path]:
    """Write a figure in every format."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # every axes here has been made with a figure
    paths = [path.with_name(f"{path.name}.{kind}") for kind in formats]
    for kind, file in zip(formats, paths, strict=True):
        if kind == "png":
            _save_png(figure, file)
        else:
            figure.savefig(file, dpi=RESOLUTION)
    return paths


def _save_png(figure: Figure, file: Path) -> None:
    """Write the dots that `Figure.savefig` would, which draws everything twice, once to no effect."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    dpi = figure.dpi
    figure.set_dpi(RESOLUTION)
    # Harder packing makes files a little smaller and takes longer.
    FigureCanvasAgg(figure).print_png(file, pil_kwargs={"compress_level": 1})
    figure.set_dpi(dpi)


def _suffix(budget: str) -> str:
    """Return a budget as the end of a file name."""
    words = re.sub(r"[^0-9A-Za-z.]+", "-", budget).strip("-")
    return f"-{words}" if words else ""
