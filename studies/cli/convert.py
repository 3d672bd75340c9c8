"""Command `convert`: a file of a public format becomes an instance."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solvers.table import Table, wide_tables
from studies.cli import options as opt
from studies.cli.options import cluster
from studies.cli.output import check_outputs, print_json, print_text
from studies.input import BadInputError, options, reading, writing
from studies.options import Names, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.readers.format import Format


FORMATS = Names("instances.readers.dag.read:READERS", "instances.readers.jobs.read:JOBS_READERS")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """Which file is read, how, and what is written."""

    file: Path | None = option(None, "File of a public format.", is_argument=True)
    from_: str | None = option(None, "One that --list names.", metavar="FORMAT", flag="--from", names=FORMATS)
    output: opt.OUTPUT = None
    seed: int | None = option(None, "Seed of modelled durations.", low=0)
    reference_kind: str | None = option(None, "Kind of GPU on which the times in the file were taken.", metavar="KIND")
    gpus: opt.GPUS = None
    processors: int | None = option(
        None, "Identical processors that run the tasks, where the file has one time per task.", metavar="N", low=1
    )
    scale: int | None = option(
        None, "Ticks in one unit of the file's times, where they have none of their own.", metavar="TICKS", low=1
    )
    durations: Path | None = option(
        None, "Measured durations, used before modelled ones: CSV operator,kind,seconds, or a trace.", file="read"
    )
    set_: opt.SET = None
    schedule_out: Path | None = option(None, "Schedule of the file to write too, torch-csv only.")


def convert_command(
    wanted: ConvertOptions,
    cost: opt.CostOptions,
    is_list: Annotated[bool, typer.Option("--list", help="List the formats and their options instead.")] = False,
    is_wide: opt.WIDE = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Read a file of a public format and write it as an instance."""
    if is_list:
        with wide_tables(is_wide):
            _print_formats(as_json=as_json)
        return
    file, from_, output = wanted.file, wanted.from_, wanted.output
    texts = wanted.set_ or []
    if file is None:
        raise BadInputError("FILE: expected a file to read, got nothing.")
    if from_ is None:
        raise BadInputError("--from: expected the name of a format (see --list), got nothing.")
    if output is None:
        raise BadInputError("--output: expected a file to write, got nothing.")
    from instances.readers.jobs.read import JOBS_READERS
    from studies.cli.making_instances import convert_jobs_file, write_made

    if wanted.schedule_out is not None and from_ != "torch-csv":
        raise BadInputError(f"--schedule-out: expected none for {from_}; only torch-csv has a schedule.")
    if from_ in JOBS_READERS:
        convert_jobs_file(
            from_,
            file,
            given={"cluster": cluster(wanted.gpus), "seed": wanted.seed, "tick_seconds": cost.tick_seconds},
            others={
                **{name: getattr(wanted, name) for name in ("reference_kind", "processors", "scale", "durations")},
                **asdict(cost),
                "tick_seconds": None,
            },
            texts=texts,
            output=output,
            as_json=as_json,
        )
        return
    from instances.readers.dag.read import read_instance
    from studies.cli.progress import LiveProgress
    from studies.parameters import option_of_place, reader_options

    given = {
        "cluster": cluster(wanted.gpus),
        "cost": cost.model(),
        "seed": wanted.seed,
        "reference_kind": wanted.reference_kind,
        "processors": wanted.processors,
        "scale": wanted.scale,
    }
    values = reader_options(from_, given, texts)
    check_outputs([file, wanted.durations], [output, wanted.schedule_out])
    durations = _durations(wanted.durations)
    shown = LiveProgress(f"reading {file.name}", is_search=False)
    with shown, reading(file), options(option_of_place(values), str(file)):
        instance = read_instance(from_, file, **values)
    document = {"converted_from": str(file), "from_format": from_}
    if wanted.schedule_out is not None:
        from instances.dag.json import write_dag_schedule
        from studies.export.torch_csv import schedule_of_torch_csv

        with reading(file):
            schedule = schedule_of_torch_csv(instance, file)
        with writing(wanted.schedule_out):
            write_dag_schedule(instance, schedule, wanted.schedule_out)
    if durations is None:
        write_made(instance, output, document, as_json=as_json)
        return
    from instances.readers.dag.csv_tables import with_measured_durations

    with options({}, str(wanted.durations)):
        instance, count = with_measured_durations(instance, durations)
    of = int((instance.durations >= 0).sum())
    write_made(
        instance,
        output,
        {**document, "durations_from": str(wanted.durations), "measured_durations": count, "allowed_durations": of},
        before={"measured durations": f"{count} of {of}, the others as modelled"},
        as_json=as_json,
    )


def _durations(path: Path | None) -> "dict[tuple[str, str], float] | None":
    """Read measured durations; None stands for no file."""
    if path is None:
        return None
    from instances.readers.dag.csv_tables import read_durations

    with reading(path):
        return read_durations(path)


def _print_formats(*, as_json: bool) -> None:
    """List the formats."""
    from instances.readers.dag.read import READERS
    from instances.readers.jobs.read import JOBS_READERS

    formats, jobs_formats = _formats(READERS), _formats(JOBS_READERS)
    if as_json:
        print_json({"formats": formats, "jobs_formats": jobs_formats})
        return
    for entries, title in ((formats, "Formats"), (jobs_formats, "Traces of jobs that arrive")):
        rows = [[str(item["name"]), str(item["description"]), ", ".join(map(str, item["options"]))] for item in entries]
        print_text(Table(headings=["format", "what it is", "options"], rows=rows, numbers=(), title=title).to_text())


def _formats(readers: "Mapping[str, Format]") -> list[dict[str, Any]]:
    """Describe formats as JSON values."""
    return [
        {
            "name": name,
            "description": reader.description,
            "extensions": list(reader.extensions),
            "options": list(reader.options()),
        }
        for name, reader in readers.items()
    ]
