"""Improves the ledger of the reference library: runs methods and keeps better bounds, schedules and confirmations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from heuristics.search.clock import Stopwatch
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from instances.library.ledger import KnownBound, KnownSchedule, LedgerContradictionError, Provenance, locked
from instances.spelling import did_you_mean
from solvers.confirm import confirm_bound
from solvers.confirmation.claim import CONFIRM_SECONDS, confirmation_run
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN
from solvers.problem import PROBLEMS, problem_of
from solvers.run.bound import Bound, best_bound
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import Interrupt
from solvers.run.outcome import Termination
from solvers.run.versions import hardware, versions
from solvers.solve import solve
from studies.library.certify import certify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from instances.library.ledger import LedgerEntry
    from instances.library.library import Library
    from solvers.result import Result


BOUNDS = "bounds"
"""Stands for all bounds without search that are worth their time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan:
    """What is run on every entry.

    Parameters
    ----------
    methods
        Names of methods and of bounds without search, in order, or `BOUNDS`; a problem skips the names that it does not
        know.
    time_limit
        Seconds for each method except constructions and policies, for each bound, and for `BOUNDS` together.
    threads
        Threads of exact and improving methods.
    evaluations
        Budget of searches; None for the time limit or their default.
    confirm, confirm_time_limit
        Whether a second model is asked about a proven optimum that nothing confirms yet, and for how many seconds.
    certify
        Whether a certificate is written where one proves more than the stored one, within the time limit.
    """

    methods: Sequence[str]
    time_limit: float | None = None
    threads: int = 1
    seed: int = 0
    evaluations: int | None = None
    confirm: bool = False
    confirm_time_limit: float = CONFIRM_SECONDS
    certify: bool = False

    def __post_init__(self) -> None:
        """Refuse names that neither problem knows."""
        known = [BOUNDS, *(name for each in PROBLEMS.values() for name in (*each.methods, *each.bounds))]
        for name in self.methods:
            if name not in known:
                expected = f"methods, bounds without search or {BOUNDS!r} for all of these"
                raise ValueError(f"methods: expected {expected}, got {name!r}{did_you_mean(name, known)}.")


CONFIRMING_JOBS_METHOD = "milp-time-indexed"
"""Method that confirms optima of jobs: it proves with HiGHS, and asks CP-SAT to confirm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an attempt changed.

    Parameters
    ----------
    before, after
        The entry on disk.
    method
        Method or bound; "confirmation" for a second model, "certificate" for a proof that a file checks.
    seconds
        Wall time of the attempt.
    is_better
        Whether this attempt improved the entry; another update may have done so at the same time.
    """

    before: LedgerEntry
    after: LedgerEntry
    method: str
    seconds: float
    is_better: bool


def update_library(
    library: Library,
    entries: Iterable[LedgerEntry],
    plan: UpdatePlan,
    on_attempt: Callable[[Change], None] = lambda change: None,
) -> Library:
    """Run methods on entries of a library, and write every improvement to disk at once.

    Methods begin with the stored schedule and the stored bound if they can. An entry with a known optimum runs no
    method. Ctrl-C ends the update after the results of the current method are stored.

    Parameters
    ----------
    library
        Another process may update it at the same time.
    on_attempt
        Receives every attempt, whether it changed anything or not.

    Returns
    -------
    Library
        The library on disk at the end.

    Raises
    ------
    ContradictionError
        If a proven bound is above the objective of a verified schedule; a reproducer file is left, and the ledger is
        unchanged.
    OSError
        If the library cannot be written.
    LibraryFileError
        If a file of the library is damaged.
    """
    library.remove_unfinished()
    for entry in entries:
        instance = library.instance(entry.instance)
        update = _Update(library, instance, entry.instance, entry.objective_name, plan)
        asked = {"confirmation": plan.confirm, "certificate": plan.certify}
        for name in [*plan.methods, *(name for name, is_asked in asked.items() if is_asked)]:
            before = update.begin()
            watch = Stopwatch()
            steps = {"confirmation": update.confirm, "certificate": update.certify}
            is_asked = steps[name]() if name in steps else update.run(name)
            library = update.library
            if is_asked:
                on_attempt(
                    Change(
                        before=before,
                        after=update.entry,
                        method=name,
                        seconds=watch.seconds,
                        is_better=update.is_better,
                    )
                )
            if update.is_interrupted:
                return library
    return library


