"""Checks the reference library: derives everything again that can be derived."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.library.catalogue import library_identifier
from instances.library.certificates import CERTIFICATE_LIST, CERTIFICATES, read_certificates, stored_certificate_text
from instances.library.ledger import LOCK
from instances.library.library import CATALOGUE, INSTANCES, LEDGER, SCHEDULES
from solvers.lower_bound import lower_bound
from solvers.problem import problem_of
from studies.library.certify import checker_answer, proved_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from instances.jobs.instance import JobsInstance
    from instances.library.ledger import LedgerEntry
    from instances.library.library import Library
    from solvers.run.bound import Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something about an entry or a file: where, and what."""

    place: str
    message: str

    def __str__(self) -> str:
        """Return place and message in one line."""
        return f"{self.place}: {self.message}"


@dataclass(slots=True, kw_only=True)
class LibraryReport:
    """What a check found.

    Parameters
    ----------
    violations
        Errors.
    better
        Bounds without search that are larger than those of the ledger: no error, but an update is due.
    num_instances, num_schedules, num_bounds, num_certificates
        How many instances were read, schedules verified, bounds derived again and certificates accepted.
    """

    violations: list[Finding] = field(default_factory=list)
    better: list[Finding] = field(default_factory=list)
    num_instances: int = 0
    num_schedules: int = 0
    num_bounds: int = 0
    num_certificates: int = 0


def check_library(
    library: Library, names: Collection[str] | None = None, *, on_instance: Callable[[str], None] = lambda name: None
) -> LibraryReport:
    """Check a library.

    Every instance is read, and its content hash, size and number of GPUs are compared with the catalogue, and the
    catalogue with the identifier. Every schedule is verified (`verify_dag_schedule`, `verify_jobs_schedule`) and its
    objective computed. Every bound without search that is worth its time, and the stored bound if it needs no search,
    is derived again: no bound may exceed the objective of the schedule, and the stored bound must have its stored
    value. Every stored certificate is given to the checker's file, which must accept the bound that is listed. Proofs
    by search are not repeated, and instances are not generated again; `Library.revision` covers both. An update may
    run at the same time.

    Parameters
    ----------
    names
        Instances to check; by default all, and then files without an entry are violations too.
    on_instance
        Receives the name of every instance before it is checked.
    """
    report = LibraryReport()
    expected = library_identifier(library.version, {name: entry.sha256 for name, entry in library.catalogue.items()})
    if library.identifier != expected:
        report.violations.append(
            Finding(place="catalogue", message=f"identifier: expected {expected}, got {library.identifier}.")
        )
    if names is None:
        _check_files(library, report)
    for name in library.catalogue if names is None else names:
        on_instance(name)
        _check_instance(library, name, report)
    return report


def _check_files(library: Library, report: LibraryReport) -> None:
    """Find files without an entry."""
    folders = [library.folder / sub for sub in (INSTANCES, SCHEDULES, CERTIFICATES)]
    found = sorted(path for folder in (library.folder, *folders) if folder.is_dir() for path in folder.iterdir())
    library = library.reread()  # after the files were listed: an update may have stored some of them just now
    known: set[Path] = {library.instance_path(name) for name in library.catalogue}
    known |= {library.schedule_path(entry) for entry in library.entries() if entry.schedule is not None}
    known |= {stored.path(library.folder) for stored in read_certificates(library.folder).values()}
    known |= {library.folder / name for name in (CATALOGUE, LEDGER, LOCK, CERTIFICATE_LIST)} | set(folders)
    for path in found:
        if path not in known:
            place = path.relative_to(library.folder).as_posix()
            report.violations.append(Finding(place=place, message="expected no file without an entry."))


def _check_instance(library: Library, name: str, report: LibraryReport) -> None:
    """Check an instance and what is known of it."""
    listed = library.named(name)
    try:
        instance = library.instance(name)
    except (OSError, ValueError) as error:
        report.violations.append(Finding(place=name, message=_reason(error)))
        return
    report.num_instances += 1
    size = instance.num_tasks if isinstance(instance, DagInstance) else instance.num_jobs
    gpus = instance.num_gpus if isinstance(instance, DagInstance) else int(instance.num_gpus_of.sum())
    for place, wanted, found in (
        ("name", listed.name, instance.name),
        ("size", listed.size, size),
        ("gpus", listed.gpus, gpus),
    ):
        if wanted != found:
            report.violations.append(Finding(place=name, message=f"{place}: expected {found}, got {wanted}."))
    for objective_name in listed.objectives:
        place = f"{name} {objective_name}"
        entry = library.entry(name, objective_name)
        problems = _schedule_problems(library, instance, entry, report)
        while problems and (now := library.reread()).entry(name, objective_name) != entry:  # updated meanwhile
            library, entry = now, now.entry(name, objective_name)
            problems = _schedule_problems(library, instance, entry, report)
        problems += _bound_problems(instance, entry, report)
        problems += _certificate_problems(library, entry, report)
        report.violations += [Finding(place=place, message=message) for message in problems]


