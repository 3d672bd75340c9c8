"""Command `verify`: the independent check of a schedule."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from solvers.table import printable
from studies.cli import options as opt
from studies.cli.input import reading
from studies.cli.output import print_json, print_text
from studies.text import aligned


def verify_command(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance, a JSON file.")],
    schedule_file: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="Schedule of it, a JSON file.")],
    contention: opt.CONTENTION = "none",
    as_json: opt.AS_JSON = False,
) -> int:
    """Check a schedule; list every violation (status 1)."""
    from instances.text_file import file_format

    with reading(instance_file):
        is_jobs = file_format(instance_file) == "optgap/jobs"
    if is_jobs:
        from studies.cli.running_methods import verify_jobs

        return verify_jobs(instance_file, schedule_file, contention=contention, as_json=as_json)
    from instances.dag.contention import Contention
    from instances.dag.json import read_dag_instance, read_dag_schedule
    from instances.dag.objective import Objective, objective_value
    from instances.dag.verify import verify_dag_schedule

    with reading(instance_file):
        instance = read_dag_instance(instance_file)
    with reading(schedule_file):
        schedule = read_dag_schedule(schedule_file, instance)
    violations = verify_dag_schedule(instance, schedule, Contention(contention))
    values = {} if violations else {str(name): objective_value(instance, schedule, name) for name in Objective}
    if as_json:
        print_json(
            {
                "instance": instance.name,
                "instance_sha256": instance.sha256,
                "contention": contention,
                "verifies": not violations,
                "objectives": values or None,
                "violations": [
                    {"kind": type(violation).__name__, **asdict(violation), "message": str(violation)}
                    for violation in violations
                ],
            }
        )
    elif violations:
        print_text("\n".join(printable(str(violation)) for violation in violations))
        print_text(f"{len(violations)} violation{'s' if len(violations) > 1 else ''}: the schedule does not verify.")
    else:
        objectives = {name.replace("_", " "): str(value) for name, value in values.items()}
        rule = {} if contention == Contention.NONE else {"contention": contention}
        print_text(aligned({"instance": instance.name, "schedule": "verifies", **rule, **objectives}))
    return 1 if violations else 0