class _Update:
    """Attempts on one entry, and the library on disk after them."""

    def __init__(
        self, library: Library, instance: DagInstance | JobsInstance, name: str, objective_name: str, plan: UpdatePlan
    ) -> None:
        self.library, self.instance, self.plan = library, instance, plan
        self.name, self.objective_name = name, objective_name
        self.is_interrupted = self.is_better = False

    def begin(self) -> LedgerEntry:
        """Begin an attempt with the current content of the disk."""
        self.library, self.is_better = self.library.reread(), False
        return self.entry

    @property
    def entry(self) -> LedgerEntry:
        """Current entry of the ledger."""
        return self.library.entry(self.name, self.objective_name)

    def run(self, method: str) -> bool:
        """Run a method or a bound; say whether there was anything to run."""
        problem, plan = problem_of(self.instance), self.plan
        if self.entry.status == "optimal":
            return False
        if method == BOUNDS or method in problem.bounds:
            names = None if method == BOUNDS else [method]
            table = lower_bound(self.instance, objective=self.objective_name, methods=names, time_limit=plan.time_limit)
            bound = best_bound(table.unless_interrupted())
            if bound is not None:
                self._keep(known_bound(bound, None, 1), None)
            return True
        if method not in problem.methods:
            return False
        kind = problem.methods[method].kind
        takes_run = kind in KINDS_WITH_RUN
        evaluations = plan.evaluations if kind == "search" else None
        time_limit = None if evaluations is not None or kind in ("construction", "policy") else plan.time_limit
        result = solve(
            self.instance,
            method,
            objective=self.objective_name,
            time_limit=time_limit,
            stop=None if evaluations is None else MaxEvaluations(evaluations),
            threads=plan.threads if takes_run else None,
            seed=plan.seed,
            bounds=[] if self.entry.bound is None else [stored_bound(self.entry, self.objective_name)],
            start=self._stored() if takes_run else None,
        )
        self._keep_result(result, time_limit_text(time_limit) if evaluations is None else f"{evaluations} evaluations")
        return True

    def confirm(self) -> bool:
        """Ask a second model about a proven optimum; say whether there was anything to ask."""
        entry = self.entry
        if entry.status != "optimal" or entry.is_confirmed_optimum or entry.bound is None:
            return False
        if not isinstance(self.instance, DagInstance):
            limits = {"time_limit": self.plan.confirm_time_limit, "threads": self.plan.threads, "seed": self.plan.seed}
            result = solve(
                self.instance,
                CONFIRMING_JOBS_METHOD,
                objective=self.objective_name,
                bounds=[],
                start=self._stored(),
                **limits,  # type: ignore[arg-type]
            )
            self._keep_result(result, time_limit_text(self.plan.confirm_time_limit))
            return True
        schedule = self._stored()
        with Interrupt() as interrupt:
            run = confirmation_run(
                time_limit=self.plan.confirm_time_limit,
                threads=self.plan.threads,
                seed=self.plan.seed,
                should_stop=lambda: interrupt.heard,
            )
            bound, confirmation = confirm_bound(
                self.instance,
                Objective(self.objective_name),
                stored_bound(entry, self.objective_name),
                schedule=schedule if isinstance(schedule, DagSchedule) else None,
                run=run,
            )
            self.is_interrupted = interrupt.heard
        if bound.confirmed_by is not None:
            confirmed = replace(
                entry.bound,
                confirmed_by=bound.confirmed_by,
                confirmed_seconds=round(confirmation.seconds, 2),
                confirmed_date=today(),
            )
            self._keep(confirmed, None)
        return True

    def certify(self) -> bool:
        """Write a certificate of the bound if none of it is stored; say whether one was stored."""
        self.is_better = certify(self.library, self.instance, self.entry, self.plan.time_limit)
        return self.is_better

    def _stored(self) -> DagSchedule | JobsSchedule | None:
        """Return the best known schedule, read under the lock because another update may be replacing it."""
        with locked(self.library.folder):
            self.library = self.library.reread()
            return self.library.schedule(self.name, self.objective_name)

    def _keep_result(self, result: Result, budget: str | None) -> None:
        """Keep the schedule and the bound that a method found itself."""
        self.is_interrupted = result.termination is Termination.INTERRUPTED
        bound, found = None, None
        if result.bound is not None and result.bound.method == result.method:
            bound = known_bound(result.bound, budget, result.threads)
        if result.schedule is not None and result.objective is not None:
            known = KnownSchedule(
                objective=result.objective,
                provenance=provenance_now(result.method, budget, result.runtime_seconds, result.threads, result.seed),
            )
            found = (known, result.schedule)
        self._keep(bound, found)

    def _keep(
        self, bound: KnownBound | None, schedule: tuple[KnownSchedule, DagSchedule | JobsSchedule] | None
    ) -> None:
        """Write improvements to the ledger; a contradiction ends the update."""
        try:
            self.library, self.is_better = self.library.improve(
                self.name, self.objective_name, bound=bound, schedule=schedule
            )
        except LedgerContradictionError as error:
            now = self.library.reread()
            raise_contradiction(
                self.instance,
                str(error),
                schedule=now.schedule(self.name, self.objective_name) if schedule is None else schedule[1],
                evidence={
                    "ledger": now.entry(self.name, self.objective_name).to_dict(),
                    "bound": None if bound is None else bound.to_dict(),
                    "objective": None if schedule is None else schedule[0].to_dict(),
                    "objective_name": self.objective_name,
                },
            )


