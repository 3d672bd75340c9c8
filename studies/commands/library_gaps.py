"""Command `library gaps`: methods of a study by their gaps to what the reference library proves."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import options, writing
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_distinct, check_writable
from studies.commands import library_options as own
from studies.commands import options as opt
from studies.commands.open_study import STORE, open_study


def library_gaps(
    folder: STORE,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Markdown to write.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Runs to write, as CSV.")] = None,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Hold a study on the library (`study run library`) against the ledger."""
    check_distinct([], [markdown, csv])
    for path in (markdown, csv):
        check_writable(path)
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
    for path, text in ((markdown, gaps.to_markdown()), (csv, gaps.to_csv())):
        if path is not None:
            with writing(path):
                path.write_text(text, encoding="utf-8")
    if as_json:
        print_json(gaps.to_dict())
    else:
        print_text(gaps.to_text())
