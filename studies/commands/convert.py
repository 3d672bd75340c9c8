"""Command `convert`: a file of a public format becomes an instance."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.aligned import aligned
from studies.command_line.bad_input import BadInputError, options, reading, writing
from studies.command_line.cost_model import cost_model
from studies.command_line.instance_summary import instance_summary
from studies.command_line.option_types import cluster, integer
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_distinct, check_writable
from studies.command_line.text_table import text_table
from studies.commands import options as opt


def convert(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="File of a public format.")] = None,
    from_: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="One that --list names.")] = None,
    output: opt.OUTPUT = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", parser=integer("--seed", low=0), metavar="N", help="Seed of modelled durations."),
    ] = None,
    reference_kind: Annotated[
        str | None,
        typer.Option("--reference-kind", metavar="KIND", help="Kind of GPU that the file's times are taken for."),
    ] = None,
    gpus: opt.GPUS = None,
    ccr: opt.CCR = None,
    heterogeneity: opt.HETEROGENEITY = None,
    consistency: opt.CONSISTENCY = None,
    memory_tightness: opt.MEMORY_TIGHTNESS = None,
    forbidden: opt.FORBIDDEN = None,
    tick_seconds: opt.TICK_SECONDS = None,
    mean_ticks: opt.MEAN_TICKS = None,
    set_: opt.SET = None,
    is_list: Annotated[bool, typer.Option("--list", help="List the formats and their options instead.")] = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Read a file of a public format and write it as an instance."""
    if is_list:
        _print_formats(as_json=as_json)
        return
    if file is None:
        raise BadInputError("FILE: expected a file to read, got nothing.")
    if from_ is None:
        raise BadInputError("--from: expected the name of a format (see --list), got nothing.")
    if output is None:
        raise BadInputError("--output: expected a file to write, got nothing.")
    from instances.dag_json import write_dag_instance
    from instances.readers.readers import read_instance
    from studies.command_line.live_progress import LiveProgress
    from studies.command_line.reader_options import option_of_place, reader_options

    cost = cost_model(
        tick_seconds=tick_seconds,
        mean_ticks=mean_ticks,
        heterogeneity=heterogeneity,
        consistency=consistency,
        ccr=ccr,
        memory_tightness=memory_tightness,
        forbidden=forbidden,
    )
    given = {"cluster": cluster(gpus), "cost": cost, "seed": seed, "reference_kind": reference_kind}
    values = reader_options(from_, given, set_ or [])
    check_distinct([file], [output])
    check_writable(output)
    shown = LiveProgress(f"reading {file.name}", is_search=False)
    with shown, reading(file), options(option_of_place(values), str(file)):
        instance = read_instance(from_, file, **values)
    with writing(output):
        write_dag_instance(instance, output)
    if as_json:
        print_json({**instance_summary(instance, output), "converted_from": str(file), "from_format": from_})
    else:
        print_text(aligned({**instance.summary(), "written to": str(output)}))


def _print_formats(*, as_json: bool) -> None:
    """List the formats."""
    from instances.readers.readers import READERS

    formats = [
        {
            "name": name,
            "description": reader.description,
            "extensions": list(reader.extensions),
            "options": list(reader.options()),
        }
        for name, reader in READERS.items()
    ]
    if as_json:
        print_json({"formats": formats})
        return
    rows = [[str(item["name"]), str(item["description"]), ", ".join(item["options"])] for item in formats]
    print_text(text_table(["format", "what it is", "options"], rows, title="Formats"))
