"""Command `study online`: online policies against the offline optimum or a proven bound."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import BadInputError, options, reading, writing
from studies.command_line.option_types import integer, number
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_distinct, check_writable
from studies.commands import options as opt

if TYPE_CHECKING:
    from collections.abc import Callable

    from studies.online.policy_entry import PolicyEntry
    from studies.online_against_offline import OnlineInstance

MAX_SEEDS = 1000
"""More are a slip of the finger."""

ENTRIES = ("policies", "noise", "predictors", "placements", "holds")
"""What may be compared, as `--compare` names it."""


def online(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Jobs instances; without any a family is drawn.")
    ] = None,
    compare: Annotated[
        str, typer.Option("--compare", metavar="WHAT", help="policies, noise, predictors, placements or holds.")
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
    predictor: Annotated[
        str, typer.Option("--predictor", metavar="NAME", help="Of the policies that predict, with --compare policies.")
    ] = "oracle",
    objective: opt.OBJECTIVE = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Prove the optimum of every instance first, by CP-SAT: for small ones.")
    ] = False,
    time_limit: opt.TIME_LIMIT = None,
    threads: opt.THREADS = None,
    seed: opt.SEED = 0,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, one row per run.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Tables to write.")] = None,
    figure: Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Gaps to draw, .png or .svg.")] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Hold online policies for jobs against the offline optimum or a bound."""
    check_distinct(list(files or []), [csv, markdown, figure])
    for path in (csv, markdown, figure):
        check_writable(path)
    numbers = _loads(loads)
    with options({"predictor": "--predictor"}, "online"):
        entries = _entries(compare, predictor)
    with options({"family": "--family", "jobs": "--jobs"}, "online"):
        instances = _instances(files or [], family, numbers, seeds, jobs)
    from studies.command_line.run_progress import RunProgress
    from studies.command_line.solve_jobs_file import jobs_objective
    from studies.online.online_summary import online_summary, summary_markdown, summary_text
    from studies.online_against_offline import online_against_offline

    wanted = jobs_objective(objective)
    with options({"predictor": "--predictor"}, "online"), RunProgress() as progress:
        frame = online_against_offline(
            instances,
            entries,
            objective=wanted,
            exact="cp-sat" if exact else None,
            time_limit=time_limit,
            threads=threads or 1,
            seed=seed,
            on_run=progress.update,
        )
    summary = online_summary(frame)
    if csv is not None:
        with writing(csv):
            frame.to_csv(csv, index=False)
    if markdown is not None:
        with writing(markdown):
            markdown.write_text(summary_markdown(summary), encoding="utf-8")
    if figure is not None:
        from studies.figures.online_gaps import online_gaps

        drawn = online_gaps(summary).get_figure(root=True)
        assert drawn is not None  # the axes were just made with one
        with writing(figure):
            drawn.savefig(figure, dpi=150)
    if as_json:
        import json

        print_json({"runs": json.loads(frame.to_json(orient="records")), "seed": seed})
    else:
        print_text(summary_text(summary))


def _loads(text: str) -> list[float]:
    """Read loads, separated by commas."""
    return [number("--loads", low_is_allowed=False, high=1e3)(part.strip()) for part in text.split(",")]


def _entries(compare: str, predictor: str) -> "list[PolicyEntry]":
    """Return what is compared."""
    from studies.online import policy_entry

    if compare not in ENTRIES:
        raise BadInputError(f"--compare: expected {' or '.join(ENTRIES)}, got {compare!r}.")
    if compare == "policies":
        return policy_entry.policy_entries(predictor)
    makers: dict[str, Callable[[], list[PolicyEntry]]] = {
        "noise": policy_entry.noise_entries,
        "predictors": policy_entry.predictor_entries,
        "placements": policy_entry.placement_entries,
        "holds": policy_entry.hold_entries,
    }
    return makers[compare]()


def _instances(files: list[Path], family: str, loads: list[float], seeds: int, jobs: int) -> "list[OnlineInstance]":
    """Read the files, or draw the family."""
    from instances.jobs.jobs_json import read_jobs_instance
    from studies.online_against_offline import OnlineInstance, generated_instances

    if not files:
        return generated_instances(family, loads=loads, seeds=range(seeds), jobs=jobs)
    read = []
    for file in files:
        with reading(file):
            read.append(OnlineInstance(instance=read_jobs_instance(file), scenario=file.name))
    return read
