"""Command `study table`: the methods of a study by their gaps."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import options, writing
from studies.command_line.output import note, print_json, print_text
from studies.command_line.output_file import check_distinct, check_writable
from studies.commands import options as opt
from studies.commands.open_study import STORE, budgets_of_study, open_study

if TYPE_CHECKING:
    from studies.statistics.comparison import Comparison
    from studies.statistics.reductions import Reductions


def study_table(
    folder: STORE,
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
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Markdown to write.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write.")] = None,
    latex: Annotated[Path | None, typer.Option("--latex", metavar="FILE", help="LaTeX (booktabs) to write.")] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Compare the methods of a study by their gaps."""
    check_distinct([], [markdown, csv, latex])
    for path in (markdown, csv, latex):
        check_writable(path)
    from studies.experiment.study_frame import to_frame
    from studies.statistics.compare import compare
    from studies.statistics.reductions import reductions

    with open_study(folder) as store:
        frame = to_frame(store)
    budgets = budgets_of_study(frame, budget, folder)
    with options({"baseline": "--baseline", "budget": "--budget"}, str(folder)):
        comparisons: list[Comparison | Reductions] = [
            compare(frame, budget=name, baseline=baseline) for name in budgets
        ]
    if reductions_of is not None:
        with options({"method": "--reductions-of"}, str(folder)):
            comparisons += [reductions(frame, reductions_of, budget=name) for name in budgets]
    for path, texts in (
        (markdown, [comparison.to_markdown() for comparison in comparisons]),
        (csv, _under_one_heading([comparison.to_csv() for comparison in comparisons])),
        (latex, [comparison.to_latex() for comparison in comparisons]),
    ):
        if path is not None:
            with writing(path):
                path.write_text("\n".join(texts), encoding="utf-8")
    failures = frame[frame["status"] == "failed"]
    if as_json:
        failed = failures[["instance", "label", "budget", "repetition", "error"]].to_dict("records")
        print_json({"comparisons": [comparison.to_dict() for comparison in comparisons], "failed": failed})
        return
    print_text("\n\n".join(comparison.to_text() for comparison in comparisons))
    for (label, error), group in failures.groupby(["label", "error"], sort=False):
        note(f"{label}: {len(group)} runs failed, such as on {group['instance'].iloc[0]}. {error}")


def _under_one_heading(tables: list[str]) -> list[str]:
    """Join CSV tables that have the same heading line."""
    joined: dict[str, str] = {}
    for table in tables:
        heading, _, lines = table.partition("\n")
        joined[heading] = joined.get(heading, f"{heading}\n") + lines
    return list(joined.values())
