"""The ledger of the reference library: the best bound and objective of each instance, which can only improve."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from instances.fields import Fields
from instances.json_document import parse_json
from instances.text_file import read_text, write_text
from instances.waiting import turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class LibraryFileError(ValueError):
    """One line with the file, the place in it, and what was expected there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a bound or a schedule was computed.

    Parameters
    ----------
    budget
        Budget of the run, such as ``20 s`` or ``2000 evaluations``; None for a run without a limit.
    seconds
        Duration of the run.
    threads, seed
        Threads and seed of the run; the seed is None for a method that is not random.
    date
        Day of the run in UTC, as in ISO 8601.
    hardware
        Processor, cores and system.
    versions
        Versions of Python, of optgap and of the solvers.
    """

    method: str
    budget: str | None
    seconds: float
    threads: int
    seed: int | None
    date: str
    hardware: str
    versions: Mapping[str, str | None]

    @classmethod
    def from_json(cls, fields: Fields) -> Provenance:
        """Take the fields from a JSON object."""
        return cls(
            method=fields.text("method"),
            budget=fields.optional_text("budget"),
            seconds=fields.number("seconds"),
            threads=fields.integer("threads"),
            seed=fields.optional_integer("seed"),
            date=fields.text("date"),
            hardware=fields.text("hardware"),
            versions=fields.mapping("versions"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBound:
    """A proven lower bound.

    Parameters
    ----------
    value
        Ticks, or weighted ticks.
    proof
        The proof, in a few words.
    solver
        Solver and version, None for a bound without a solver.
    confirmed_by
        The second model that confirms the bound, None without confirmation.
    confirmed_seconds, confirmed_date
        Duration and day of the confirmation, None without one.
    """

    value: int
    proof: str
    solver: str | None
    provenance: Provenance
    confirmed_by: str | None = None
    confirmed_seconds: float | None = None
    confirmed_date: str | None = None

    @property
    def shares_windows(self) -> bool:
        """Whether the second model took its windows from the first: then the search is confirmed, but not the windows.

        "heads and tails" means that the windows themselves are empty below the bound.
        """
        return self.confirmed_by is not None and self.confirmed_by.endswith(("windows shared", "heads and tails"))

    def is_better_than(self, other: KnownBound | None) -> bool:
        """Say whether this bound should replace another one: because it is larger, or better confirmed."""
        if other is None or self.value != other.value:
            return other is None or self.value > other.value
        if self.confirmed_by is None or other.confirmed_by is None:
            return self.confirmed_by is not None and other.confirmed_by is None
        return other.shares_windows and not self.shares_windows

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "value": self.value,
            "method": self.provenance.method,  # here for the reader's eye
            "proof": self.proof,
            "solver": self.solver,
            "confirmed_by": self.confirmed_by,
            "confirmed_seconds": self.confirmed_seconds,
            "confirmed_date": self.confirmed_date,
            **self.provenance.to_dict(),
        }

    @classmethod
    def from_json(cls, fields: Fields) -> KnownBound:
        """Take a bound from a parsed document, which closes it."""
        return cls(
            value=fields.integer("value"),
            proof=fields.text("proof"),
            solver=fields.optional_text("solver"),
            confirmed_by=fields.optional_text("confirmed_by"),
            confirmed_seconds=fields.optional_number("confirmed_seconds"),
            confirmed_date=fields.optional_text("confirmed_date"),
            provenance=Provenance.from_json(fields),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSchedule:
    """The objective of a stored schedule.

    It is in ticks or weighted ticks, and recomputed from the verified schedule.
    """

    objective: int
    provenance: Provenance

    def is_better_than(self, other: KnownSchedule | None) -> bool:
        """Say whether this schedule should replace another one."""
        return other is None or self.objective < other.objective

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {"objective": self.objective, **self.provenance.to_dict()}

    @classmethod
    def from_json(cls, fields: Fields) -> KnownSchedule:
        """Take an objective from a parsed document, which closes it."""
        return cls(objective=fields.integer("objective"), provenance=Provenance.from_json(fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """The best proven lower bound and the best schedule of one instance and one objective, without contention.

    `instance` is its name in the catalogue.
    """

    instance: str
    objective_name: str
    bound: KnownBound | None = None
    schedule: KnownSchedule | None = None

    @property
    def status(self) -> str:
        """Say ``optimal`` where bound and objective meet, else ``feasible``, or ``unknown`` without a schedule."""
        if self.schedule is None:
            return "unknown"
        return "optimal" if self.bound is not None and self.bound.value == self.schedule.objective else "feasible"

    @property
    def is_confirmed_optimum(self) -> bool:
        """Say whether the optimum is proved and a second model confirms it."""
        return self.status == "optimal" and self.bound is not None and self.bound.confirmed_by is not None

    @property
    def is_independently_confirmed(self) -> bool:
        """Say whether the optimum is confirmed by a model that shares nothing with the first but the instance."""
        return self.is_confirmed_optimum and self.bound is not None and not self.bound.shares_windows

    @property
    def gap(self) -> float | None:
        """Return (objective - bound) / bound, None where it is not defined."""
        if self.schedule is None or self.bound is None or self.bound.value <= 0:
            return None
        return (self.schedule.objective - self.bound.value) / self.bound.value

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "instance": self.instance,
            "objective_name": self.objective_name,
            "status": self.status,
            "bound": None if self.bound is None else self.bound.to_dict(),
            "schedule": None if self.schedule is None else self.schedule.to_dict(),
        }

    @classmethod
    def from_json(cls, fields: Fields) -> LedgerEntry:
        """Take an entry from a parsed document, which closes it.

        Raises a `ValueError` if it is none, or its status is not what bound and objective say.
        """
        status, bound, schedule = (
            fields.text("status"),
            fields.optional_inner("bound"),
            fields.optional_inner("schedule"),
        )
        entry = cls(
            instance=fields.text("instance"),
            objective_name=fields.text("objective_name"),
            bound=None if bound is None else KnownBound.from_json(bound),
            schedule=None if schedule is None else KnownSchedule.from_json(schedule),
        )
        if status != entry.status:
            expected = f"expected {entry.status}, as bound and objective say"
            raise ValueError(f"{fields.place('status')}: {expected}, got {status}.")
        return entry


LEDGER_FORMAT, LEDGER_VERSION = "optgap/library-ledger", 1

LOCK = ".lock"
"""File in the folder of a library; it is empty, and may stay or go."""

Key = tuple[str, str]
"""Name of an instance and of an objective."""


class LedgerContradictionError(ValueError):
    """A proven bound is above the objective of a verified schedule."""


def read_ledger(path: Path) -> dict[Key, LedgerEntry]:
    """Read a ledger file.

    Raises an `OSError` if it cannot be read, and a `LibraryFileError` if it is no ledger, or an entry is there twice.
    """
    try:
        document = Fields(parse_json(read_text(path)))
        document.check_format(LEDGER_FORMAT, LEDGER_VERSION)
        entries: dict[Key, LedgerEntry] = {}
        for index, fields in enumerate(document.each("entries")):
            entry = LedgerEntry.from_json(fields)
            key = (entry.instance, entry.objective_name)
            if key in entries:
                raise ValueError(f"entries[{index}]: expected each entry once, got {' '.join(key)} twice.")
            entries[key] = entry
        document.close()
    except ValueError as error:
        raise LibraryFileError(f"{path}: {error}") from error
    return entries


def write_ledger(path: Path, entries: Mapping[Key, LedgerEntry]) -> None:
    """Write a ledger file, one line per entry in alphabetical order; readers see either the old file or the new one."""
    lines = ",\n  ".join(json.dumps(entries[key].to_dict(), allow_nan=False) for key in sorted(entries))
    head = f'"format": "{LEDGER_FORMAT}",\n "version": {LEDGER_VERSION}'
    write_text(path, f'{{\n {head},\n "entries": [\n  {lines}]\n}}\n')


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a library, for which this process waits visibly; the system releases it if the process dies."""
    import fcntl  # not on every system; reading needs no lock

    with open(folder / LOCK, "w", encoding="utf-8") as file:
        for _ in turns(str(folder)):
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
        yield


def improved(old: LedgerEntry, bound: KnownBound | None, schedule: KnownSchedule | None) -> LedgerEntry:
    """Return an entry with the better bound and the better schedule; the same object if neither improves it.

    Raises a `LedgerContradictionError` if the bound is above the objective.
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
