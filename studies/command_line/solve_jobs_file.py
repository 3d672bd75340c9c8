"""One method on one jobs instance, for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.jobs.jobs_json import read_jobs_instance, write_jobs_schedule
from solvers.bound import best_bound
from solvers.jobs.jobs_methods import jobs_method_named
from solvers.jobs.lower_bound_jobs import lower_bound_jobs
from solvers.jobs.solve_jobs import solve_jobs
from studies.command_line.aligned import aligned
from studies.command_line.bad_input import BadInputError, options, reading, writing
from studies.command_line.jobs_progress import JobsProgress
from studies.command_line.output import note, print_json, print_text
from studies.command_line.output_file import check_outputs, check_suffix
from studies.command_line.set_parameters import set_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule
    from solvers.jobs.jobs_result import JobsResult

OWN_ARGUMENTS = ("objective", "rng", "callback", "run")
"""What `solve_jobs` gives to a method itself."""


def solve_jobs_file(
    file: Path,
    method: str,
    *,
    objective: str | None,
    time_limit: float | None,
    threads: int | None,
    seed: int,
    against: str | None,
    for_dags: Mapping[str, object],
    texts: Sequence[str],
    schedule_out: Path | None,
    gantt: Path | None,
    as_json: bool,
) -> None:
    """Read, solve, write and print.

    Parameters
    ----------
    file
        The instance.
    method, objective, time_limit, threads, seed, against
        As the options of the command; None for the default.
    for_dags
        Options that only DAG instances have, by name; None where one was not given.
    texts
        ``key=value`` each.
    schedule_out, gantt
        Files to write.
    as_json
        Whether to print JSON.

    Raises
    ------
    BadInputError
        If the file is broken, the method is none for jobs, or an option is none for jobs or out of range.
    """
    objective = jobs_objective(objective)
    refuse(for_dags)
    try:
        function = jobs_method_named(method).resolve()
    except ValueError as error:
        raise BadInputError(f"--{error}") from error
    parameters = set_parameters(method, function, texts, without=OWN_ARGUMENTS) if texts else {}
    check_suffix(gantt, (".svg", ".png"))
    check_outputs([file], [schedule_out, gantt])
    with reading(file):
        instance = read_jobs_instance(file)
    with options({name: f"--set {name}" for name in parameters}, method):
        result = _run(instance, method, objective, time_limit, threads, seed, against, parameters)
    if result.schedule is None:
        for path in (schedule_out, gantt):
            if path is not None:
                note(f"{path}: not written, as no schedule was found.")
    else:
        _write(instance, result.schedule, schedule_out, gantt)
    if as_json:
        print_json(result.to_dict())
    else:
        print_text(aligned(result.summary()))


def jobs_objective(text: str | None) -> str:
    """Return the objective of jobs that is meant; None for the default.

    Raises
    ------
    BadInputError
        If it is one of DAG instances only.
    """
    from instances.jobs.jobs_objective import JobsObjective

    if text is None:
        return str(JobsObjective.TOTAL_COMPLETION)
    if text not in list(JobsObjective):
        raise BadInputError(f"--objective: expected {' or '.join(JobsObjective)} for jobs, got {text!r}.")
    return text


def refuse(for_dags: Mapping[str, object]) -> None:
    """Refuse options that no jobs instance has.

    Raises
    ------
    BadInputError
        If one was given.
    """
    for name, value in for_dags.items():
        if value is not None:
            given = "it" if value is True else value
            raise BadInputError(f"--{name.replace('_', '-')}: expected none for a jobs instance, got {given}.")


def _run(
    instance: JobsInstance,
    method: str,
    objective: str,
    time_limit: float | None,
    threads: int | None,
    seed: int,
    against: str | None,
    parameters: Mapping[str, Any],
) -> JobsResult:
    """Bound and solve, with a line on the terminal once it takes longer."""
    with JobsProgress("bounding") as progress:
        bounds = lower_bound_jobs(instance, objective=objective)
        if against is not None:
            progress.doing = against
            bounds += lower_bound_jobs(
                instance, objective=objective, methods=[against], time_limit=time_limit, threads=threads, seed=seed
            )
        best = best_bound(bounds)
        progress.lower_bound = None if best is None else best.value
        progress.doing = method
        return solve_jobs(
            instance,
            method,
            objective=objective,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            callback=progress,
            bounds=bounds,
            **parameters,
        )


def _write(instance: JobsInstance, schedule: JobsSchedule, schedule_out: Path | None, gantt: Path | None) -> None:
    """Write what was asked for."""
    if schedule_out is not None:
        with writing(schedule_out):
            write_jobs_schedule(instance, schedule, schedule_out)
    if gantt is not None:
        from studies.command_line.write_gantt import write_jobs_gantt

        with writing(gantt):
            write_jobs_gantt(instance, schedule, gantt)
