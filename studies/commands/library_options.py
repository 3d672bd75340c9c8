"""Arguments and options that commands on the reference library share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import BadInputError, reason, shortened
from studies.command_line.option_types import integer

if TYPE_CHECKING:
    from instances.library.ledger_entry import LedgerEntry
    from instances.library.library import Library


def _problem(text: str) -> str:
    """Read the name of a problem."""
    if text not in ("dag", "jobs"):
        raise BadInputError(f"--problem: expected dag or jobs, got {shortened(text)}.")
    return text


LIBRARY = Annotated[
    Path | None,
    typer.Option("--library", metavar="DIR", help="Folder of a library; default the one that comes with optgap."),
]
NAMES = Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Names, or how they begin; default all.")]
FAMILY = Annotated[str | None, typer.Option("--family", metavar="NAME", help="Only instances of this family.")]
PROBLEM = Annotated[
    str | None, typer.Option("--problem", parser=_problem, metavar="NAME", help="Only dag, or only jobs.")
]
MIN_SIZE = Annotated[
    int | None,
    typer.Option("--min-tasks", parser=integer("--min-tasks", low=0), metavar="N", help="At least so many tasks."),
]
MAX_SIZE = Annotated[
    int | None,
    typer.Option("--max-tasks", parser=integer("--max-tasks", low=0), metavar="N", help="At most; of jobs: jobs."),
]
OPEN = Annotated[bool, typer.Option("--open", help="Only where the optimum is not proved.")]


@contextmanager
def library_files() -> Iterator[None]:
    """Tell what is wrong with a file of the library in one line."""
    from instances.library.library_file_error import LibraryFileError

    try:
        yield
    except OSError as error:
        raise BadInputError(f"{error.filename}: expected a file of the library, got: {reason(error)}.") from error
    except LibraryFileError as error:
        raise BadInputError(str(error)) from error


def chosen_entries(
    library: "Library",
    names: list[str] | None,
    *,
    family: str | None,
    problem: str | None,
    min_size: int | None,
    max_size: int | None,
    is_open: bool,
) -> "list[LedgerEntry]":
    """Return the entries that the options choose, in the order of the catalogue.

    Raises
    ------
    BadInputError
        If a name or family is in no instance.
    """
    families = dict.fromkeys(entry.family for entry in library.catalogue.values())
    if family is not None and family not in families:
        raise BadInputError(f"--family: expected one of {', '.join(families)}, got {shortened(family)}.")
    for name in names or ():
        if not any(known.startswith(name) for known in library.catalogue):
            near = library.similar_names(name)
            such = f", such as {' or '.join(near)}" if near else ""
            raise BadInputError(f"NAME: expected how a name of the library begins{such}, got {shortened(name)}.")
    found = []
    for entry in library.entries():
        instance = library.catalogue[entry.instance]
        if (
            (not names or instance.name.startswith(tuple(names)))
            and family in (None, instance.family)
            and problem in (None, instance.problem)
            and (min_size is None or instance.size >= min_size)
            and (max_size is None or instance.size <= max_size)
            and not (is_open and entry.status == "optimal")
        ):
            found.append(entry)
    return found
