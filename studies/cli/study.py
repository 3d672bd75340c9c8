"""Command `study run`: whatever a study still lacks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solvers.table import wide_tables
from studies.cli import options as opt
from studies.cli.open_study import STORE, budgets_of_study, on_store, open_study, read_spec
from studies.cli.output import check_outputs, check_writable, note, print_json, print_text, write_text_output
from studies.input import BadInputError, options, writing
from studies.options import Names, integer, number
from studies.text import aligned

if TYPE_CHECKING:
    from studies.experiment.dask_executor import DaskExecutor
    from studies.experiment.specification import StudySpec


@on_store("out")
def study_run_command(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="TOML file, or the name of a shipped specification.",
            **Names("studies.experiment.read_specification:shipped_specs", is_open=True).given("SPEC"),
        ),
    ],
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
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Scheduler of a Dask cluster that makes the runs, such as tcp://host:8786.",
        ),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Make runs again that failed.")] = False,
    entropy: Annotated[
        str | None,
        typer.Option("--entropy", metavar="TEXT", help="Draw all seeds, also those of instances, from this text."),
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Run whatever a study still lacks (Ctrl-C: what is done is kept)."""
    from instances.units import duration_text
    from solvers.run.versions import available_cores
    from studies.cli.study_progress import StudyProgress, state_dict
    from studies.experiment.executor import ExecutorError
    from studies.experiment.run_study import run_study

    name, specification = read_spec(spec)
    if entropy is not None:
        specification = specification.drawn_from(entropy)
    if dask is not None and workers is not None:
        raise BadInputError(f"--workers: expected nothing beside --dask, got {workers}.")
    if dry_run:
        _show_plan(name, specification, out, _num_workers(dask, workers), as_json)
        return
    if out is None:
        raise BadInputError("--out: expected a folder for the store, got nothing.")
    workers = (workers or available_cores()) if dask is None else None
    executor = None if dask is None else _cluster(dask)
    try:
        with writing(out), options({}, name), StudyProgress() as progress:
            state = run_study(
                specification,
                out,
                workers=workers,
                executor=executor,
                retry_failed=retry_failed,
                on_state=progress.show,
            )
    except ExecutorError as error:
        raise BadInputError(f"{'--workers' if dask is None else '--dask'}: {error}") from error
    if state.failed:
        note(f"{out}: {state.failed} runs failed; `optgap study table {out}` lists them, --retry-failed repeats them.")
    if as_json:
        print_json({"folder": str(out), **state_dict(state)})
    else:
        elsewhere = f", {state.running} running in another process" if state.running else ""
        done = f"{state.finished} of {state.planned} runs finished, {state.failed} failed{elsewhere}"
        print_text(f"{out}: {done}; {duration_text(state.seconds, 2)}.")


def _cluster(address: str) -> "DaskExecutor":
    """Connect to a cluster."""
    from studies.experiment.dask_executor import DaskExecutor
    from studies.experiment.executor import ExecutorError

    try:
        return DaskExecutor(address)
    except ExecutorError as error:
        raise BadInputError(f"--dask: {error}") from error


def _num_workers(dask: str | None, workers: int | None) -> int:
    """Return how many runs would be made at a time; a cluster is asked."""
    from solvers.run.versions import available_cores

    if dask is None:
        return workers or available_cores()
    executor = _cluster(dask)
    try:
        return executor.num_threads
    finally:
        executor.close()


def _show_plan(name: str, specification: "StudySpec", out: Path | None, workers: int, as_json: bool) -> None:
    """Print what would be done; nothing is written."""
    from studies.cli.study_progress import plan_dict, plan_text
    from studies.experiment.instances import expand_instances
    from studies.experiment.plan import study_plan
    from studies.experiment.store import DATABASE

    done: set[str] = set()
    with options({}, name), writing(name):
        if out is not None and (out / DATABASE).is_file():
            with open_study(out) as store:
                instances = expand_instances(specification, stored=store.stored_instance)
                store.check_same(specification)
                done = store.done_keys()
        else:
            instances = expand_instances(specification)
        plan = study_plan(specification, instances)
    if as_json:
        print_json(plan_dict(plan, workers=workers, done=done))
    else:
        print_text(plan_text(plan, workers=workers, done=done))


