"""What an instance and its schedule can be written as: one row per format."""

from __future__ import annotations

import csv
import inspect
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.fields import one_of
from instances.readers.optgap_json import codec_of, problem_name
from instances.text_file import whole_file, write_text
from solvers.methods import resolved
from solvers.problem import PROBLEMS

if TYPE_CHECKING:
    from os import PathLike

    from instances.readers.optgap_json import Instance, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A format to write.

    Parameters
    ----------
    path
        ``module:function``, imported on first use: of a text format, a function of instance and schedule that returns
        the text; of any other, one that also takes the path that it writes.
    description
        The format in one line.
    suffixes
        Endings of the names of its files, the usual one first.
    is_text
        Whether the function returns a text.
    needs_schedule
        Whether it shows a schedule; a model can also be written without one.
    problems
        The problems whose instances it can write.
    """

    path: str
    description: str
    suffixes: tuple[str, ...]
    is_text: bool = True
    needs_schedule: bool = True
    problems: tuple[str, ...] = ("dag", "jobs")

    def options(self) -> list[str]:
        """Return the names of the options of the function: its keyword-only parameters."""
        parameters = inspect.signature(resolved(self.path)).parameters.values()
        return [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]


_FIGURE = "studies.export.exports:write_gantt_figure"

EXPORTS: dict[str, Export] = {
    "chrome-trace": Export(
        path="studies.export.chrome_trace:chrome_trace",
        description="Chrome's trace events, for Perfetto: servers, GPUs, links, memory",
        suffixes=(".json", ".json.gz"),
    ),
    "csv": Export(
        path="studies.export.exports:schedule_csv",
        description="a row per task and transfer, with names, ticks and seconds",
        suffixes=(".csv", ".csv.gz"),
    ),
    "torch-csv": Export(
        path="studies.export.torch_csv:torch_csv",
        description="a pipeline's passes by rank, for torch.distributed.pipelining",
        suffixes=(".csv",),
        problems=("dag",),
    ),
    "svg": Export(path=_FIGURE, description="Gantt chart, vector graphics", suffixes=(".svg",), is_text=False),
    "png": Export(path=_FIGURE, description="Gantt chart, 150 dots per inch", suffixes=(".png",), is_text=False),
    "pdf": Export(path=_FIGURE, description="Gantt chart, for LaTeX", suffixes=(".pdf",), is_text=False),
    "mps": Export(
        path="studies.export.models:write_milp",
        description="the disjunctive MILP, with readable names",
        suffixes=(".mps",),
        is_text=False,
        needs_schedule=False,
        problems=("dag",),
    ),
    "lp": Export(
        path="studies.export.models:write_milp",
        description="the disjunctive MILP, to read",
        suffixes=(".lp",),
        is_text=False,
        needs_schedule=False,
        problems=("dag",),
    ),
    "cp-sat": Export(
        path="studies.export.models:write_cp_sat",
        description="the model of CP-SAT, hinted with the schedule; .pb is binary",
        suffixes=(".pbtxt", ".pb"),
        is_text=False,
        needs_schedule=False,
        problems=("dag",),
    ),
}
"""Formats by name."""


def export(instance: Instance, schedule: Schedule | None, to: str, path: str | PathLike[str], **options: Any) -> None:
    """Write an instance with its schedule in a format for other programs.

    Parameters
    ----------
    schedule
        A schedule that verifies. A model can be written without one; with one it contains only schedules that are not
        worse.
    to
        A key of `EXPORTS`.
    path
        File to write, whole or not at all; its name ends in one of the format's endings.
    options
        For models ``objective``, its name; for the model of CP-SAT also ``contention``.

    Raises
    ------
    OSError
        If the file cannot be written.
    ValueError
        If there is no such format, it cannot write such an instance, the name of the file ends otherwise, there is no
        schedule where one is needed, or the schedule does not verify.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3]], [(0, 1, 0)])
    >>> optgap.export(instance, optgap.solve(instance, "heft").schedule, "chrome-trace", "trace.json")
    """
    one_of(to, EXPORTS, "format")
    chosen, name = EXPORTS[to], problem_name(instance)
    check_export(to, name, Path(path), has_schedule=schedule is not None)
    if schedule is not None:
        goal = PROBLEMS[name].goal(instance, None, options.get("contention", "none"))
        if violations := goal.violations(schedule):
            raise ValueError(f"schedule: expected one that verifies, got one with violations such as: {violations[0]}")
    function = resolved(chosen.path)
    if chosen.is_text:
        write_text(path, function(instance, schedule, **options))
        return
    with whole_file(path) as partial:
        function(instance, schedule, partial, **options)


def check_export(to: str, problem: str, path: Path, *, has_schedule: bool) -> None:
    """Check that a format can be written; raises a `ValueError` as `export` does."""
    chosen = EXPORTS[to]
    if problem not in chosen.problems:
        raise ValueError(f"format: expected one for {PROBLEMS[problem].noun}, got {to}.")
    if not path.name.lower().endswith(chosen.suffixes):
        raise ValueError(f"path: expected a name that ends in {' or '.join(chosen.suffixes)}, got {path.name!r}.")
    if chosen.needs_schedule and not has_schedule:
        raise ValueError(f"schedule: expected one for the format {to}, got none.")


def write_gantt_figure(instance: Instance, schedule: Schedule, path: Path) -> None:
    """Write the Gantt chart of a schedule in the format that the ending of the file's name says."""
    problem = PROBLEMS[problem_name(instance)]
    if path.suffix.lower() == ".svg":
        path.write_text(problem.draw_svg(instance, schedule), encoding="utf-8", errors="xmlcharrefreplace")
        return
    figure = resolved(problem.plot_gantt)(instance, schedule).get_figure(root=True)
    figure.savefig(path, format=path.suffix[1:].lower(), dpi=150)


COLUMNS = (
    "what",
    "name",
    "job",
    "server",
    "track",
    "kind",
    "bytes",
    "start_ticks",
    "finish_ticks",
    "start_seconds",
    "finish_seconds",
)


def schedule_csv(instance: Instance, schedule: Schedule) -> str:
    """Return a table with a row per task (or job and GPU) and per transfer, ordered by start.

    ``what`` is ``task``, ``job`` or ``transfer``; ``track`` is the GPU or the link. Times are given in ticks and in
    seconds, and ``bytes`` is empty for tasks.
    """
    from studies.export.activity import activity

    shown = activity(instance, schedule)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    own = "task" if codec_of(instance).instance_type.__name__ == "DagInstance" else "job"
    for item in sorted(shown.slices, key=lambda item: (item.start, item.track)):
        track, finish = shown.tracks[item.track], item.start + item.ticks
        writer.writerow(
            [
                own if item.size is None else "transfer",
                item.name,
                shown.group_names[item.group],
                track.server,
                track.name,
                track.kind,
                "" if item.size is None else item.size,
                item.start,
                finish,
                f"{item.start * shown.tick_seconds:.12g}",
                f"{finish * shown.tick_seconds:.12g}",
            ]
        )
    return buffer.getvalue()
