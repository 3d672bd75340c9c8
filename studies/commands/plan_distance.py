"""Command `study plan-distance`: how far the distance of placements tells the gap of their finish times."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import options, reading
from studies.command_line.option_types import integer
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.write_output import write_figure, write_output
from studies.commands import options as opt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.dag_instance import DagInstance

MAX_PLACEMENTS, MAX_PAIRS, MAX_RESAMPLES = 5_000, 10_000_000, 100_000
"""Beyond, tables of distances fill the memory, or nobody waits for the end."""


def plan_distance(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Instances; default 40 generated ones, see --gpus."),
    ] = None,
    gpus: Annotated[
        str,
        typer.Option("--gpus", metavar="KIND", help="Of generated instances: clusters (of four kinds) or unrelated."),
    ] = "clusters",
    seed: opt.SEED = 0,
    placements: Annotated[
        int,
        typer.Option(
            "--placements",
            parser=integer("--placements", low=2, high=MAX_PLACEMENTS),
            metavar="N",
            help="Per instance.",
        ),
    ] = 300,
    pairs: Annotated[
        int,
        typer.Option("--pairs", parser=integer("--pairs", low=2, high=MAX_PAIRS), metavar="N", help="Per instance."),
    ] = 4000,
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples",
            parser=integer("--resamples", low=1, high=MAX_RESAMPLES),
            metavar="N",
            help="For intervals and control.",
        ),
    ] = 200,
    order: Annotated[str, typer.Option("--order", metavar="ORDER", help="Of placing: rank or index.")] = "rank",
    no_insertion: Annotated[
        bool, typer.Option("--no-insertion", help="Append tasks; with --order index the published timing.")
    ] = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, a row per instance and distance.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Figure to write: .png, .pdf or .svg.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Correlate plan distance and finish time gap of random placements."""
    check_outputs(files or [], [csv], figure=figure)
    from studies.command_line.run_progress import RunProgress
    from studies.figures.plan_distance_figure import plan_distance_figure
    from studies.plan_distance import plan_distance_study
    from studies.plan_distance_instances import plan_distance_instances
    from studies.plan_distance_text import plan_distance_text

    def instances() -> "Iterator[DagInstance]":
        from instances.dag_json import read_dag_instance

        for file in files or []:
            with reading(file):
                yield read_dag_instance(file)

    with options({"gpus": "--gpus", "order": "--order"}, "plan-distance"), RunProgress() as progress:
        chosen = list(instances() if files else plan_distance_instances(gpus, seed))
        begun: list[str] = []

        def on_instance(name: str) -> None:
            progress.update(name, len(begun), len(chosen))
            begun.append(name)

        table = plan_distance_study(
            chosen,
            seed=seed,
            placements=placements,
            pairs=pairs,
            resamples=resamples,
            order=order,
            insertion=not no_insertion,
            on_instance=on_instance,
        )
    write_output(csv, lambda path: table.to_frame().to_csv(path, index=False))
    write_figure(figure, lambda: plan_distance_figure(table), dpi=200)
    if as_json:
        print_json(table.to_dict())
    else:
        print_text(plan_distance_text(table))
