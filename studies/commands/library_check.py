"""Command `library check`: everything in the reference library that can be derived again."""

from dataclasses import asdict
from itertools import count
from typing import Annotated

import typer

from studies.command_line.bad_input import BadInputError, shortened
from studies.command_line.output import note, print_json, print_text, printable
from studies.commands import library_options as own
from studies.commands import options as opt

MIN_HASH = 8
"""Fewest digits of a revision."""


def library_check(
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
    from studies.command_line.run_progress import RunProgress
    from studies.library.check_library import Finding, check_library
    from studies.library.library_texts import citation_text, summary_text

    revision = None if revision is None else revision.removeprefix("sha256:").rstrip(".")
    if revision is not None and len(revision) < MIN_HASH:
        raise BadInputError(f"--revision: expected at least {MIN_HASH} hexadecimal digits, got {shortened(revision)}.")
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
            f"{summary_text(chosen)}"
        )
    return 1 if report.violations else 0
