"""Command `demo`: the main job in a minute."""

from pathlib import Path
from typing import Annotated

import typer

from studies.cli import options as opt
from studies.cli.options import number
from studies.cli.output import print_json, print_text
from studies.input import writing


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
    as_json: opt.AS_JSON = False,
) -> None:
    """Show the gap of every heuristic on small instances."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    from studies.analysis.gap_table import gap_table
    from studies.cli.progress import RunProgress
    from studies.report.demo import demo as run_demo
    from studies.report.demo import demo_instances
    from studies.report.gap_report import gap_table_text, instance_table_text

    with RunProgress() as progress, writing(out):
        results = run_demo(
            demo_instances(seed), out, seed=seed, threads=threads, time_limit=time_limit, on_run=progress.update
        )
    table = gap_table(results)
    if as_json:
        print_json({"folder": str(out), "report": str(out / "report.html"), "gap_table": table.to_dict()})
    else:
        print_text(f"{instance_table_text(results, table)}\n\n{gap_table_text(table)}\n")
        print_text(f"report: {out / 'report.html'}")
