"""All figures of a study as files."""

from __future__ import annotations

import multiprocessing
import re
import sys
import threading
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from instances.fields import one_of
from instances.text_file import whole_file
from solvers.run.exact_run import leave_signals_to_parent
from studies.analysis.gaps import ANY_BUDGET, budgets_of, study_gaps
from studies.report.curve_figures import (
    convergence,
    exact_convergence,
    gap_ecdf_figure,
    performance_profiles,
    target_ecdf_figure,
)
from studies.report.gap_figures import bound_ratio_figure, box_plots, critical_difference_diagram, stability_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from studies.analysis.gaps import StudyGaps


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
    for name in names:
        one_of(name, FIGURES, "figures")
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
        with whole_file(file) as target:
            if kind == "png":
                _save_png(figure, target)
            else:
                figure.savefig(target, dpi=RESOLUTION)
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


Made = TypeVar("Made")

_TASKS: list[Callable[[], object]] = []
"""What the processes of a call take by number; they are copies of this one, so that nothing needs to be sent."""


def side_by_side(tasks: Sequence[Callable[[], Made]], processes: int) -> list[Made]:
    """Call functions and return what they return, in their order.

    Parameters
    ----------
    tasks
        Functions without parameters; what they return is sent back to this process.
    processes
        At most so many at a time; 1 calls them here, one after the other, as does a process that cannot be copied
        safely: on systems without `fork`, with threads of Python, or with JAX, whose threads do not survive it.
    """
    processes = min(processes, len(tasks))
    can_fork = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    if processes < 2 or not can_fork or threading.active_count() > 1 or "jax" in sys.modules:
        return [task() for task in tasks]
    _TASKS[:] = tasks
    try:
        with warnings.catch_warnings():
            # Python 3.12 counts the idle threads of linear algebra too, which know how to be copied.
            warnings.simplefilter("ignore", DeprecationWarning)
            with multiprocessing.get_context("fork").Pool(processes, leave_signals_to_parent) as pool:
                return pool.map(_call, range(len(tasks)), chunksize=1)  # type: ignore[arg-type]
    finally:
        _TASKS.clear()


def _call(number: int) -> object:
    """Call a function in a process of its own."""
    return _TASKS[number]()
