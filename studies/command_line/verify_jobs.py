"""The independent check of a schedule of jobs, for the command line."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from instances.jobs.jobs_json import read_jobs_instance, read_jobs_schedule
from instances.jobs.jobs_objective import JobsObjective, jobs_objective_value
from instances.jobs.verify_jobs_schedule import verify_jobs_schedule
from studies.command_line.aligned import aligned
from studies.command_line.bad_input import BadInputError, reading
from studies.command_line.output import print_json, print_text, printable

if TYPE_CHECKING:
    from pathlib import Path


def verify_jobs(instance_file: Path, schedule_file: Path, *, contention: str, as_json: bool) -> int:
    """Check a schedule and print what is wrong with it; return the exit status.

    Raises
    ------
    BadInputError
        If a file is broken, or contention is asked for: in the jobs problem it is part of the iteration time.
    """
    if contention != "none":
        raise BadInputError(f"--contention: expected none for jobs, got {contention}.")
    with reading(instance_file):
        instance = read_jobs_instance(instance_file)
    with reading(schedule_file):
        schedule = read_jobs_schedule(schedule_file, instance)
    violations = verify_jobs_schedule(instance, schedule)
    values = {} if violations else {str(name): jobs_objective_value(instance, schedule, name) for name in JobsObjective}
    if as_json:
        print_json(
            {
                "instance": instance.name,
                "instance_sha256": instance.sha256,
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
        print_text(aligned({"instance": instance.name, "schedule": "verifies", **objectives}))
    return 1 if violations else 0
