"""Commands on the reference library: list, show, check, update, gaps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instances.fields import one_of
from solvers.table import printable, wide_tables
from studies.cli import options as opt
from studies.cli.open_study import STORE, on_store, open_study
from studies.cli.output import check_outputs, note, print_json, print_text, write_text_output
from studies.input import BadInputError, options, quoted, reason, writing
from studies.options import Names, option

if TYPE_CHECKING:
    from instances.library.ledger import LedgerEntry
    from instances.library.library import Library
    from studies.library.update import Change


def shipped_entries() -> list[str]:
    """Return the names of the library that comes with optgap."""
    from instances.library.library import read_library

    return list(read_library().catalogue)


def shipped_families() -> list[str]:
    """Return the families of that library."""
    from instances.library.library import read_library

    return list(dict.fromkeys(entry.family for entry in read_library().catalogue.values()))


ENTRY_NAMES = Names("studies.cli.library:shipped_entries", is_open=True)
"""Names of entries; beginnings of names, and those of another library, are allowed too."""

LIBRARY = Annotated[
    Path | None,
    typer.Option("--library", metavar="DIR", help="Folder of a library; default the one that comes with optgap."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOptions:
    """Which entries of which library are meant."""

    names: list[str] | None = option(
        None, "Names, or how they begin; default all.", metavar="NAME...", is_argument=True, names=ENTRY_NAMES
    )
    family: str | None = option(
        None,
        "Only instances of this family.",
        metavar="NAME",
        names=Names("studies.cli.library:shipped_families", is_open=True),
    )
    problem: str | None = option(None, "Only dag, or only jobs.", metavar="NAME", names=Names("dag", "jobs"))
    min_tasks: int | None = option(None, "Least number of tasks, or of jobs.", low=0)
    max_tasks: int | None = option(None, "Largest number of tasks, or of jobs.", low=0)
    library: LIBRARY = None

    def entries(self, known: "Library", *, is_open: bool = False) -> "list[LedgerEntry]":
        """Return the entries that are meant, in the order of the catalogue.

        `is_open` leaves out those whose optimum is proved. Raises a `BadInputError` if no instance has the family, or a
        name that begins as given.
        """
        families = dict.fromkeys(entry.family for entry in known.catalogue.values())
        if self.family is not None:
            with options({"family": "--family"}, "--family"):
                one_of(self.family, families, "family")
        for name in self.names or ():
            if not any(each.startswith(name) for each in known.catalogue):
                near = known.similar_names(name)
                hint = f" (did you mean {' or '.join(near)}?)" if near else ""
                raise BadInputError(f"NAME: expected how a name of the library begins, got {quoted(name)}{hint}.")
        found = []
        for entry in known.entries():
            instance = known.catalogue[entry.instance]
            if (
                (not self.names or instance.name.startswith(tuple(self.names)))
                and self.family in (None, instance.family)
                and self.problem in (None, instance.problem)
                and (self.min_tasks is None or instance.size >= self.min_tasks)
                and (self.max_tasks is None or instance.size <= self.max_tasks)
                and not (is_open and entry.status == "optimal")
            ):
                found.append(entry)
        return found


OPEN = Annotated[bool, typer.Option("--open", help="Only where the optimum is not proved.")]


@contextmanager
def library_files() -> Iterator[None]:
    """Report in one line what is wrong with a file of the library."""
    from instances.library.ledger import LibraryFileError

    try:
        yield
    except OSError as error:
        raise BadInputError(f"{error.filename}: expected a file of the library, got: {reason(error)}.") from error
    except LibraryFileError as error:
        raise BadInputError(str(error)) from error


def _read(folder: Path | None) -> "Library":
    """Read a library."""
    from instances.library.library import read_library

    with library_files():
        return read_library(folder)


def library_list_command(
    meant: EntryOptions, is_open: OPEN = False, is_wide: opt.WIDE = False, as_json: opt.AS_JSON = False
) -> None:
    """List instances with their best bounds and schedules."""
    from studies.library.texts import entry_dict, list_text

    known = _read(meant.library)
    chosen = meant.entries(known, is_open=is_open)
    if as_json:
        print_json(
            {
                "identifier": known.identifier,
                "ledger_revision": known.revision,
                "entries": [entry_dict(known, entry) for entry in chosen],
            }
        )
    else:
        with wide_tables(is_wide):
            print_text(list_text(known, chosen))


def library_show_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of an instance, or how it begins: dag-042.", autocompletion=ENTRY_NAMES.complete
        ),
    ],
    objective: opt.OBJECTIVE = None,
    instance_out: Annotated[
        Path | None, typer.Option("--instance-out", metavar="FILE", help="Instance to write, .json or .json.gz.")
    ] = None,
    schedule_out: Annotated[
        Path | None,
        typer.Option("--schedule-out", metavar="FILE", help="Best schedule to write, of the first objective."),
    ] = None,
    certificate_out: Annotated[
        Path | None,
        typer.Option("--certificate-out", metavar="FILE", help="Proof of a bound to write, of the first objective."),
    ] = None,
    library: LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Show an instance, its best bound and its best schedule, with their origin."""
    from instances.library.certificates import read_certificates, stored_certificate_text
    from solvers.problem import problem_of
    from studies.library.texts import entry_dict, show_text

    check_outputs([], [instance_out, schedule_out, certificate_out])
    known = _read(library)
    with options({"name": "NAME", "objective": "--objective"}, name):
        listed = known.named(name)
        names = listed.objectives if objective is None else (objective,)
        entries = [known.entry(listed.name, one) for one in names]
    with library_files():
        instance = known.instance(listed.name)
        schedule = known.schedule(listed.name, names[0])
        certificates = read_certificates(known.folder)
        proof = certificates.get((listed.name, names[0]))
        text = None if proof is None else stored_certificate_text(known.folder, proof)
    codec = problem_of(instance).codec
    if instance_out is not None:
        with writing(instance_out):
            codec.write_instance(instance, instance_out)
    if schedule_out is not None:
        if schedule is None:
            note(f"{schedule_out}: not written, because no schedule is known.")
        else:
            with writing(schedule_out):
                codec.write_schedule(instance, schedule, schedule_out)
    if certificate_out is not None:
        if text is None:
            note(f"{certificate_out}: not written, because no certificate is stored.")
        else:
            write_text_output(certificate_out, lambda: text)
    if as_json:
        print_json(
            {
                "identifier": known.identifier,
                "ledger_revision": known.revision,
                "entries": [entry_dict(known, entry) for entry in entries],
            }
        )
    else:
        print_text(show_text(known, instance, entries, certificates))


