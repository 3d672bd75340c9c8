"""Command `study online`: online policies against the offline optimum or a proven bound."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.cli import options as opt
from studies.cli.input import BadInputError, options, reading
from studies.cli.open_study import open_study
from studies.cli.options import integer, number
from studies.cli.output import (
    check_outputs,
    note,
    print_json,
    print_text,
    write_figure,
    write_output,
    write_text_output,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from studies.experiment.specification import InstanceFiles, JobsGrid, StudyMethod


MAX_SEEDS = 1000
"""More are a slip of the finger."""

ENTRIES = ("policies", "noise", "predictors", "placements", "holds", "gang-rules")
"""What may be compared, as `--compare` names it."""

WITH_PREDICTOR = ("policies", "gang-rules")
"""Those of them that ask for one predictor."""


def online_command(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Jobs instances; without any a family is drawn.")
    ] = None,
    compare: Annotated[
        str,
        typer.Option("--compare", metavar="WHAT", help="policies, noise, predictors, placements, holds or gang-rules."),
    ] = "policies",
    family: Annotated[
        str, typer.Option("--family", metavar="NAME", help="Family of jobs, as `optgap generate --list` names it.")
    ] = "jobs-recurrent",
    jobs: Annotated[
        int,
        typer.Option("--jobs", parser=integer("--jobs", low=1, high=opt.MAX_TASKS), metavar="N", help="Jobs of each."),
    ] = 200,
    loads: Annotated[str, typer.Option("--loads", metavar="A,B", help="Loads, separated by commas.")] = "0.7,0.9,1.1",
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", parser=integer("--seeds", low=1, high=MAX_SEEDS), metavar="N", help="Seeds 0 to N - 1."
        ),
    ] = 5,
    stored: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Folder of a finished study of jobs to tabulate; nothing is run."),
    ] = None,
    predictor: Annotated[
        str, typer.Option("--predictor", metavar="NAME", help="Of policies that predict, with policies or gang-rules.")
    ] = "oracle",
    objective: opt.OBJECTIVE = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Prove every optimum first, by CP-SAT (60 s each, or --time-limit): for small instances."
        ),
    ] = False,
    time_limit: opt.TIME_LIMIT = None,
    threads: opt.THREADS = None,
    seed: opt.SEED = 0,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, one row per run.")] = None,
    markdown: opt.MARKDOWN = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Gaps to draw: .png, .pdf or .svg.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Hold online policies for jobs against the offline optimum or a bound.

    A quick comparison whose runs are not kept; `optgap study run online` is a study that is.
    """
    check_outputs(files or [], [csv, markdown], figure=figure)
    numbers = _loads(loads)
    if stored is not None and files:
        raise BadInputError(f"--from: expected no files beside a stored study, got {files[0]}.")
    if stored is not None:
        frame = _stored_frame(stored)
    else:
        methods = _methods(compare, predictor)
        frame = _run(
            _instances(files or [], family, numbers, seeds, jobs), methods, objective, exact, time_limit, threads, seed
        )
    from studies.analysis.online_summary import online_summary, summary_tables
    from studies.report.jobs_figures import online_gaps

    for (label, error), group in frame[frame["status"] == "failed"].groupby(["label", "error"], sort=False):
        note(f"{label}: {len(group)} runs failed, such as on {group['instance'].iloc[0]}. {error}")
    summary = online_summary(frame)
    tables = summary_tables(summary)
    write_output(csv, lambda path: frame.to_csv(path, index=False))
    write_text_output(markdown, lambda: "\n".join(table.to_markdown() for table in tables))
    write_figure(figure, lambda: online_gaps(summary))
    if as_json:
        import json

        print_json({"runs": json.loads(frame.to_json(orient="records")), "seed": seed})
    else:
        print_text("\n\n".join(table.to_text() for table in tables))


def _run(
    instances: "list[JobsGrid | InstanceFiles]",
    methods: "list[StudyMethod]",
    objective: str | None,
    exact: bool,
    time_limit: float | None,
    threads: int | None,
    seed: int,
) -> "pd.DataFrame":
    """Run the policies."""
    from studies.cli.running_methods import jobs_objective
    from studies.cli.study_progress import StudyProgress
    from studies.papers.online_policies import EXACT_SECONDS, online_against_offline

    wanted = jobs_objective(objective)
    with options({}, "online"), StudyProgress() as progress:
        return online_against_offline(
            instances,
            methods,
            objective=wanted,
            exact="cp-sat" if exact else None,
            time_limit=time_limit or EXACT_SECONDS,
            threads=threads or 1,
            seed=seed,
            on_state=progress.update,
        )


def _stored_frame(folder: Path) -> "pd.DataFrame":
    """Return the runs of a stored study of jobs."""
    from studies.analysis.frames import to_frame

    with open_study(folder) as store:
        frame = to_frame(store)
    if frame.empty or "jct_mean" not in frame:
        raise BadInputError(f"{folder}: expected a study of jobs with finished runs, got none.")
    return frame


def _loads(text: str) -> list[float]:
    """Read loads, separated by commas."""
    return [number("--loads", low_is_allowed=False, high=1e3)(part.strip()) for part in text.split(",")]


def _methods(compare: str, predictor: str) -> "list[StudyMethod]":
    """Return what is compared."""
    from heuristics.jobs.predictors.predictor import predictor_class
    from studies.papers import online_policies as policy_entries

    if compare not in ENTRIES:
        raise BadInputError(f"--compare: expected {' or '.join(ENTRIES)}, got {compare!r}.")
    if compare in WITH_PREDICTOR:
        with options({"predictor": "--predictor"}, "online"):
            predictor_class(predictor)
    makers: dict[str, Callable[[], list[StudyMethod]]] = {
        "policies": lambda: policy_entries.policy_entries(predictor),
        "noise": policy_entries.noise_entries,
        "predictors": policy_entries.predictor_entries,
        "placements": policy_entries.placement_entries,
        "holds": policy_entries.hold_entries,
        "gang-rules": lambda: policy_entries.gang_rule_entries(predictor),
    }
    return makers[compare]()


def _instances(
    files: list[Path], family: str, loads: list[float], seeds: int, jobs: int
) -> "list[JobsGrid | InstanceFiles]":
    """Read the files once, so that a broken one is told by its name, or describe what is to be drawn."""
    import glob

    from instances.generators.jobs.generate import ALL_JOBS_FAMILIES
    from instances.jobs.json import read_jobs_instance
    from studies.experiment.specification import InstanceFiles, JobsGrid

    if not files:
        if family not in ALL_JOBS_FAMILIES:
            raise BadInputError(f"--family: expected one of {', '.join(ALL_JOBS_FAMILIES)}, got {family!r}.")
        return [JobsGrid(families=(family,), jobs=(jobs,), loads=tuple(loads), count=seeds)]
    for file in files:
        with reading(file):
            read_jobs_instance(file)
    return [InstanceFiles(patterns=tuple(glob.escape(str(file.resolve())) for file in files))]
