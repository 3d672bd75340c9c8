"""Command `study marl-ablations`: trainings of the multi-agent policy with something changed."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import options, writing
from studies.command_line.option_types import integer
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.write_output import write_figure, write_output, write_text_output
from studies.commands import options as opt

MAX_SEEDS, MAX_UPDATES, MAX_HELD_OUT, MAX_WORKERS = 1000, 1_000_000, 100_000, 1024
"""More are a slip of the finger."""


def marl_ablations(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder of networks and documents; what is there is not repeated."),
    ],
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", parser=integer("--seeds", low=1, high=MAX_SEEDS), metavar="N", help="Seeds 0 to N - 1."
        ),
    ] = 5,
    updates: Annotated[
        int | None,
        typer.Option(
            "--updates",
            parser=integer("--updates", low=1, high=MAX_UPDATES),
            metavar="N",
            help="Of every training; default that of `train marl`.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="A;B", help="Names of ablations, separated by semicolons; default all."),
    ] = None,
    topologies: Annotated[
        str, typer.Option("--topologies", metavar="A;B", help="Where networks play, or all; see the table's names.")
    ] = "all",
    held_out: Annotated[
        int,
        typer.Option(
            "--held-out",
            parser=integer("--held-out", low=1, high=MAX_HELD_OUT),
            metavar="N",
            help="Instances of each topology.",
        ),
    ] = 20,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            parser=integer("--workers", low=1, high=MAX_WORKERS),
            metavar="N",
            help="Processes, a core each.",
        ),
    ] = 1,
    set_: opt.SET = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, a row per training and instance.")
    ] = None,
    markdown: opt.MARKDOWN = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Curves to draw: .png, .pdf or .svg.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Train ablations of the multi-agent policy: 80 trainings unless told otherwise, a day or more."""
    check_outputs([], [csv, markdown], figure=figure)
    from heuristics.jobs.marl.training.training_settings import TrainingSettings
    from studies.command_line.run_progress import RunProgress
    from studies.command_line.set_parameters import set_parameters
    from studies.marl_ablations.ablation import ABLATIONS, ablations_named
    from studies.marl_ablations.ablations_figure import ablations_figure
    from studies.marl_ablations.ablations_table import ablations_tables
    from studies.marl_ablations.marl_ablations import marl_ablations as run_ablations
    from studies.marl_ablations.topology import topologies_named

    given = set_parameters("marl", TrainingSettings, set_ or [], without=["updates"])
    places = {"updates": "--updates", "only": "--only", "topologies": "--topologies"}
    with options(places | {name: f"--set {name}" for name in given}, "marl-ablations"):
        base = TrainingSettings(**{**given, **({} if updates is None else {"updates": updates})})
        chosen = ABLATIONS if only is None else ablations_named(only)
        where = topologies_named(topologies)
    with options({}, "marl-ablations"), writing(out), RunProgress() as progress:
        study = run_ablations(
            chosen,
            where,
            out,
            base=base,
            seeds=seeds,
            held_out=held_out,
            workers=workers,
            on_run=progress.update,
        )
    tables = ablations_tables(study)
    write_output(csv, lambda path: study.frame.to_csv(path, index=False))
    write_text_output(markdown, lambda: "\n".join(table.to_markdown() for table in tables))
    write_figure(figure, lambda: ablations_figure(study), bbox_inches="tight")
    if as_json:
        import json

        runs = json.loads(study.frame.to_json(orient="records", double_precision=15))
        print_json({"tables": [table.to_dict() for table in tables], "seconds": study.seconds, "runs": runs})
    else:
        print_text("\n\n".join(table.to_text() for table in tables))
