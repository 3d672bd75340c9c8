"""Command `bound`: proven lower bounds of an instance."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solvers.table import wide_tables
from studies.cli import options as opt
from studies.cli.output import check_outputs, print_json, print_text, write_text_output
from studies.cli.running_methods import (
    ProofOptions,
    RunOptions,
    bound_names,
    chosen_objective,
    note_unused_threads,
    problem_of_file,
    write_certificate,
)
from studies.input import options, reading

if TYPE_CHECKING:
    from solvers.bound_table import BoundTable


def bound_command(
    *,
    file: opt.INSTANCE,
    methods: opt.BOUND_METHODS = None,
    run: RunOptions,
    proof: ProofOptions,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV file to write, one row per bound.")
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option("--latex", metavar="FILE", help="LaTeX table (booktabs) to write, one row for the instance."),
    ] = None,
    is_wide: opt.WIDE = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """List lower bounds of an instance and what proves each."""
    from solvers.lower_bound import lower_bound
    from studies.analysis.bound_comparison import BoundComparison
    from studies.cli.progress import LiveProgress

    problem = problem_of_file(file)
    note_unused_threads(run.threads)
    names = None if methods is None else bound_names(problem, methods)
    objective = chosen_objective(problem, run.objective)
    proof.check(problem)
    check_outputs([file], [csv, latex, proof.certificate])
    with reading(file):
        instance = problem.codec.read_instance(file)
    with options({"contention": "--contention"}, "bound"), LiveProgress("bounding") as progress:

        def on_method(name: str, so_far: "BoundTable") -> None:
            progress.doing = name
            progress.lower_bound = None if so_far.best is None else so_far.best.value

        table = lower_bound(
            instance,
            objective=objective,
            methods=problem.listed_bounds(instance, proof.contention) if names is None else names,
            time_limit=run.time_limit,
            threads=run.threads,
            seed=run.seed,
            confirm=proof.confirm,
            confirm_time_limit=proof.confirm_time_limit,
            on_method=on_method,
            contention=proof.contention,
        )
    if not table:
        table.unless_interrupted()
    write_certificate(proof.certificate, instance, objective, run.time_limit)
    write_text_output(csv, table.to_csv)
    write_text_output(latex, lambda: BoundComparison([table]).to_latex())
    if as_json:
        print_json({**table.to_dict(), "seed": run.seed})
    else:
        with wide_tables(is_wide):
            print_text(table.to_text())
