"""The ledger of the reference library: one line per instance and objective, which may only become better."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from instances.json_fields import JsonObject, parse_json
from instances.library.ledger_entry import LedgerEntry
from instances.library.library_file_error import LibraryFileError
from instances.text_file import read_text, write_text
from instances.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from instances.library import KnownBound, KnownSchedule

LEDGER_FORMAT, LEDGER_VERSION = "optgap/library-ledger", 1

LOCK = ".lock"
"""File in the folder of a library; it is empty, and may stay or go."""

Key = tuple[str, str]
"""Name of an instance and of an objective."""


class LedgerContradictionError(ValueError):
    """A proven bound is above the objective of a verified schedule."""


def read_ledger(path: Path) -> dict[Key, LedgerEntry]:
    """Read a ledger file.

    Raises
    ------
    OSError
        If it cannot be read.
    LibraryFileError
        If it is no ledger, or an entry is there twice.
    """
    try:
        document = JsonObject(parse_json(read_text(path)))
        found, version = document.text("format"), document.integer("version")
        if (found, version) != (LEDGER_FORMAT, LEDGER_VERSION):
            raise ValueError(f'format: expected "{LEDGER_FORMAT}" version {LEDGER_VERSION}, got "{found}" {version}.')
        entries: dict[Key, LedgerEntry] = {}
        for index, value in enumerate(document.list("entries")):
            entry = LedgerEntry.from_json(value, f"entries[{index}]")
            key = (entry.instance, entry.objective_name)
            if key in entries:
                raise ValueError(f"entries[{index}]: expected each entry once, got {' '.join(key)} twice.")
            entries[key] = entry
        document.close()
    except ValueError as error:
        raise LibraryFileError(f"{path}: {error}") from error
    return entries


def write_ledger(path: Path, entries: Mapping[Key, LedgerEntry]) -> None:
    """Write a ledger file, one line per entry in alphabetical order; whoever reads sees the old one or the new one."""
    lines = ",\n  ".join(json.dumps(entries[key].to_dict(), allow_nan=False) for key in sorted(entries))
    head = f'"format": "{LEDGER_FORMAT}",\n "version": {LEDGER_VERSION}'
    with whole_file(path) as partial:
        write_text(partial, f'{{\n {head},\n "entries": [\n  {lines}]\n}}\n')


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a library; whoever dies lets go of it."""
    import fcntl  # not on every system; reading needs no lock

    with open(folder / LOCK, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def improved(old: LedgerEntry, bound: KnownBound | None, schedule: KnownSchedule | None) -> LedgerEntry:
    """Return an entry with whatever of a bound and a schedule is better than what it has; itself where nothing is.

    Raises
    ------
    LedgerContradictionError
        If a bound is then above the objective.
    """
    best_bound = bound if bound is not None and bound.is_better_than(old.bound) else old.bound
    best = schedule if schedule is not None and schedule.is_better_than(old.schedule) else old.schedule
    if best_bound is not None and best is not None and best_bound.value > best.objective:
        raise LedgerContradictionError(
            f"{old.instance} {old.objective_name}: expected a bound of at most the objective {best.objective} "
            f"({best.provenance.method}), got {best_bound.value} ({best_bound.provenance.method})."
        )
    if best_bound is old.bound and best is old.schedule:
        return old
    return LedgerEntry(instance=old.instance, objective_name=old.objective_name, bound=best_bound, schedule=best)
