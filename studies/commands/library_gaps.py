"""Command `library gaps`: methods of a study by their gaps to what the reference library proves."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import options
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.write_output import write_text_output
from studies.commands import library_options as own
from studies.commands import options as opt
from studies.commands.open_study import STORE, open_study


def library_gaps(
    folder: STORE,
    markdown: opt.MARKDOWN = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Runs to write, as CSV.")] = None,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Hold a study on the library (`study run library`) against the ledger."""
    check_outputs([], [markdown, csv])
    from instances.library.library import read_library
    from studies.experiment.study_frame import to_frame
    from studies.library.library_gaps import library_gaps as held_against

    with own.library_files():
        known = read_library(library)
    with open_study(folder) as store:
        frame = to_frame(store)
        objective = str(store.select("SELECT objective FROM study")[0]["objective"])
    with options({}, str(folder)):
        gaps = held_against(frame, known, objective_name=objective)
    write_text_output(markdown, gaps.to_markdown)
    write_text_output(csv, gaps.to_csv)
    if as_json:
        print_json(gaps.to_dict())
    else:
        print_text(gaps.to_text())
