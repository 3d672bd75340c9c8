"""Command `verify`: the independent check of a schedule."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from solvers.table import printable
from studies.cli import options as opt
from studies.cli.output import print_json, print_text
from studies.cli.running_methods import problem_of_file
from studies.input import BadInputError, reading
from studies.text import aligned


def verify_command(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance, a JSON file.")],
    schedule_file: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="Schedule of it, a JSON file.")],
    contention: opt.CONTENTION = "none",
    as_json: opt.AS_JSON = False,
) -> int:
    """Check a schedule; list every violation (status 1)."""
    from instances.dag.contention import Contention

    problem, rule = problem_of_file(instance_file), Contention(contention)
    has_contention = "contention" in problem.options
    if rule is not Contention.NONE and not has_contention:
        raise BadInputError(f"--contention: expected none for {problem.noun}, got {contention}.")
    with reading(instance_file):
        instance = problem.codec.read_instance(instance_file)
    with reading(schedule_file):
        schedule = problem.codec.read_schedule(schedule_file, instance)
    violations = problem.verify(instance, schedule, rule)
    values = {}
    if not violations:
        values = {
            str(name): problem.objective_value(instance, schedule, name) for name in problem.objectives_of(instance)
        }
    if as_json:
        print_json(
            {
                "instance": instance.name,
                "instance_sha256": instance.sha256,
                **({"contention": contention} if has_contention else {}),
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
        shown = {} if rule is Contention.NONE else {"contention": contention}
        print_text(aligned({"instance": instance.name, "schedule": "verifies", **shown, **objectives}))
    return 1 if violations else 0
