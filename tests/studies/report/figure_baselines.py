"""Every figure of an invented study, drawn for comparison with stored images.

``python -m tests.studies.report.figure_baselines`` draws the stored ones anew; look at what changed
before you keep it.

Only what is drawn is compared, not how it is written: texts and legends are taken away and the axes stand at a fixed
place, so that neither fonts nor the layout of a version of Matplotlib matter. Texts have tests of their own.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.text import Text

from instances.generators.jobs.generate import generate_jobs
from solvers.solve import solve
from studies.analysis.anytime import bound_curves
from studies.analysis.gaps import study_gaps
from studies.papers.decision_latency import decision_latency_figure
from studies.report.curve_figures import (
    convergence,
    exact_convergence,
    gap_ecdf_figure,
    performance_profiles,
    target_ecdf_figure,
)
from studies.report.gap_figures import bound_ratio_figure, box_plots, critical_difference_diagram, stability_figure
from studies.report.jobs_figures import cluster_over_time, jct_distribution, online_gaps, parameter_sweep
from tests.studies.analysis.synthetic_study import synthetic_study, synthetic_traces
from tests.studies.papers.invented_latencies import invented_latencies

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from solvers.result import Result


BASELINE = Path(__file__).parent / "baseline"
BUDGET = "2000 evaluations"
DPI, SIZE, PLACE = 60, (5.0, 3.6), (0.12, 0.14, 0.8, 0.78)


def study_drawers(worse: float = 1.0) -> dict[str, Callable[[], Axes]]:
    """Return what draws the figures of a study, in which the gaps of one method may be multiplied."""
    frame = synthetic_study(num_instances=9, repetitions=3)
    frame["objective"] = frame["objective"].astype(float)
    frame.loc[(frame["label"] == "ga") & (frame["instance"] == "instance-3"), "objective"] = np.nan
    changed = frame["label"] == "woa"
    gap = (frame["objective"] - frame["bound"]) * worse
    frame.loc[changed, "objective"] = (frame["bound"] + gap).round()[changed]
    gaps, traces = study_gaps(frame, BUDGET), synthetic_traces(frame)
    ratios, curves = _ratios(worse), _curves(worse)
    summary = _summary(worse)
    return {
        "box-plots": lambda: box_plots(gaps),
        "performance-profiles": lambda: performance_profiles(gaps),
        "performance-profiles-best": lambda: performance_profiles(gaps, against="best"),
        "gap-ecdf": lambda: gap_ecdf_figure(gaps),
        "critical-difference": lambda: critical_difference_diagram(gaps),
        "stability": lambda: stability_figure(gaps),
        "convergence-evaluations": lambda: convergence(gaps, traces, "evaluations"),
        "convergence-seconds": lambda: convergence(gaps, traces, "seconds", statistic="mean"),
        "targets-evaluations": lambda: target_ecdf_figure(gaps, traces, "evaluations"),
        "targets-seconds": lambda: target_ecdf_figure(gaps, traces, "seconds"),
        "bound-ratios": lambda: bound_ratio_figure(ratios),
        "incumbent-and-bound": lambda: exact_convergence(curves),
        "decision-latency": lambda: decision_latency_figure(invented_latencies(worse)),
        "online-gaps": lambda: online_gaps(summary),
        "parameter-sweep": lambda: parameter_sweep(
            summary[summary["load"] == 0.7], {"a": ("x", 1.0), "b": ("x", 2.0), "c": ("x", 4.0)}, "error"
        ),
    }


def jobs_drawers(num_jobs: int = 40) -> dict[str, Callable[[], Axes]]:
    """Return what draws the figures of jobs under a few policies."""
    return {
        "jct-distribution": lambda: jct_distribution(_results(num_jobs)),
        "cluster-over-time": lambda: cluster_over_time(_results(num_jobs))[-1],
    }


def save(ax: Axes, path: Path) -> None:
    """Write what is drawn on the axes, without any text, always at the same size."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.set_layout_engine("none")
    figure.set_size_inches(*SIZE)
    if len(figure.axes) == 1:
        ax.set_position(PLACE)
    for axes in figure.axes:
        if axes.get_legend() is not None:
            axes.get_legend().remove()
    for text in figure.findobj(Text):
        text.set_visible(False)
    figure.savefig(path, dpi=DPI, metadata={"Software": None})


@lru_cache
def _results(num_jobs: int) -> dict[str, Result]:
    """Return three policies on a few jobs."""
    instance = generate_jobs("jobs-small", jobs=num_jobs, seed=1, load=1.0)
    return {name: solve(instance, name, bounds=[]) for name in ("fifo", "wcs-duration", "spjf")}


def _ratios(worse: float) -> pd.DataFrame:
    """Return invented bounds of three sources on eight instances; the last instance has only one."""
    rng = np.random.default_rng(7)
    rows = []
    for number in range(8):
        for label, low in (("path", 0.5), ("area", 0.3), ("cp-sat", 1.0)):
            ratio = np.nan if number == 7 and label != "cp-sat" else low + (1 - low) * rng.beta(2, 2) / worse
            budget = "10 s" if label == "cp-sat" else "-"
            rows.append(
                {
                    "instance": f"i{number}",
                    "label": label,
                    "budget": budget,
                    "ratio": ratio,
                    "is_optimum": number % 2 == 0,
                }
            )
    return pd.DataFrame(rows)


def _curves(worse: float) -> pd.DataFrame:
    """Return what two exact methods had when on five instances with bound 100."""
    rng = np.random.default_rng(8)
    rows = []
    for label in ("cp-sat", "milp"):
        for number in range(5):
            times = np.sort(rng.exponential(2.0, 4))
            objectives = np.sort(100 + rng.integers(0, int(60 * worse), 4))[::-1]
            bounds = np.sort(100 - rng.integers(0, 40, 4))
            for at, objective, bound in zip(times, objectives, bounds, strict=True):
                key = {"instance": f"i{number}", "sha256": str(number), "label": label, "budget": "10 s"}
                rows.append({**key, "repetition": 0, "seconds": at, "objective": objective, "bound": bound})
    instances = pd.DataFrame({"sha256": [str(number) for number in range(5)], "best": 100})
    return bound_curves(pd.DataFrame(rows), instances)


def _summary(worse: float) -> pd.DataFrame:
    """Return a summary of three policies at two loads."""
    rows = [
        (label, load, worse * gap * load, worse * gap * load * 0.7, worse * gap * load * 1.6)
        for label, gap in (("a", 0.1), ("b", 0.3), ("c", 0.6))
        for load in (0.7, 0.9)
    ]
    frame = pd.DataFrame(rows, columns=["label", "load", "gap", "gap_low", "gap_high"])
    return frame.assign(scenario="s", all_optima=False)


if __name__ == "__main__":
    BASELINE.mkdir(exist_ok=True)
    for stale in BASELINE.glob("*.png"):
        stale.unlink()
    for name, draw in (study_drawers() | jobs_drawers()).items():
        save(draw(), BASELINE / f"{name}.png")
