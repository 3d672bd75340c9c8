"""Gantt charts as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.plot_gantt import gantt_svg, plot_gantt

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def write_gantt(instance: DagInstance, schedule: DagSchedule, path: Path) -> None:
    """Write a chart as SVG or PNG, whichever the name of the file says."""
    if path.suffix.lower() == ".svg":
        path.write_text(gantt_svg(instance, schedule), encoding="utf-8", errors="xmlcharrefreplace")
        return
    figure = plot_gantt(instance, schedule).get_figure(root=True)
    assert figure is not None  # the axes were just made with one
    figure.savefig(path, format="png", dpi=150)