NAMED_VERSIONS = ("optgap", "python", "numpy", "ortools", "highspy")
"""Software whose versions the ledger states."""


def stored_bound(entry: LedgerEntry, objective_name: str) -> Bound:
    """Return the stored bound of an entry in the form that methods take."""
    known = entry.bound
    if known is None:
        raise ValueError(f"{entry.instance}: expected a bound, got none.")
    return Bound(
        value=known.value,
        method=known.provenance.method,
        proof=known.proof,
        seconds=known.provenance.seconds,
        solver=known.solver,
        confirmed_by=known.confirmed_by,
        objective_name=objective_name,
        threads=known.provenance.threads,
        seed=known.provenance.seed,
        hardware=known.provenance.hardware,
    )


def known_bound(bound: Bound, budget: str | None, threads: int) -> KnownBound:
    """Return a bound in the form of the ledger."""
    return KnownBound(
        value=bound.value,
        proof=bound.proof,
        solver=bound.solver,
        provenance=provenance_now(bound.method, budget, bound.seconds, threads, bound.seed),
        confirmed_by=bound.confirmed_by,
        confirmed_date=None if bound.confirmed_by is None else today(),
    )


def provenance_now(method: str, budget: str | None, seconds: float, threads: int, seed: int | None) -> Provenance:
    """Return the provenance of a result of this run."""
    found = versions()
    return Provenance(
        method=method,
        budget=budget,
        seconds=round(seconds, 2),
        threads=threads,
        seed=seed,
        date=today(),
        hardware=hardware(),
        versions={name: found[name] for name in NAMED_VERSIONS},
    )


def time_limit_text(time_limit: float | None) -> str | None:
    """Return a time limit as a budget."""
    return None if time_limit is None else f"{time_limit:g} s"


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()
