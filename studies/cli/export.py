"""Command `export`: a schedule for other programs, or the model that proves it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from solvers.table import Table, printable
from studies.cli import options as opt
from studies.cli.output import check_outputs, note, print_json, print_text
from studies.cli.running_methods import chosen_objective, problem_of_file, refuse_given
from studies.input import BadInputError, options, reading, writing
from studies.options import Names, option
from studies.text import aligned


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What is written, and as what."""

    file: Path | None = option(None, "Instance, a JSON file.", is_argument=True, metavar="INSTANCE")
    schedule: Path | None = option(
        None, "Schedule of it, a JSON file; may be left out for models.", is_argument=True, metavar="SCHEDULE"
    )
    to: str | None = option(
        None, "One that --list names.", metavar="FORMAT", names=Names("studies.export.exports:EXPORTS")
    )
    output: Path | None = option(None, "File to write.", short="-o")
    objective: opt.OBJECTIVE = None
    contention: opt.CONTENTION = "none"


def export_command(
    wanted: ExportOptions,
    is_list: Annotated[bool, typer.Option("--list", help="List the formats instead.")] = False,
    as_json: opt.AS_JSON = False,
) -> int:
    """Write a schedule as a trace, table or figure, or the model that proves it. Status 1: it does not verify."""
    from studies.export.exports import EXPORTS, check_export, export

    if is_list:
        rows = [[name, each.description, " ".join(each.suffixes)] for name, each in EXPORTS.items()]
        if as_json:
            print_json({"formats": [dict(zip(("name", "description", "suffixes"), row, strict=True)) for row in rows]})
        else:
            print_text(Table(headings=["format", "what is written", "files"], rows=rows, numbers=()).to_text())
        return 0
    if wanted.file is None:
        raise BadInputError("INSTANCE: expected an instance to read, got nothing.")
    if wanted.to is None:
        raise BadInputError("--to: expected the name of a format (see --list), got nothing.")
    if wanted.output is None:
        raise BadInputError("--output: expected a file to write, got nothing.")
    problem = problem_of_file(wanted.file)
    chosen = EXPORTS[wanted.to]
    given: dict[str, Any] = {}
    if wanted.objective is not None:
        given["objective"] = chosen_objective(problem, wanted.objective)
    if wanted.contention != "none":
        refuse_given(problem, contention=wanted.contention)
        given["contention"] = wanted.contention
    places = {"format": "--to", "path": str(wanted.output), "schedule": "SCHEDULE"}
    with options(places, str(wanted.file)):
        check_export(wanted.to, problem.name, wanted.output, has_schedule=wanted.schedule is not None)
    for name in given:
        if name not in chosen.options():
            raise BadInputError(f"--{name}: expected none for the format {wanted.to}, which has no such option.")
    check_outputs([wanted.file, wanted.schedule], [wanted.output])
    with reading(wanted.file):
        instance = problem.codec.read_instance(wanted.file)
    schedule = None
    if wanted.schedule is not None:
        with reading(wanted.schedule):
            schedule = problem.codec.read_schedule(wanted.schedule, instance)
        violations = problem.goal(instance, None, wanted.contention).violations(schedule)
        if violations:
            note(f"{wanted.schedule}: {printable(str(violations[0]))}")
            note(f"{wanted.schedule}: the schedule does not verify (optgap verify lists every violation).")
            return 1
    with options({"instance": str(wanted.file)}, str(wanted.file)), writing(wanted.output):
        export(instance, schedule, wanted.to, wanted.output, **given)
    answer = {"instance": instance.name, "format": wanted.to, "file": str(wanted.output)}
    if as_json:
        print_json({**answer, "instance_sha256": instance.sha256, "bytes": wanted.output.stat().st_size})
    else:
        print_text(aligned({**answer, "file": str(wanted.output)}))
    return 0


def view_command(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance, a JSON file.")],
    schedule_files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SCHEDULE", help="Schedules of it, JSON files; without one a quick heuristic makes one."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Page to write.")] = None,
    as_json: opt.AS_JSON = False,
) -> int:
    """Write a page to look at schedules in a browser, without a network. Status 1: one does not verify."""
    from instances.dag.objective import needs_buffers
    from solvers.solve import solve
    from studies.export.page import view

    if output is None:
        raise BadInputError("--output: expected a file to write, got nothing.")
    problem, paths = problem_of_file(instance_file), schedule_files or []
    check_outputs([instance_file, *paths], [output])
    with reading(instance_file):
        instance = problem.codec.read_instance(instance_file)
    schedules = {}
    for path in paths:
        with reading(path):
            schedules[str(path)] = problem.codec.read_schedule(path, instance)
        has_starts = getattr(schedules[str(path)], "transfer_start", None) is not None
        if violations := problem.goal(instance, None, "nic" if has_starts else "none").violations(schedules[str(path)]):
            note(f"{path}: {printable(str(violations[0]))}")
            note(f"{path}: the schedule does not verify (optgap verify lists every violation).")
            return 1
    if not paths:
        starts = problem.starting_methods(instance, problem.default_objective)
        method = starts[-1 if needs_buffers(instance, None) else 0]  # with buffers the last one takes any instance
        result = solve(instance, method)
        if result.schedule is None:
            note(f"{instance_file}: {method} found no schedule to show.")
            return 1
        schedules[method] = result.schedule
    with writing(output):
        view(instance, schedules, output)
    answer = {"instance": instance.name, "schedules": list(schedules), "file": str(output)}
    if as_json:
        print_json({**answer, "instance_sha256": instance.sha256, "bytes": output.stat().st_size})
    else:
        print_text(aligned({**answer, "schedules": ", ".join(schedules), "file": str(output)}))
    return 0
