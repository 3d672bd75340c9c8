"""Commands `study run`, `study table` and `study plot`: many instances x many methods."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import BadInputError, options, reading, writing
from studies.command_line.option_types import integer
from studies.command_line.output import note, print_json, print_text
from studies.command_line.output_file import check_distinct, check_writable
from studies.commands import options as opt
from studies.commands.online import online
from studies.commands.plan_distance import plan_distance

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.study_spec import StudySpec
    from studies.experiment.study_store import StudyStore
    from studies.statistics.comparison import Comparison
    from studies.statistics.reductions import Reductions

study = typer.Typer(rich_markup_mode=None, help="Run, tabulate and plot many instances x many methods.")
study.command("plan-distance")(plan_distance)
study.command("online")(online)

STORE = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a study that `optgap study run` made.")]


@study.command("run")
def run(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="TOML file, or the name of a shipped specification.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the store; what is done there is kept.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show plan and estimate; run and write nothing.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            parser=integer("--workers", low=1, high=opt.MAX_THREADS),
            metavar="N",
            help="Processes that make one run each at a time; default all cores.",
        ),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Make runs again that failed.")] = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Run whatever a study still lacks (Ctrl-C: what is done is kept)."""
    from solvers.versions import available_cores
    from studies.command_line.study_progress import StudyProgress, duration_text
    from studies.command_line.study_texts import state_dict
    from studies.experiment.run_study import run_study

    name, specification = _read_spec(spec)
    workers = workers or available_cores()
    if dry_run:
        _show_plan(name, specification, out, workers, as_json)
        return
    if out is None:
        raise BadInputError("--out: expected a folder for the store, got nothing.")
    with writing(out), options({}, name), StudyProgress() as progress:
        state = run_study(specification, out, workers=workers, retry_failed=retry_failed, on_state=progress.update)
    if state.failed:
        note(f"{out}: {state.failed} runs failed; `optgap study table {out}` lists them, --retry-failed repeats them.")
    if as_json:
        print_json({"folder": str(out), **state_dict(state)})
    else:
        elsewhere = f", {state.running} running in another process" if state.running else ""
        done = f"{state.finished} of {state.planned} runs finished, {state.failed} failed{elsewhere}"
        print_text(f"{out}: {done}; {duration_text(state.seconds)}.")


@study.command("table")
def table(
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

    with _open_store(folder) as store:
        frame = to_frame(store)
    budgets = _budgets(frame, budget, folder)
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


@study.command("plot")
def plot(
    folder: STORE,
    out: Annotated[Path, typer.Option("--out", metavar="DIR2", help="Folder for the figures.")],
    as_json: opt.AS_JSON = False,
) -> None:
    """Draw the figures of a study."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    from studies.experiment.study_frame import to_frame, traces
    from studies.figures.write_figures import write_figures

    with _open_store(folder) as store:
        frame, points = to_frame(store), traces(store)
    _budgets(frame, None, folder)
    with writing(out):
        paths = write_figures(frame, points, out)
    if as_json:
        print_json({"figures": [str(path) for path in paths]})
    else:
        print_text("\n".join(str(path) for path in paths))


def _read_spec(text: str) -> "tuple[str, StudySpec]":
    """Return the name of the file and what it says."""
    from studies.experiment.read_study_spec import read_study_spec
    from studies.experiment.shipped_specs import spec_path

    with options({}, text):
        path = spec_path(text)
    with reading(path):
        return str(path), read_study_spec(path)


def _show_plan(name: str, specification: "StudySpec", out: Path | None, workers: int, as_json: bool) -> None:
    """Print what would be done; nothing is written."""
    from studies.command_line.study_texts import plan_dict, plan_text
    from studies.experiment.expand_instances import expand_instances
    from studies.experiment.study_plan import study_plan
    from studies.experiment.study_store import DATABASE

    done: set[str] = set()
    with options({}, name), writing(name):
        if out is not None and (out / DATABASE).is_file():
            with _open_store(out) as store:
                instances = expand_instances(specification, stored=store.stored_instance)
                done = store.done_keys()
        else:
            instances = expand_instances(specification)
        plan = study_plan(specification, instances)
    if as_json:
        print_json(plan_dict(plan, workers=workers, done=done))
    else:
        print_text(plan_text(plan, workers=workers, done=done))


def _under_one_heading(tables: list[str]) -> list[str]:
    """Join CSV tables that have the same heading line."""
    joined: dict[str, str] = {}
    for table in tables:
        heading, _, lines = table.partition("\n")
        joined[heading] = joined.get(heading, f"{heading}\n") + lines
    return list(joined.values())


def _open_store(folder: Path) -> "StudyStore":
    """Open the store of a folder."""
    from studies.experiment.study_store import StudyStore

    try:
        return StudyStore(folder)
    except FileNotFoundError as error:
        raise BadInputError(f"{folder}: expected the folder of a study, got one without a store.") from error
    except ValueError as error:
        raise BadInputError(f"{folder}: {error}") from error


def _budgets(frame: "pd.DataFrame", wanted: str | None, folder: Path) -> list[str]:
    """Return the budgets of a study's searches, or the one that is wanted."""
    if frame.empty:
        raise BadInputError(f"{folder}: expected finished runs of methods, got none yet.")
    known = [name for name in dict.fromkeys(frame["budget"]) if name != "-"] or ["-"]
    if wanted is None:
        return known
    if wanted not in known:
        raise BadInputError(f"--budget: expected one of {', '.join(known)}, got {wanted!r}.")
    return [wanted]
