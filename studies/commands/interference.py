"""Command `study interference`: how well predictors tell the speed of jobs beside others."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import options, reading
from studies.command_line.option_types import integer
from studies.command_line.output import note, print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.write_output import write_output, write_text_output
from studies.commands import options as opt

MAX_SEEDS, MAX_COUNT, MAX_EPOCHS = 1000, 1_000_000, 100_000
"""More are a slip of the finger."""

DEFAULT_PAIRS = Path("../shared/data/gavel/colocated.csv.gz")
"""Measured pairs where no file is named."""


def interference(
    worlds: Annotated[
        str, typer.Option("--worlds", metavar="A,B", help="Of co-located, shared-gpus and gavel.")
    ] = "co-located,shared-gpus,gavel",
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help=f"Gavel's colocated.csv.gz; default {DEFAULT_PAIRS}."),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", parser=integer("--seeds", low=1, high=MAX_SEEDS), metavar="N", help="Seeds 0 to N - 1."
        ),
    ] = 5,
    count: Annotated[
        int,
        typer.Option(
            "--co-locations",
            parser=integer("--co-locations", low=10, high=MAX_COUNT),
            metavar="N",
            help="Generated ones to train on.",
        ),
    ] = 5000,
    epochs: Annotated[
        int,
        typer.Option(
            "--epochs", parser=integer("--epochs", low=1, high=MAX_EPOCHS), metavar="N", help="Of the network."
        ),
    ] = 200,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, a row per world, seed, part and model.")
    ] = None,
    markdown: opt.MARKDOWN = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Measure interference predictors on seen and on unseen pairs of classes."""
    check_outputs([pairs], [csv, markdown])
    from studies.command_line.run_progress import RunProgress
    from studies.interference.interference_study import interference_study
    from studies.interference.interference_text import interference_markdown, interference_text
    from studies.interference.worlds_named import generated_worlds, measured_world, names_measured

    skipped = {}
    with options({"worlds": "--worlds"}, "interference"):
        chosen = generated_worlds(worlds)
        if names_measured(worlds):
            if pairs is None and not DEFAULT_PAIRS.exists():
                skipped["gavel"] = f"{DEFAULT_PAIRS} is not there; name the table by --pairs"
                note(f"gavel: skipped, for {skipped['gavel']}.")
            else:
                path = pairs or DEFAULT_PAIRS
                with reading(path):
                    chosen.append(measured_world(path))
        with RunProgress() as progress:
            study = interference_study(chosen, seeds=seeds, count=count, epochs=epochs, on_run=progress.update)
    write_output(csv, lambda path: study.frame.to_csv(path, index=False))
    write_text_output(markdown, lambda: interference_markdown(study))
    if as_json:
        import json
        from dataclasses import asdict

        print_json(
            {
                "co_locations": study.count,
                "epochs": epochs,
                "seeds": seeds,
                "worlds": study.origins,
                "skipped": skipped,
                "summaries": [asdict(summary) for summary in study.summaries()],
                "notes": study.notes(),
                "runs": json.loads(study.frame.to_json(orient="records", double_precision=15)),
            }
        )
    else:
        print_text(interference_text(study))
