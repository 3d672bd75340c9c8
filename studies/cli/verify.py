"""Command `verify`: the independent check of a schedule."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from solvers.table import printable
from studies.analysis.gaps import gap_to_bound
from studies.cli import options as opt
from studies.cli.output import print_json, print_text
from studies.cli.running_methods import bound_names, problem_of_file
from studies.input import BadInputError, reading
from studies.options import Names
from studies.text import aligned


def verify_command(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance, a JSON file.")],
    schedule_file: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="Schedule of it, a JSON file.")],
    contention: opt.CONTENTION = "none",
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            autocompletion=Names(
                "solvers.problem:DAG.known_bounds", "solvers.problem:JOBS.known_bounds", separator=","
            ).complete,
            metavar="A,B",
            help="Bounds and exact methods, or default: show the gap of each objective to what they prove.",
        ),
    ] = None,
    time_limit: opt.TIME_LIMIT = None,
    as_json: opt.AS_JSON = False,
) -> int:
    """Check a schedule; list every violation (status 1)."""
    from instances.dag.contention import Contention
    from solvers.lower_bound import lower_bound

    problem, rule = problem_of_file(instance_file), Contention(contention)
    has_contention = "contention" in problem.options
    if rule is not Contention.NONE and not has_contention:
        raise BadInputError(f"--contention: expected none for {problem.noun}, got {contention}.")
    if time_limit is not None and against is None:
        raise BadInputError(f"--time-limit: expected none without --against, got {time_limit:g}.")
    names = None if against in (None, "default") else bound_names(problem, str(against), "--against")
    with reading(instance_file):
        instance = problem.codec.read_instance(instance_file)
    with reading(schedule_file):
        schedule = problem.codec.read_schedule(schedule_file, instance)
    violations = problem.verify(instance, schedule, rule)
    values, gaps = {}, {}
    if not violations:
        values = {
            str(name): problem.objective_value(instance, schedule, name) for name in problem.objectives_of(instance)
        }
    for name, value in values.items() if against is not None else ():
        listed = problem.listed_bounds(instance, contention) if names is None else names
        table = lower_bound(instance, objective=name, methods=listed, time_limit=time_limit, contention=rule)
        best = table.unless_interrupted().best
        proved = None if best is None else best.value
        gaps[name] = {
            "lower_bound": proved,
            "gap": gap_to_bound(value, proved, method="the schedule", instance=instance.name),
        }
    if as_json:
        print_json(
            {
                "instance": instance.name,
                "instance_sha256": instance.sha256,
                **({"contention": contention} if has_contention else {}),
                "verifies": not violations,
                "objectives": values or None,
                **({"gaps": gaps or None} if against is not None else {}),
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
        objectives = {name.replace("_", " "): f"{value}{_gap(gaps.get(name))}" for name, value in values.items()}
        shown = {} if rule is Contention.NONE else {"contention": contention}
        print_text(aligned({"instance": instance.name, "schedule": "verifies", **shown, **objectives}))
    return 1 if violations else 0


def _gap(found: Mapping[str, float | None] | None) -> str:
    """Say how far an objective is from its bound; nothing where none was asked for."""
    if found is None:
        return ""
    if found["lower_bound"] is None:
        return " (no bound)"
    gap = "" if found["gap"] is None else f", gap {100 * found['gap']:.2f} %"
    return f" (lower bound {found['lower_bound']}{gap})"
