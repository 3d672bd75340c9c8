"""Command `study report`: everything about a study in one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import options, writing
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_writable
from studies.commands import options as opt
from studies.commands.open_study import STORE, open_study


def study_report(
    folder: STORE,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="HTML page to write.")],
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page; default the study's name.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="LABEL",
            help="Method that the others are tested against; default the best, corrected for having picked it.",
        ),
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Write a page with the tables, figures, proofs and failures of a study."""
    check_writable(out)
    from studies.report.study_report import write_study_report

    with open_study(folder) as store, options({"baseline": "--baseline"}, str(folder)), writing(out):
        counts = write_study_report(store, out, title=title, baseline=baseline)
    if as_json:
        print_json({"report": str(out), **counts})
    else:
        shown = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items())
        print_text(f"{out}: {shown}")
