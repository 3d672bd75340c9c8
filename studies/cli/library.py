"""Command `library list`: what is in the reference library and how well it is solved."""

from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solvers.table import printable
from studies.cli import options as opt
from studies.cli import options as own
from studies.cli.input import BadInputError, options, quoted, writing
from studies.cli.open_study import STORE, open_study
from studies.cli.options import integer
from studies.cli.output import check_outputs, note, print_json, print_text, write_text_output

if TYPE_CHECKING:
    from studies.library.update import Change


def library_list_command(
    names: own.NAMES = None,
    family: own.FAMILY = None,
    problem: own.PROBLEM = None,
    min_tasks: own.MIN_SIZE = None,
    max_tasks: own.MAX_SIZE = None,
    is_open: own.OPEN = False,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """List instances with their best bounds and schedules."""
    from instances.library.library import read_library
    from studies.library.texts import entry_dict, list_text

    with own.library_files():
        known = read_library(library)
    chosen = own.chosen_entries(
        known, names, family=family, problem=problem, min_size=min_tasks, max_size=max_tasks, is_open=is_open
    )
    if as_json:
        print_json(
            {
                "identifier": known.identifier,
                "ledger_revision": known.revision,
                "entries": [entry_dict(known, entry) for entry in chosen],
            }
        )
    else:
        print_text(list_text(known, chosen))


def library_show_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of an instance, or how it begins: dag-042.")],
    objective: opt.OBJECTIVE = None,
    instance_out: Annotated[
        Path | None, typer.Option("--instance-out", metavar="FILE", help="Instance to write, .json or .json.gz.")
    ] = None,
    schedule_out: Annotated[
        Path | None,
        typer.Option("--schedule-out", metavar="FILE", help="Best schedule to write, of the first objective."),
    ] = None,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Show an instance, its best bound and its best schedule, with their origin."""
    from instances.dag.instance import DagInstance
    from instances.dag.json import write_dag_instance, write_dag_schedule
    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.json import write_jobs_instance, write_jobs_schedule
    from instances.jobs.schedule import JobsSchedule
    from instances.library.library import read_library
    from studies.library.texts import entry_dict, show_text

    check_outputs([], [instance_out, schedule_out])
    with own.library_files():
        known = read_library(library)
    with options({"name": "NAME", "objective": "--objective"}, name):
        listed = known.named(name)
        names = listed.objectives if objective is None else (objective,)
        entries = [known.entry(listed.name, one) for one in names]
    with own.library_files():
        instance = known.instance(listed.name)
        schedule = known.schedule(listed.name, names[0])
    if instance_out is not None:
        with writing(instance_out):
            if isinstance(instance, DagInstance):
                write_dag_instance(instance, instance_out)
            else:
                write_jobs_instance(instance, instance_out)
    if schedule_out is not None:
        if schedule is None:
            note(f"{schedule_out}: not written, as no schedule is known.")
        with writing(schedule_out):
            if isinstance(instance, DagInstance) and isinstance(schedule, DagSchedule):
                write_dag_schedule(instance, schedule, schedule_out)
            elif isinstance(instance, JobsInstance) and isinstance(schedule, JobsSchedule):
                write_jobs_schedule(instance, schedule, schedule_out)
    if as_json:
        print_json(
            {
                "identifier": known.identifier,
                "ledger_revision": known.revision,
                "entries": [entry_dict(known, entry) for entry in entries],
            }
        )
    else:
        print_text(show_text(known, instance, entries))


MIN_HASH = 8
"""Fewest digits of a revision."""


def library_check_command(
    names: own.NAMES = None,
    family: own.FAMILY = None,
    problem: own.PROBLEM = None,
    min_tasks: own.MIN_SIZE = None,
    max_tasks: own.MAX_SIZE = None,
    revision: Annotated[
        str | None,
        typer.Option("--revision", metavar="HASH", help="That somebody cites: catalogue and ledger must have it."),
    ] = None,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> int:
    """Verify schedules, derive bounds without search again; list violations (status 1)."""
    from instances.library.library import read_library
    from studies.cli.progress import RunProgress
    from studies.library.check import Finding, check_library
    from studies.library.texts import citation_text, library_summary_text

    revision = None if revision is None else revision.removeprefix("sha256:").rstrip(".")
    if revision is not None and len(revision) < MIN_HASH:
        raise BadInputError(f"--revision: expected at least {MIN_HASH} hexadecimal digits, got {quoted(revision)}.")
    with own.library_files():
        known = read_library(library)
    chosen = own.chosen_entries(
        known, names, family=family, problem=problem, min_size=min_tasks, max_size=max_tasks, is_open=False
    )
    if not chosen:
        raise BadInputError("NAME: expected names and options that some instance fits, got none that does.")
    wanted = list(dict.fromkeys(entry.instance for entry in chosen))
    is_whole = len(wanted) == len(known.catalogue)
    with own.library_files(), RunProgress() as progress:
        numbers = count()
        report = check_library(
            known,
            None if is_whole else wanted,
            on_instance=lambda name: progress.update(name, next(numbers), len(wanted)),
        )
    if revision is not None and not known.revision.startswith(f"sha256:{revision}"):
        message = f"expected sha256:{revision}, got {known.revision}."
        report.violations.append(Finding(place="ledger revision", message=message))
    for finding in report.better:
        note(f"better: {finding}")
    if as_json:
        print_json({"identifier": known.identifier, "ledger_revision": known.revision, **asdict(report)})
    else:
        for finding in report.violations:
            print_text(printable(str(finding)))
        print_text(
            f"{citation_text(known)}\n{report.num_instances} instances, {report.num_schedules} schedules verified, "
            f"{report.num_bounds} bounds without search derived again:\n"
            f"{len(report.violations) or 'no'} violation{'' if len(report.violations) == 1 else 's'}.\n"
            f"{library_summary_text(chosen)}"
        )
    return 1 if report.violations else 0


def library_gaps_command(
    folder: STORE,
    markdown: opt.MARKDOWN = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Runs to write, as CSV.")] = None,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Hold a study on the library (`study run library`) against the ledger."""
    check_outputs([], [markdown, csv])
    from instances.library.library import read_library
    from studies.analysis.frames import to_frame
    from studies.library.gaps import library_gaps as held_against

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


DEFAULT_METHODS = "bounds,cp-sat,lns,srtf,wcs-duration"


def library_update_command(
    names: own.NAMES = None,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            metavar="A,B",
            help='Methods and bounds in order, "bounds" for all bounds without search, "" for none.',
        ),
    ] = DEFAULT_METHODS,
    time_limit: opt.TIME_LIMIT = 30.0,
    threads: opt.THREADS = None,
    seed: opt.SEED = 0,
    evaluations: Annotated[
        int | None,
        typer.Option("--evaluations", parser=integer("--evaluations", low=1), metavar="E", help="Budget of searches."),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Ask a second model about proven optima that nothing confirms.")
    ] = False,
    confirm_time_limit: opt.CONFIRM_TIME_LIMIT = None,
    family: own.FAMILY = None,
    problem: own.PROBLEM = None,
    min_tasks: own.MIN_SIZE = None,
    max_tasks: own.MAX_SIZE = None,
    is_open: own.OPEN = False,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Run methods, keep only what is better (Ctrl-C: all but what is in flight)."""
    from instances.library.library import read_library
    from solvers.confirmation.claim import CONFIRM_SECONDS
    from solvers.run.versions import available_cores
    from studies.library.update import UpdatePlan, update_library

    if confirm_time_limit is not None and not confirm:
        raise BadInputError("--confirm-time-limit: expected none without --confirm.")
    with own.library_files():
        known = read_library(library)
    chosen = own.chosen_entries(
        known, names, family=family, problem=problem, min_size=min_tasks, max_size=max_tasks, is_open=is_open
    )
    chosen.sort(key=lambda entry: known.catalogue[entry.instance].size)
    try:
        plan = UpdatePlan(
            methods=[name for name in methods.split(",") if name],
            time_limit=time_limit,
            threads=threads or available_cores(),
            seed=seed,
            evaluations=evaluations,
            confirm=confirm,
            confirm_time_limit=confirm_time_limit or time_limit or CONFIRM_SECONDS,
        )
    except ValueError as error:
        raise BadInputError(f"--{error}") from error
    changes: list[Change] = []

    def told(change: "Change") -> None:
        changes.append(change)
        note(_line(change))

    with own.library_files():
        update_library(known, chosen, plan, told)
    better = [change for change in changes if change.is_better]
    if as_json:
        print_json({"attempts": len(changes), "changes": [_document(change) for change in better]})
    else:
        print_text(f"{len(chosen)} entries, {len(changes)} attempts, {len(better)} made something better.")


def _line(change: "Change") -> str:
    """Say what an attempt did."""
    before, after = change.before, change.after
    bound = (before.bound.value if before.bound else None, after.bound.value if after.bound else None)
    value = (
        before.schedule.objective if before.schedule else None,
        after.schedule.objective if after.schedule else None,
    )
    parts = [
        f"{label} {old if old == new else f'{old} -> {new}'}"
        for label, (old, new) in (("bound", bound), ("objective", value))
    ]
    confirmed = ", confirmed" if after.is_confirmed_optimum else ""
    return (
        f"{after.instance} {after.objective_name}: {', '.join(parts)}, {after.status}{confirmed} "
        f"({change.method}, {change.seconds:.1f} s)"
    )


def _document(change: "Change") -> dict[str, object]:
    """Return a change for JSON."""
    return {
        "method": change.method,
        "seconds": change.seconds,
        "before": change.before.to_dict(),
        "after": change.after.to_dict(),
    }
