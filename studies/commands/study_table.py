"""Command `study table`: the methods and bounds of a study in numbers."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import BadInputError, options
from studies.command_line.option_types import number
from studies.command_line.output import note, print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.write_output import write_output, write_text_output
from studies.commands import options as opt
from studies.commands.open_study import STORE, budgets_of_study, open_study

PARTS = ("gaps", "jct", "interference", "bounds", "targets")
"""What may be shown, as `--what` names it."""

OF_JOBS = ("jct", "interference")
"""Those of them that only studies of jobs have."""

LARGEST_TARGET = 1e6
"""In percent; more is a slip of the finger."""


def study_table(
    folder: STORE,
    what: Annotated[
        str | None,
        typer.Option(
            "--what",
            metavar="A,B",
            help="Some of gaps, jct, interference, bounds and targets; default gaps, and jct in studies of jobs.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="A,B+C", help="Groups of instances: family, size, ccr, ...; family+size for both at once."
        ),
    ] = None,
    statistic: Annotated[
        str,
        typer.Option(
            "--statistic",
            metavar="NAME",
            help="With --by: mean, median, q25, q75, q90, worst or optimal; default mean.",
        ),
    ] = "mean",
    targets: Annotated[
        str, typer.Option("--targets", metavar="A,B", help="Gaps in %, 0 for the optimum; default 10,5,1,0.")
    ] = "10,5,1,0",
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="TEXT", help='Such as "2000 evaluations"; default every one in turn.'),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="LABEL", help="Method that the others are tested against.")
    ] = None,
    reductions_of: Annotated[
        str | None,
        typer.Option(
            "--reductions-of", metavar="LABEL", help="Method whose percentage reductions against the others are shown."
        ),
    ] = None,
    markdown: opt.MARKDOWN = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write.")] = None,
    latex: Annotated[Path | None, typer.Option("--latex", metavar="FILE", help="LaTeX (booktabs) to write.")] = None,
    frame_file: Annotated[
        Path | None, typer.Option("--frame", metavar="FILE", help="CSV with a row per run, references included.")
    ] = None,
    traces_file: Annotated[
        Path | None, typer.Option("--traces", metavar="FILE", help="CSV with a row per improvement of every run.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Tabulate a study: gaps, bounds, times to targets, tests."""
    check_outputs([], [markdown, csv, latex, frame_file, traces_file])
    parts = ["gaps", "jct"] if what is None else [part.strip() for part in what.split(",")]
    for part in parts:
        if part not in PARTS:
            raise BadInputError(f"--what: expected some of {', '.join(PARTS)}, got {part!r}.")
    read_target = number("--targets", high=LARGEST_TARGET)
    gaps_wanted = [read_target(text.strip()) / 100 for text in targets.split(",")]
    from studies.experiment.study_bound_ratios import study_bound_ratios
    from studies.experiment.study_frame import to_frame, traces
    from studies.statistics.study_tables import study_tables

    with open_study(folder) as store:
        frame = to_frame(store)
        for part in OF_JOBS:
            if what is not None and part in parts and "jct_mean" not in frame.columns:
                raise BadInputError(f"--what: expected {part} for studies of jobs only, got it for {folder}.")
        budgets = budgets_of_study(frame, budget, folder)
        points = traces(store) if "targets" in parts else None
        ratios = study_bound_ratios(store) if "bounds" in parts else None
        write_output(frame_file, lambda path: to_frame(store, references=True).to_csv(path, index=False))
        write_output(traces_file, lambda path: traces(store, references=True).to_csv(path, index=False))
    places = {
        "baseline": "--baseline",
        "budget": "--budget",
        "by": "--by",
        "statistic": "--statistic",
        "method": "--reductions-of",
    }
    with options(places, str(folder)):
        tables = study_tables(
            frame,
            parts=parts,
            budgets=budgets,
            baseline=baseline,
            by=[] if by is None else [column.strip() for column in by.split(",")],
            statistic=statistic,
            reductions_of=reductions_of,
            traces=points,
            targets=gaps_wanted,
            ratios=ratios,
        )
    write_text_output(markdown, lambda: "\n".join(table.to_markdown() for table in tables))
    write_text_output(csv, lambda: "\n".join(_under_one_heading([table.to_csv() for table in tables])))
    write_text_output(latex, lambda: "\n".join(table.to_latex() for table in tables))
    failures = frame[frame["status"] == "failed"]
    if as_json:
        failed = failures[["instance", "label", "budget", "repetition", "error"]].to_dict("records")
        print_json({"comparisons": [table.to_dict() for table in tables], "failed": failed})
        return
    print_text("\n\n".join(table.to_text() for table in tables))
    for (label, error), group in failures.groupby(["label", "error"], sort=False):
        note(f"{label}: {len(group)} runs failed, such as on {group['instance'].iloc[0]}. {error}")


def _under_one_heading(tables: list[str]) -> list[str]:
    """Join CSV tables that have the same heading line."""
    joined: dict[str, str] = {}
    for table in tables:
        heading, _, lines = table.partition("\n")
        joined[heading] = joined.get(heading, f"{heading}\n") + lines
    return list(joined.values())
