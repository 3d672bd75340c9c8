"""Command `study plot`: the figures of a study."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import BadInputError, options, writing
from studies.command_line.output import print_json, print_text
from studies.commands import options as opt
from studies.commands.open_study import STORE, budgets_of_study, open_study

FORMATS = ("png", "pdf", "svg")
"""Kinds of files."""


def study_plot(
    folder: STORE,
    out: Annotated[Path, typer.Option("--out", metavar="DIR2", help="Folder for the figures.")],
    what: Annotated[
        str | None,
        typer.Option("--what", metavar="A,B", help="Names of figures, such as box-plots,gap-ecdf; default all."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="TEXT", help='Such as "2000 evaluations"; default every one.')
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="A,B", help="Some of png, pdf and svg; default png.")
    ] = "png",
    as_json: opt.AS_JSON = False,
) -> None:
    """Draw the figures of a study."""
    kinds = [kind.strip() for kind in formats.split(",")]
    for kind in kinds:
        if kind not in FORMATS:
            raise BadInputError(f"--format: expected some of {', '.join(FORMATS)}, got {kind!r}.")
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    from solvers.versions import available_cores
    from studies.experiment.bound_traces import bound_traces
    from studies.experiment.study_bound_ratios import study_bound_ratios
    from studies.experiment.study_frame import to_frame, traces
    from studies.figures.write_figures import FIGURES, write_figures
    from studies.statistics.bound_curves import bound_curves

    with open_study(folder) as store:
        frame, points = to_frame(store), traces(store)
        budgets = budgets_of_study(frame, budget, folder)
        ratios, sides = study_bound_ratios(store), bound_traces(store)
    with writing(out), options({"figures": "--what"}, str(folder)):
        paths = write_figures(
            frame,
            points,
            out,
            formats=kinds,
            names=FIGURES if what is None else [name.strip() for name in what.split(",")],
            budgets=budgets if budget is not None else None,
            ratios=ratios,
            curves=bound_curves(sides, ratios.drop_duplicates("sha256")[["sha256", "best"]]),
            processes=available_cores(),
        )
    if as_json:
        print_json({"figures": [str(path) for path in paths]})
    else:
        print_text("\n".join(str(path) for path in paths))
