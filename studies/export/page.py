"""One page of HTML to look at schedules of an instance: it carries everything inside, and may load nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from instances.dag.instance import DagInstance
from instances.readers.optgap_json import problem_name
from instances.text_file import write_text
from instances.units import ticks_text
from solvers.problem import PROBLEMS
from solvers.table import printable
from studies.export.activity import activity, waits
from studies.html_page import content_policy, page_template, with_shared

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from instances.readers.optgap_json import Instance, Schedule


def view(instance: Instance, schedules: Mapping[str, Schedule], path: str | PathLike[str]) -> None:
    """Write a page on which schedules of an instance can be looked at in a browser, without a network.

    Each has a Gantt chart with transfers, memory, and the chain of tasks that waited for each other back from the last
    finish; charts zoom, move and search together. Keyboard and screen reader reach every task.

    Parameters
    ----------
    schedules
        Schedules that verify, by the title that the page shows.
    path
        File to write, whole or not at all.

    Raises
    ------
    OSError
        If the file cannot be written.
    ValueError
        If there is no schedule, or one does not verify, with contention where it has starts of transfers.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3]], [(0, 1, 0)])
    >>> optgap.view(instance, {"HEFT": optgap.solve(instance, "heft").schedule}, "look.html")
    """
    write_text(path, view_html(instance, schedules))


def view_html(instance: Instance, schedules: Mapping[str, Schedule]) -> str:
    """Return the page of `view` as a text; the same text for the same schedules."""
    if not schedules:
        raise ValueError("schedules: expected at least one, got none.")
    problem = PROBLEMS[problem_name(instance)]
    for title, schedule in schedules.items():
        has_starts = getattr(schedule, "transfer_start", None) is not None
        violations = problem.goal(instance, None, "nic" if has_starts else "none").violations(schedule)
        if violations:
            raise ValueError(f"schedules[{title!r}]: expected one that verifies, got one with: {violations[0]}")
    style, script = (with_shared("studies.export", name) for name in ("page.css", "page.js"))
    rows = []
    for title, schedule in schedules.items():
        values = [problem.objective_value(instance, schedule, name) for name in problem.objectives]
        shown = [ticks_text(value, instance.tick_seconds) for value in values]
        rows.append([printable(title), *shown])
    return page_template("studies.export").render(
        title=printable(instance.name),
        facts=", ".join(f"{name}: {value}" for name, value in instance.summary().items() if name != "instance"),
        headings=["schedule", *(str(name).replace("_", " ") for name in problem.objectives)],
        rows=rows,
        pair=len(schedules) > 1,
        has_graph=isinstance(instance, DagInstance),
        policy=content_policy(script, style),
        style=style,
        script=script,
        data=json.dumps(_document(instance, schedules), separators=(",", ":")).replace("<", "\\u003c"),
    )


def _document(instance: Instance, schedules: Mapping[str, Schedule]) -> dict[str, Any]:
    """Return what the script of the page draws, as JSON values."""
    is_dag = isinstance(instance, DagInstance)
    names = instance.task_names if isinstance(instance, DagInstance) else instance.job_names
    drawn = []
    for title, schedule in schedules.items():
        shown = activity(instance, schedule)
        reasons = waits(instance, schedule) if is_dag else ()  # type: ignore[arg-type]  # a DAG, hence its schedule
        drawn.append(
            {
                "title": printable(title),
                "end": shown.end,
                "tracks": [[track.name, track.server, track.kind, track.is_link] for track in shown.tracks],
                **{
                    name: [getattr(each, name) for each in shown.slices]
                    for name in ("track", "item", "group", "start", "ticks")
                },
                "size": [-1 if each.size is None else each.size for each in shown.slices],
                "memory": [[use.track, use.steps, use.capacity] for use in shown.memory],
                "chain": [[each.task, each.reason, each.other] for each in shown.binding_chain],
                "waits": [[each.reason, each.other] for each in reasons],
            }
        )
    return {
        "tick": instance.tick_seconds,
        "names": list(names),
        "groups": "job",
        "groupNames": list(instance.job_names),
        "oneGroup": is_dag and instance.num_jobs == 1,
        "edges": instance.edges.tolist() if isinstance(instance, DagInstance) else [],
        "schedules": drawn,
    }
