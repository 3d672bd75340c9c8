"""The reference library on disk: reading it, storing better bounds and schedules, and writing a new one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from instances.fields import Fields
from instances.json_document import parse_json
from instances.library.catalogue import CatalogueEntry, ledger_revision, library_identifier
from instances.library.ledger import Key, LedgerEntry, LibraryFileError, improved, locked, read_ledger, write_ledger
from instances.readers.optgap_json import CODECS, codec_of
from instances.spelling import nearest
from instances.text_file import PARTIAL, read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from os import PathLike

    from instances.library.ledger import KnownBound, KnownSchedule
    from instances.readers.optgap_json import Instance, Schedule


CATALOGUE_FORMAT, CATALOGUE_VERSION = "optgap/library-catalogue", 1
CATALOGUE, LEDGER, INSTANCES, SCHEDULES = "catalogue.json", "ledger.json", "instances", "schedules"
"""Files and folders of a library."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Library:
    """A stored library; `read_library` makes one.

    Parameters
    ----------
    version
        Number of the published set of instances.
    identifier
        Identifier for citation; checked against the catalogue when the library is read.
    ledger
        Best bound and schedule by names of instance and objective.
    """

    folder: Path
    version: str
    identifier: str
    catalogue: Mapping[str, CatalogueEntry]
    ledger: Mapping[Key, LedgerEntry]

    @property
    def revision(self) -> str:
        """Hash of the present bounds and schedules; the identifier leaves them out, because they become better."""
        return ledger_revision(self.catalogue, self.ledger)

    def reread(self) -> Library:
        """Return the library with the ledger that is on disk now."""
        return replace(self, ledger=read_ledger(self.folder / LEDGER))

    def named(self, name: str) -> CatalogueEntry:
        """Return the one instance whose name is, or begins with, a text.

        Raises a `ValueError` if there is none, or more than one.
        """
        if name in self.catalogue:
            return self.catalogue[name]
        found = [known for known in self.catalogue if known.startswith(name)]
        if len(found) == 1:
            return self.catalogue[found[0]]
        near = found[:3] or self.similar_names(name)
        hint = f" (did you mean {' or '.join(near)}?)" if near else ""
        raise ValueError(f"name: expected the name of one instance (see `optgap library list`), got {name!r}{hint}.")

    def similar_names(self, name: str) -> list[str]:
        """Return up to three names that may have been meant; names may be cut after their number."""
        full_of = {"-".join(known.split("-")[:2]): known for known in self.catalogue} | {x: x for x in self.catalogue}
        return list(dict.fromkeys(full_of[near] for near in nearest(name, full_of)))

    def instance(self, name: str) -> Instance:
        """Read an instance.

        Raises
        ------
        OSError
            If its file cannot be read.
        LibraryFileError
            If its file is damaged, or it is another instance.
        ValueError
            If there is none of that name.
        """
        entry = self.named(name)
        path = self.instance_path(entry.name)
        try:
            instance: Instance = CODECS[entry.problem].read_instance(path)
            if instance.sha256 != entry.sha256:
                raise ValueError(
                    f"sha256: expected {entry.sha256[:16]}... of the catalogue, got {instance.sha256[:16]}..."
                )
        except ValueError as error:
            raise LibraryFileError(f"{path}: {error}") from error
        return instance

    def schedule(self, name: str, objective_name: str) -> Schedule | None:
        """Read the best schedule known, None where there is none; it is not verified here.

        Raises
        ------
        OSError
            If its file cannot be read.
        LibraryFileError
            If a file is damaged.
        ValueError
            If there is no such entry.
        """
        entry = self.entry(name, objective_name)
        if entry.schedule is None:
            return None
        instance = self.instance(entry.instance)
        path = self.schedule_path(entry)
        try:
            schedule: Schedule = codec_of(instance).read_schedule(path, instance)
        except ValueError as error:
            raise LibraryFileError(f"{path}: {error}") from error
        return schedule

    def entry(self, name: str, objective_name: str) -> LedgerEntry:
        """Return what is known of an instance and an objective.

        Raises a `ValueError` if the library has no such entry.
        """
        instance = self.named(name)
        if objective_name not in instance.objectives:
            known = " or ".join(instance.objectives)
            raise ValueError(f"objective: expected {known} for {instance.name}, got {objective_name!r}.")
        key = (instance.name, objective_name)
        return self.ledger.get(key) or LedgerEntry(instance=instance.name, objective_name=objective_name)

    def entries(self) -> list[LedgerEntry]:
        """Return what is known of every instance and objective, in the order of the catalogue."""
        return [
            self.entry(name, objective_name)
            for name, instance in self.catalogue.items()
            for objective_name in instance.objectives
        ]

    def instance_path(self, name: str) -> Path:
        """Return where an instance is stored."""
        return self.folder / INSTANCES / self.catalogue[name].file_name

    def schedule_path(self, entry: LedgerEntry) -> Path:
        """Return where the schedule of an entry is stored; another objective is another file."""
        value = None if entry.schedule is None else entry.schedule.objective
        return self.folder / SCHEDULES / f"{entry.instance}.{entry.objective_name}.{value}.json.gz"

    def improve(
        self,
        name: str,
        objective_name: str,
        *,
        bound: KnownBound | None = None,
        schedule: tuple[KnownSchedule, Schedule] | None = None,
    ) -> tuple[Library, bool]:
        """Store a proven bound and a schedule if they are better than those in the ledger on disk.

        Several processes may do so at once. A process that dies leaves the old entry or the new one, and perhaps a file
        that `remove_unlisted_files` removes.

        Parameters
        ----------
        schedule
            The entry of the ledger and the schedule itself, which the caller has verified.

        Returns
        -------
        tuple[Library, bool]
            The library as it is on disk now, and whether this call changed it.

        Raises
        ------
        LedgerContradictionError
            If a bound would be above the objective of a schedule; nothing is changed.
        OSError
            If the folder cannot be written.
        """
        key = (self.named(name).name, objective_name)
        with locked(self.folder):
            now = self.reread()
            old = now.entry(*key)
            new = improved(old, bound, None if schedule is None else schedule[0])
            if new is old:
                return now, False
            try:
                if schedule is not None and new.schedule is schedule[0]:
                    write_text(self.schedule_path(new), schedule_text(self.instance(key[0]), schedule[1]))
                write_ledger(self.folder / LEDGER, {**now.ledger, key: new})
            finally:  # whether it was written or not: what is on disk decides which schedule stays
                now = self.reread()
                _tidy(now)
            return now, True

    def remove_unfinished(self) -> None:
        """Remove what a killed update left behind: half-written files, and schedules that no entry refers to.

        Raises an `OSError` if the folder cannot be written.
        """
        with locked(self.folder):
            _tidy(self.reread())


