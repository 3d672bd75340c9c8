"""Gantt charts as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.jobs.plot_jobs_gantt import jobs_gantt_svg, plot_jobs_gantt
from instances.plot_gantt import gantt_svg, plot_gantt

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule


def write_gantt(instance: DagInstance, schedule: DagSchedule, path: Path) -> None:
    """Write a chart as SVG or PNG, whichever the name of the file says."""
    if path.suffix.lower() == ".svg":
        path.write_text(gantt_svg(instance, schedule), encoding="utf-8", errors="xmlcharrefreplace")
        return
    _save(plot_gantt(instance, schedule), path)


def write_jobs_gantt(instance: JobsInstance, schedule: JobsSchedule, path: Path) -> None:
    """Write a chart of jobs in the same way."""
    if path.suffix.lower() == ".svg":
        path.write_text(jobs_gantt_svg(instance, schedule), encoding="utf-8", errors="xmlcharrefreplace")
        return
    _save(plot_jobs_gantt(instance, schedule), path)


def _save(ax: Axes, path: Path) -> None:
    """Write the figure of axes as PNG."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # the axes were just made with one
    figure.savefig(path, format="png", dpi=150)
