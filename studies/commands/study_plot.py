"""Command `study plot`: the figures of a study."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import writing
from studies.command_line.output import print_json, print_text
from studies.commands import options as opt
from studies.commands.open_study import STORE, budgets_of_study, open_study


def study_plot(
    folder: STORE,
    out: Annotated[Path, typer.Option("--out", metavar="DIR2", help="Folder for the figures.")],
    as_json: opt.AS_JSON = False,
) -> None:
    """Draw the figures of a study."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    from studies.experiment.study_frame import to_frame, traces
    from studies.figures.write_figures import write_figures

    with open_study(folder) as store:
        frame, points = to_frame(store), traces(store)
    budgets_of_study(frame, None, folder)
    with writing(out):
        paths = write_figures(frame, points, out)
    if as_json:
        print_json({"figures": [str(path) for path in paths]})
    else:
        print_text("\n".join(str(path) for path in paths))