def _schedule_problems(
    library: Library, instance: DagInstance | JobsInstance, entry: LedgerEntry, report: LibraryReport
) -> list[str]:
    """Verify the schedule of an entry and compute its objective."""
    if entry.schedule is None:
        return []
    try:
        schedule = library.schedule(entry.instance, entry.objective_name)
    except (OSError, ValueError) as error:
        return [_reason(error)]
    problem = problem_of(instance)
    if not isinstance(schedule, problem.codec.schedule_type):
        return [f"schedule: expected one of a {type(instance).__name__}, got a {type(schedule).__name__}."]
    if violations := problem.verify(instance, schedule, Contention.NONE):
        return [f"schedule: {violation}" for violation in violations]
    value = problem.objective_value(instance, schedule, problem.objectives(entry.objective_name))
    report.num_schedules += 1
    stored = entry.schedule.objective
    return [] if value == stored else [f"objective: expected {value}, that of the schedule, got {stored}."]


def _bound_problems(instance: DagInstance | JobsInstance, entry: LedgerEntry, report: LibraryReport) -> list[str]:
    """Compare the bound of an entry, and all bounds without search, with the schedule and each other."""
    derived = _bounds_without_search(instance, entry)
    report.num_bounds += len(derived)
    problems = []
    objective = None if entry.schedule is None else entry.schedule.objective
    stored = entry.bound
    if stored is not None and objective is not None and stored.value > objective:
        problems.append(f"bound: expected at most the objective {objective}, got {stored.value}.")
    for bound in derived:
        if objective is not None and bound.value > objective:
            problems.append(
                f"bound: expected at most the objective {objective}, got {bound.value} of {bound.method} now."
            )
        if stored is not None and bound.method == stored.provenance.method and bound.value < stored.value:
            problems.append(f"bound: expected {bound.value} of {bound.method} as derived now, got {stored.value}.")
    best = max(derived, key=lambda bound: bound.value, default=None)
    if best is not None and (stored is None or best.value > stored.value):
        known = "no bound" if stored is None else f"a bound of {stored.value}"
        report.better.append(
            Finding(
                place=f"{entry.instance} {entry.objective_name}",
                message=f"{best.method} gives {best.value}, the ledger has {known}.",
            )
        )
    if stored is not None and (stored.confirmed_by is None) != (stored.confirmed_date is None):
        problems.append("bound: expected a day of the confirmation where there is one, and none elsewhere.")
    return problems


def _certificate_problems(library: Library, entry: LedgerEntry, report: LibraryReport) -> list[str]:
    """Let the checker's file judge the certificate of an entry, if there is one."""
    try:
        stored = read_certificates(library.folder).get((entry.instance, entry.objective_name))
        if stored is None:
            return []
        stored_certificate_text(library.folder, stored)
    except (OSError, ValueError) as error:
        return [_reason(error)]
    expected = proved_line(entry.objective_name, stored.bound)
    answer = checker_answer(library.instance_path(entry.instance), stored.path(library.folder))
    if answer != expected:
        return [f"certificate: expected the checker to say {expected!r}, it says {answer!r}."]
    report.num_certificates += 1
    if entry.schedule is not None and stored.bound > entry.schedule.objective:
        return [f"certificate: expected at most the objective {entry.schedule.objective}, got {stored.bound}."]
    return []


def _bounds_without_search(instance: DagInstance | JobsInstance, entry: LedgerEntry) -> Sequence[Bound]:
    """Derive the bounds that are worth their time, and the stored one, without a time limit, if it needs no search."""
    bounds = list(lower_bound(instance, objective=entry.objective_name).unless_interrupted())
    if entry.bound is None:
        return bounds
    stored, value = entry.bound.provenance.method, entry.bound.value
    method = problem_of(instance).bounds.get(stored)
    if method is None or method.needs_search or any(each.method == stored and each.value >= value for each in bounds):
        return bounds
    whole = lower_bound(instance, objective=entry.objective_name, methods=[stored]).unless_interrupted()
    return [*(bound for bound in bounds if bound.method != stored), *whole]


def _reason(error: OSError | ValueError) -> str:
    """Return in one sentence why a file cannot be read."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: expected a file of the library, got: {error.strerror.lower()}."
    return str(error)
