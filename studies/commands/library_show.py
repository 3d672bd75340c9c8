"""Command `library show`: one instance of the reference library and what is known of it."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import options, writing
from studies.command_line.output import note, print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.commands import library_options as own
from studies.commands import options as opt


def library_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of an instance, or how it begins: dag-042.")],
    objective: opt.OBJECTIVE = None,
    instance_out: Annotated[
        Path | None, typer.Option("--instance-out", metavar="FILE", help="Instance to write, .json or .json.gz.")
    ] = None,
    schedule_out: Annotated[
        Path | None,
        typer.Option("--schedule-out", metavar="FILE", help="Best schedule to write, of the first objective."),
    ] = None,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Show an instance, its best bound and its best schedule, with their origin."""
    from instances.dag_instance import DagInstance
    from instances.dag_json import write_dag_instance, write_dag_schedule
    from instances.dag_schedule import DagSchedule
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_json import write_jobs_instance, write_jobs_schedule
    from instances.jobs.jobs_schedule import JobsSchedule
    from instances.library.library import read_library
    from studies.library.library_texts import entry_dict, show_text

    check_outputs([], [instance_out, schedule_out])
    with own.library_files():
        known = read_library(library)
    with options({"name": "NAME", "objective": "--objective"}, name):
        listed = known.named(name)
        names = listed.objectives if objective is None else (objective,)
        entries = [known.entry(listed.name, one) for one in names]
    with own.library_files():
        instance = known.instance(listed.name)
        schedule = known.schedule(listed.name, names[0])
    if instance_out is not None:
        with writing(instance_out):
            if isinstance(instance, DagInstance):
                write_dag_instance(instance, instance_out)
            else:
                write_jobs_instance(instance, instance_out)
    if schedule_out is not None:
        if schedule is None:
            note(f"{schedule_out}: not written, as no schedule is known.")
        with writing(schedule_out):
            if isinstance(instance, DagInstance) and isinstance(schedule, DagSchedule):
                write_dag_schedule(instance, schedule, schedule_out)
            elif isinstance(instance, JobsInstance) and isinstance(schedule, JobsSchedule):
                write_jobs_schedule(instance, schedule, schedule_out)
    if as_json:
        print_json(
            {
                "identifier": known.identifier,
                "ledger_revision": known.revision,
                "entries": [entry_dict(known, entry) for entry in entries],
            }
        )
    else:
        print_text(show_text(known, instance, entries))