PARTS = ("gaps", "jct", "interference", "bounds", "targets")
"""What may be shown, as `--what` names it."""

OF_JOBS = ("jct", "interference")
"""Those of them that only studies of jobs have."""

LARGEST_TARGET = 1e6
"""In percent; more is a slip of the finger."""


@on_store("folder")
def study_table_command(
    folder: STORE,
    what: Annotated[
        str | None,
        typer.Option(
            "--what",
            **Names(*PARTS, separator=",").given("--what"),
            metavar="A,B",
            help="Some of gaps, jct, interference, bounds and targets; default gaps, and jct in studies of jobs.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="A,B+C",
            help="Groups of instances: instance (a column each), family, size, ccr, ...; family+size for both at once.",
        ),
    ] = None,
    statistic: Annotated[
        str,
        typer.Option(
            "--statistic",
            **Names("studies.analysis.grouped_comparison:SHOWN").given("--statistic"),
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
    is_wide: opt.WIDE = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Tabulate a study: gaps, bounds, times to targets, tests."""
    check_outputs([], [markdown, csv, latex, frame_file, traces_file])
    parts = ["gaps", "jct"] if what is None else [part.strip() for part in what.split(",")]
    read_target = number("--targets", high=LARGEST_TARGET)
    gaps_wanted = [read_target(text.strip()) / 100 for text in targets.split(",")]
    from studies.analysis.bound_ratios import study_bound_ratios
    from studies.analysis.frames import to_frame, traces
    from studies.report.study_tables import study_tables

    with open_study(folder) as store:
        frame = to_frame(store)
        for part in OF_JOBS:
            if what is not None and part in parts and "jct_mean" not in frame.columns:
                raise BadInputError(f"--what: expected {part} for studies of jobs only, got it for {folder}.")
        budgets = budgets_of_study(frame, budget, folder)
        points = traces(store) if "targets" in parts else None
        ratios = study_bound_ratios(store) if "bounds" in parts else None
        write_text_output(frame_file, lambda: to_frame(store, references=True).to_csv(index=False))
        write_text_output(traces_file, lambda: traces(store, references=True).to_csv(index=False))
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
    with wide_tables(is_wide):
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


FORMATS = ("png", "pdf", "svg")
"""Kinds of files."""


@on_store("folder")
def study_plot_command(
    folder: STORE,
    out: Annotated[Path, typer.Option("--out", metavar="DIR2", help="Folder for the figures.")],
    what: Annotated[
        str | None,
        typer.Option(
            "--what",
            **Names("studies.report.study_figures:FIGURES", separator=",").given("--what"),
            metavar="A,B",
            help="Names of figures, such as box-plots,gap-ecdf; default all.",
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="TEXT", help='Such as "2000 evaluations"; default every one.')
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            **Names(*FORMATS, separator=",").given("--format"),
            metavar="A,B",
            help="Some of png, pdf and svg; default png.",
        ),
    ] = "png",
    as_json: opt.AS_JSON = False,
) -> None:
    """Draw the figures of a study."""
    kinds = [kind.strip() for kind in formats.split(",")]
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    from solvers.run.versions import available_cores
    from studies.analysis.anytime import bound_curves
    from studies.analysis.bound_ratios import study_bound_ratios
    from studies.analysis.frames import bound_traces, to_frame, traces
    from studies.report.study_figures import FIGURES, write_figures

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


@on_store("folder")
def study_report_command(
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
        shown = {name.replace("_", " "): str(number) for name, number in counts.items() if number}
        print_text(aligned({"report": str(out), **shown}))
