"""Command `demo`: the main job in a minute, as a study whose specification comes with the package."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solvers.table import wide_tables
from studies.cli import options as opt
from studies.cli.open_study import on_store
from studies.cli.output import print_json, print_text
from studies.input import writing
from studies.options import number

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.specification import StudySpec
    from studies.experiment.store import StudyStore

COLUMNS = ("method", "runs", "none", "opt %", "mean %", "med %", "worst %", "seconds")
"""Columns of the gaps, which fit a terminal; the page has more."""


@on_store("out")
def demo_command(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for instances, schedules, results and report.")
    ] = Path("optgap-demo"),
    seed: opt.SEED = 0,
    threads: opt.THREADS = None,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            parser=number("--time-limit", low_is_allowed=False),
            metavar="SECONDS",
            help="Time for each exact run.",
        ),
    ] = 20.0,
    is_wide: opt.WIDE = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Show the gap of every heuristic on small instances."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    from instances.text_file import write_text
    from solvers.run.versions import available_cores
    from studies.analysis.comparison import compare_methods
    from studies.analysis.frames import to_frame
    from studies.analysis.record import study_record
    from studies.cli.study_progress import StudyProgress
    from studies.experiment.run_study import run_study
    from studies.experiment.store import StudyStore
    from studies.report.study_report import write_study_report

    spec = demo_spec(seed=seed, threads=threads or available_cores(), time_limit=time_limit)
    report = out / "report.html"
    with writing(out):
        with StudyProgress() as progress:
            run_study(spec, out, on_state=progress.show)
        with StudyStore(out) as store:
            frame, instances = to_frame(store), study_record(store).instances
            write_schedules(store, out / "schedules")
            write_text(out / "results.csv", frame.to_csv(index=False))
            write_study_report(store, report, title="optgap demo: gaps on small heterogeneous instances")
    comparison = compare_methods(frame)
    if as_json:
        print_json({"folder": str(out), "report": str(report), "gap_table": comparison.to_dict()})
    else:
        columns = None if is_wide else COLUMNS
        with wide_tables(is_wide):
            text = f"{_instance_table(instances)}\n\n{comparison.table(columns)}"
        print_text(f"{text}\n\nreport: {report}")


def demo_spec(*, seed: int, threads: int, time_limit: float) -> "StudySpec":
    """Return the shipped specification with another seed, and with other threads and seconds for the exact method."""
    from studies.experiment.read_specification import shipped_specs, study_spec_from_toml

    text = shipped_specs()["demo"].read_text(encoding="utf-8")
    for name, value in (("seed", seed), ("threads", threads), ("time_limit", time_limit)):
        text = re.sub(rf"^{name} = .*$", f"{name} = {value!r}", text, flags=re.MULTILINE)
    return study_spec_from_toml(text)


def _instance_table(instances: "pd.DataFrame") -> str:
    """Return the table of the instances of a study, with the best bound of each, for the terminal."""
    from solvers.table import Column, Table

    columns = (
        Column("instance", "instance"),
        *(Column(heading, heading.lower(), is_number=True) for heading in ("tasks", "edges", "GPUs")),
        Column("bound", lambda row: _bound(row["bound"], row["is_optimum"]), is_number=True),
        Column("proved by", lambda row: row["bound_method"] or "-"),
        Column("seconds", lambda row: f"{row['bound_seconds']:.2f}" if row["bound_method"] else "-", is_number=True),
    )
    proven = "Every bound is the optimum." if instances["is_optimum"].all() else "* not proven to be the optimum."
    return Table.of(columns, instances.to_dict("records"), title="Instances", notes=[proven]).to_text()


def _bound(bound: float, is_optimum: bool) -> str:
    """Return a bound, with a mark where it is not proven to be the optimum."""
    return "-" if bound != bound else f"{bound:.0f}{'' if is_optimum else ' *'}"


def write_schedules(store: "StudyStore", folder: Path) -> None:
    """Write every schedule of a study on DAG instances as a file named after instance and method."""
    from instances.dag.instance import DagInstance
    from instances.dag.json import write_dag_schedule
    from instances.dag.schedule import DagSchedule
    from studies.experiment.stored_documents import stored_schedule

    folder.mkdir(exist_ok=True)
    found = "SELECT sha256, label, schedule FROM runs WHERE is_planned = 1 AND schedule IS NOT NULL"
    for row in store.select(found):
        instance = store.instance(row["sha256"])
        schedule = stored_schedule(instance, row["schedule"])
        assert isinstance(instance, DagInstance)
        assert isinstance(schedule, DagSchedule)
        write_dag_schedule(instance, schedule, folder / f"{instance.name}.{row['label']}.json")