def read_library(folder: str | PathLike[str] | None = None) -> Library:
    """Read a library: its catalogue and its ledger; instances and schedules are read when they are asked for.

    Parameters
    ----------
    folder
        Folder of the library; by default the one that comes with the package.

    Raises
    ------
    OSError
        If a file cannot be read.
    LibraryFileError
        If a file is damaged, or the identifier does not follow from the catalogue.

    Examples
    --------
    >>> import optgap
    >>> library = optgap.read_library()
    >>> library.instance("dag-042").num_tasks
    20
    >>> library.entry("dag-042", "makespan").bound.value
    641
    """
    where = Path(str(files("instances.library") / "data")) if folder is None else Path(folder)
    path = where / CATALOGUE
    try:
        document = Fields(parse_json(read_text(path)))
        document.check_format(CATALOGUE_FORMAT, CATALOGUE_VERSION)
        version, identifier = document.text("library_version"), document.text("identifier")
        entries = [CatalogueEntry.from_json(fields) for fields in document.each("instances")]
        document.close()
        catalogue = {entry.name: entry for entry in entries}
        if len(catalogue) != len(entries):
            raise ValueError("instances: expected each name once, got one twice.")
        derived = library_identifier(version, {entry.name: entry.sha256 for entry in entries})
        if identifier != derived:
            raise ValueError(f"identifier: expected {derived}, got {identifier}.")
    except ValueError as error:
        raise LibraryFileError(f"{path}: {error}") from error
    ledger = read_ledger(where / LEDGER)
    for name, objective_name in ledger:
        if name not in catalogue or objective_name not in catalogue[name].objectives:
            raise LibraryFileError(f"{where / LEDGER}: expected entries of the catalogue, got {name} {objective_name}.")
    return Library(folder=where, version=version, identifier=identifier, catalogue=catalogue, ledger=ledger)


def _tidy(library: Library) -> None:
    """Remove what belongs to no entry, while the lock is held."""
    kept = {library.schedule_path(entry) for entry in library.ledger.values()}
    remove_unlisted_files(library.folder, library.folder / SCHEDULES, library.catalogue, kept)


def write_library(folder: Path, version: str, instances: Sequence[tuple[CatalogueEntry, Instance]]) -> None:
    """Write a library with an empty ledger.

    Parameters
    ----------
    folder
        Folder to write to, which is created if necessary; nothing in it is removed.
    instances
        Entries of the catalogue, which is written in this order, with their instances.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    for sub in (INSTANCES, SCHEDULES):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    for entry, instance in instances:
        write_text(folder / INSTANCES / entry.file_name, instance_text(instance))
    entries = [entry for entry, _ in instances]
    identifier = library_identifier(version, {entry.name: entry.sha256 for entry in entries})
    head = {
        "format": CATALOGUE_FORMAT,
        "version": CATALOGUE_VERSION,
        "library_version": version,
        "identifier": identifier,
    }
    lines = ",\n  ".join(json.dumps(entry.to_dict(), allow_nan=False) for entry in entries)
    fields = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    write_text(folder / CATALOGUE, f'{{\n{fields} "instances": [\n  {lines}]\n}}\n')
    write_ledger(folder / LEDGER, {})


def instance_text(instance: Instance) -> str:
    """Return an instance as compact JSON."""
    return _compact(codec_of(instance).instance_document(instance))


def schedule_text(instance: Instance, schedule: Schedule) -> str:
    """Return a schedule of an instance as compact JSON."""
    codec = codec_of(instance)
    if not isinstance(schedule, codec.schedule_type):
        raise TypeError(f"schedule: expected one of a {type(instance).__name__}, got a {type(schedule).__name__}.")
    return _compact(codec.schedule_document(instance, schedule))


def _compact(document: Mapping[str, object]) -> str:
    """Return a document as JSON without white space."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n"


SCHEDULE_NAME = re.compile(r"(.+)\.[a-z_]+\.[0-9]+\.json\.gz")
"""Name of the file of a schedule: instance, objective, value."""


def remove_unlisted_files(folder: Path, schedules: Path, names: Collection[str], kept: Collection[Path]) -> None:
    """Remove half-written files, and schedules that no entry has; files with other names are left alone.

    Parameters
    ----------
    folder, schedules
        Folder of a library whose lock is held, and the folder of its schedules.
    kept
        Files of the schedules in the ledger.

    Raises
    ------
    OSError
        If a folder cannot be written.
    """
    for path in [*folder.iterdir(), *schedules.iterdir()]:
        parts = SCHEDULE_NAME.fullmatch(path.name)
        is_schedule = path.parent == schedules and parts is not None and parts[1] in names
        if path.name.startswith(PARTIAL) or (is_schedule and path not in kept):
            path.unlink(missing_ok=True)