MIN_HASH = 8
"""Least number of digits of a cited revision."""


def library_check_command(
    meant: EntryOptions,
    revision: Annotated[
        str | None,
        typer.Option("--revision", metavar="HASH", help="A cited revision that catalogue and ledger must have."),
    ] = None,
    as_json: opt.AS_JSON = False,
) -> int:
    """Verify schedules, bounds without search and certificates; list violations (status 1)."""
    from studies.cli.progress import RunProgress
    from studies.library.check import Finding, check_library
    from studies.library.texts import citation_text, library_summary_text

    revision = None if revision is None else revision.removeprefix("sha256:").rstrip(".")
    if revision is not None and len(revision) < MIN_HASH:
        raise BadInputError(f"--revision: expected at least {MIN_HASH} hexadecimal digits, got {quoted(revision)}.")
    known = _read(meant.library)
    chosen = meant.entries(known)
    if not chosen:
        raise BadInputError("NAME: expected names and options that some instance fits, got none that does.")
    wanted = list(dict.fromkeys(entry.instance for entry in chosen))
    is_whole = len(wanted) == len(known.catalogue)
    with library_files(), RunProgress() as progress:
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
            f"{report.num_bounds} bounds without search derived again, "
            f"{report.num_certificates} certificates accepted:\n"
            f"{len(report.violations) or 'no'} violation{'' if len(report.violations) == 1 else 's'}.\n"
            f"{library_summary_text(chosen)}"
        )
    return 1 if report.violations else 0


@on_store("folder")
def library_gaps_command(
    folder: STORE,
    markdown: opt.MARKDOWN = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Runs to write, as CSV.")] = None,
    library: LIBRARY = None,
    is_wide: opt.WIDE = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Hold a study on the library (`study run library`) against the ledger."""
    check_outputs([], [markdown, csv])
    from studies.analysis.frames import to_frame
    from studies.library.gaps import library_gaps as held_against

    known = _read(library)
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
        with wide_tables(is_wide):
            print_text(gaps.to_text())


DEFAULT_METHODS = "bounds,cp-sat,lns,srtf,wcs-duration"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateOptions:
    """What is run on each entry."""

    methods: str = option(
        DEFAULT_METHODS,
        'Methods and bounds in order, "bounds" for all bounds without search, "" for none.',
        metavar="A,B",
        names=Names(
            "bounds",
            *("solvers.methods:METHODS", "solvers.methods:JOBS_METHODS"),
            *("solvers.bound_methods:BOUND_METHODS", "solvers.bound_methods:JOBS_BOUND_METHODS"),
            separator=",",
            is_open=True,
        ),
    )
    time_limit: opt.TIME_LIMIT = 30.0
    threads: opt.THREADS = None
    seed: opt.SEED = 0
    evaluations: int | None = option(None, "Budget of searches, in schedules built.", metavar="E", low=1)
    confirm: bool = option(False, "Ask a second model about proven optima that nothing confirms.")
    certify: bool = option(False, "Write proofs of bounds that the checker of certificates accepts.")
    confirm_time_limit: opt.CONFIRM_TIME_LIMIT = None


def library_update_command(
    meant: EntryOptions, runs: UpdateOptions, is_open: OPEN = False, as_json: opt.AS_JSON = False
) -> None:
    """Run methods, keep only what is better (Ctrl-C: all but what is in flight)."""
    from solvers.confirmation.claim import CONFIRM_SECONDS
    from solvers.run.versions import available_cores
    from studies.library.update import UpdatePlan, update_library

    if runs.confirm_time_limit is not None and not runs.confirm:
        raise BadInputError("--confirm-time-limit: expected none without --confirm.")
    known = _read(meant.library)
    chosen = meant.entries(known, is_open=is_open)
    chosen.sort(key=lambda entry: known.catalogue[entry.instance].size)
    try:
        plan = UpdatePlan(
            methods=[name for name in runs.methods.split(",") if name],
            time_limit=runs.time_limit,
            threads=runs.threads or available_cores(),
            seed=runs.seed,
            evaluations=runs.evaluations,
            confirm=runs.confirm,
            certify=runs.certify,
            confirm_time_limit=runs.confirm_time_limit or runs.time_limit or CONFIRM_SECONDS,
        )
    except ValueError as error:
        raise BadInputError(f"--{error}") from error
    changes: list[Change] = []

    def on_change(change: "Change") -> None:
        changes.append(change)
        note(_line(change))

    with library_files():
        update_library(known, chosen, plan, on_change)
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
