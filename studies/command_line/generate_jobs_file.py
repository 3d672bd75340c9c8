"""Jobs instances of a named family, for the command line."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from instances.generators.jobs.families import ALL_JOBS_FAMILIES
from instances.generators.jobs.generate_jobs import generate_jobs
from instances.generators.jobs.planted_jobs import planted_jobs
from instances.jobs.jobs_json import write_jobs_instance, write_jobs_schedule
from studies.command_line.aligned import aligned
from studies.command_line.bad_input import BadInputError, options, writing
from studies.command_line.jobs_summary import jobs_lines, jobs_summary
from studies.command_line.live_progress import LiveProgress
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.set_parameters import set_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from instances.cluster import Cluster

PLANTED_JOBS = "jobs-planted"
"""Family whose instances come with an optimal schedule."""

PLANTED_OWN = ("jobs", "seed", "cluster", "forbidden", "tick_seconds", "name")
"""Parameters of `planted_jobs` that have options of their own, or none."""


def generate_jobs_file(
    family: str,
    *,
    jobs: int,
    load: float | None,
    seed: int,
    cluster: Cluster | None,
    tick_seconds: float | None,
    forbidden: float | None,
    others: Mapping[str, object],
    texts: Sequence[str],
    output: Path,
    schedule_out: Path | None,
    as_json: bool,
) -> None:
    """Make an instance of a jobs family, write it and say what it is.

    Parameters
    ----------
    family
        A key of `ALL_JOBS_FAMILIES`, or `PLANTED_JOBS`.
    jobs, load, seed, cluster, tick_seconds, forbidden
        Options of their own; None stands for the family's default.
    others
        Options that no jobs family has, by name; None where one was not given.
    texts
        ``key=value`` for parameters of the family.
    output, schedule_out
        Files to write.
    as_json
        Whether to print JSON.

    Raises
    ------
    BadInputError
        If an option is none of this family, or out of range.
    """
    for name, value in others.items():
        if value is not None:
            raise BadInputError(f"--{name.replace('_', '-')}: expected none for {family}, which has no such option.")
    is_planted = family == PLANTED_JOBS
    if is_planted and load is not None:
        raise BadInputError(f"--load: expected none for {family}, whose arrivals follow from its schedule.")
    if not is_planted and schedule_out is not None:
        raise BadInputError(f"--schedule-out: expected none for {family}; only {PLANTED_JOBS} knows a schedule.")
    check_outputs([], [output, schedule_out])
    function = planted_jobs if is_planted else ALL_JOBS_FAMILIES[family].load()
    own = PLANTED_OWN if is_planted else ("jobs", "forbidden")
    parameters = set_parameters(family, function, texts, without=own)
    given: dict[str, Any] = {"load": load, "tick_seconds": tick_seconds, "forbidden": forbidden}
    given = {name: value for name, value in given.items() if value is not None}
    if "forbidden" in given and not is_planted and "forbidden" not in ALL_JOBS_FAMILIES[family].parameters():
        raise BadInputError(f"--forbidden: expected none for {family}, which has no such option.")
    places = {name: f"--set {name}" for name in signature(function).parameters if name not in own}
    places |= {"cluster": "--gpus", **{name: f"--{name.replace('_', '-')}" for name in ("jobs", *given)}}
    with LiveProgress(f"generating {family}", is_search=False), options(places, family):
        if is_planted:
            made = planted_jobs(jobs=jobs, seed=seed, cluster=cluster, **given, **parameters)
            instance, schedule = made.instance, made.schedule
        else:
            instance = generate_jobs(family, jobs=jobs, seed=seed, cluster=cluster, **given, **parameters)
    with writing(output):
        write_jobs_instance(instance, output)
    if schedule_out is not None:
        with writing(schedule_out):
            write_jobs_schedule(instance, schedule, schedule_out)
    known = {"objective": str(made.objective), "optimum": made.optimum} if is_planted else {}
    if as_json:
        summary = {**jobs_summary(instance, output), "family": family, "seed": seed, "parameters": parameters}
        print_json({**summary, **known})
    else:
        lines = {name: str(value) for name, value in known.items()}
        print_text(aligned({**jobs_lines(instance, output), **lines}))
