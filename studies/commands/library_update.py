"""Command `library update`: better bounds and schedules for the reference library."""

from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import BadInputError
from studies.command_line.option_types import integer
from studies.command_line.output import note, print_json, print_text
from studies.commands import library_options as own
from studies.commands import options as opt

if TYPE_CHECKING:
    from studies.library.update_library import Change

DEFAULT_METHODS = "bounds,cp-sat,lns,srtf,wcs-duration"


def library_update(
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
    from solvers.confirm import CONFIRM_SECONDS
    from solvers.versions import available_cores
    from studies.library.update_library import update_library
    from studies.library.update_plan import UpdatePlan

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
