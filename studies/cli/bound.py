"""Command `bound`: proven lower bounds of an instance."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.cli import options as opt
from studies.cli.input import options, reading
from studies.cli.options import bound_methods, check_confirm_time_option, dag_objective
from studies.cli.output import check_outputs, print_json, print_text, write_text_output

if TYPE_CHECKING:
    from solvers.bound_table import BoundTable


def bound_command(
    file: opt.INSTANCE,
    methods: opt.BOUND_METHODS = None,
    objective: opt.OBJECTIVE = None,
    time_limit: opt.TIME_LIMIT = None,
    threads: opt.THREADS = None,
    seed: opt.SEED = 0,
    confirm: opt.CONFIRM = False,
    confirm_time_limit: opt.CONFIRM_TIME_LIMIT = None,
    contention: opt.CONTENTION = "none",
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV file to write, one row per bound.")
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option("--latex", metavar="FILE", help="LaTeX table (booktabs) to write, one row for the instance."),
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """List lower bounds of an instance and what proves each."""
    from studies.cli.input import is_jobs_file

    if is_jobs_file(file):
        from studies.cli.running_methods import bound_jobs_file

        bound_jobs_file(
            file,
            methods,
            objective=objective,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            for_dags={
                "confirm": confirm or None,
                "confirm_time_limit": confirm_time_limit,
                "contention": None if contention == "none" else contention,
            },
            csv=csv,
            latex=latex,
            as_json=as_json,
        )
        return
    from instances.dag.json import read_dag_instance
    from solvers.bound_methods import BOUND_METHODS
    from solvers.lower_bound import lower_bound
    from studies.analysis.bound_comparison import BoundComparison
    from studies.cli.progress import LiveProgress

    everything = [name for name, method in BOUND_METHODS.items() if method.rule in (None, contention)]
    names = everything if methods is None else bound_methods(methods)
    objective = dag_objective(objective)
    check_confirm_time_option(confirm, confirm_time_limit)
    check_outputs([file], [csv, latex])
    with reading(file):
        instance = read_dag_instance(file)
    with options({"contention": "--contention"}, "bound"), LiveProgress("bounding") as progress:

        def on_method(name: str, so_far: "BoundTable") -> None:
            progress.doing = name
            progress.lower_bound = None if so_far.best is None else so_far.best.value

        table = lower_bound(
            instance,
            objective=objective,
            methods=names,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            confirm=confirm,
            confirm_time_limit=confirm_time_limit,
            on_method=on_method,
            contention=contention,
        )
    write_text_output(csv, table.to_csv)
    write_text_output(latex, lambda: BoundComparison([table]).to_latex())
    if as_json:
        print_json({**table.to_dict(), "seed": seed})
    else:
        print_text(table.to_text())
