"""Lower bounds of a jobs instance, for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.jobs.jobs_json import read_jobs_instance
from solvers.jobs.lower_bound_jobs import default_bounds, known_bounds, lower_bound_jobs
from studies.bound_comparison import BoundComparison
from studies.bound_table_text import bound_table_text
from studies.command_line.bad_input import BadInputError, options, reading, shortened
from studies.command_line.jobs_progress import JobsProgress
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.solve_jobs_file import jobs_objective, refuse
from studies.command_line.write_output import write_text_output

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from solvers.bound_table import BoundTable


def bound_jobs_file(
    file: Path,
    methods: str | None,
    *,
    objective: str | None,
    time_limit: float | None,
    threads: int | None,
    seed: int,
    for_dags: Mapping[str, object],
    csv: Path | None,
    latex: Path | None,
    as_json: bool,
) -> None:
    """Read, bound, write and print; the parameters are those of the command.

    Raises
    ------
    BadInputError
        If the file is broken, a method is none for jobs, or an option is none for jobs or out of range.
    """
    objective = jobs_objective(objective)
    refuse(for_dags)
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    for name in names or []:
        if name not in known_bounds():
            raise BadInputError(
                f"--methods: expected some of {', '.join(known_bounds())} for jobs, got {shortened(name)}."
            )
    check_outputs([file], [csv, latex])
    with reading(file):
        instance = read_jobs_instance(file)
    with options({}, "bound"), JobsProgress("bounding") as progress:

        def on_method(name: str, so_far: BoundTable) -> None:
            progress.doing = name
            progress.lower_bound = None if so_far.best is None else so_far.best.value

        table = lower_bound_jobs(
            instance,
            objective=objective,
            methods=default_bounds(instance) if names is None else names,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            on_method=on_method,
        )
    write_text_output(csv, table.to_csv)
    write_text_output(latex, lambda: BoundComparison([table]).to_latex())
    if as_json:
        print_json({**table.to_dict(), "seed": seed})
    else:
        print_text(bound_table_text(table))
