"""Making the ledger of the reference library better: runs methods, keeps what is larger, smaller or newly confirmed."""

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
from solvers.bound_methods import BOUND_METHODS, JOBS_BOUND_METHODS
from solvers.confirm import confirm_bound
from solvers.confirmation.claim import CONFIRM_SECONDS, confirmation_run
from solvers.lower_bound import lower_bound
from solvers.methods import JOBS_METHODS, KINDS_WITH_RUN, METHODS
from solvers.run.bound import Bound, best_bound
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import Interrupt
from solvers.run.outcome import Termination
from solvers.run.versions import hardware, versions
from solvers.solve import solve

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
        Names of methods and of bounds without search, in order, or `BOUNDS`; a name that one of the two problems does
        not know is left out there.
    time_limit
        Seconds for each method but constructions.
    threads, seed
        Of exact and improving methods; of everything random.
    evaluations
        Budget of searches, None for their time limit or default.
    confirm
        Whether a second model is asked about a proven optimum that nothing confirms yet.
    confirm_time_limit
        Seconds for that.
    """

    methods: Sequence[str]
    time_limit: float | None = None
    threads: int = 1
    seed: int = 0
    evaluations: int | None = None
    confirm: bool = False
    confirm_time_limit: float = CONFIRM_SECONDS

    def __post_init__(self) -> None:
        """Refuse names that neither problem knows."""
        known = (BOUNDS, *METHODS, *BOUND_METHODS, *JOBS_METHODS, *JOBS_BOUND_METHODS)
        for name in self.methods:
            if name not in known:
                raise ValueError(
                    f"methods: expected methods, bounds without search or {BOUNDS!r} for all of these, got {name!r}."
                )


CONFIRMING_JOBS_METHOD = "milp-time-indexed"
"""For jobs: proves with HiGHS, and asks CP-SAT to confirm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an attempt changed.

    Parameters
    ----------
    before, after
        The entry on disk.
    method
        What was run; "confirmation" for a second model.
    seconds
        Time that it took, with everything around it.
    is_better
        Whether this attempt made the entry better; another update may have done so at the same time.
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
    """Run methods on entries of a library and keep what is better, at once and on disk.

    Methods begin with the stored schedule and the stored bound where they can; where the optimum is known, methods are
    not run. Ctrl-C ends the update after what the method in flight has found by then is stored.

    Parameters
    ----------
    library
        On disk; another process may update it at the same time.
    entries
        Of it.
    plan
        What is run.
    on_attempt
        Told after every method, whether it changed anything or not.

    Returns
    -------
    Library
        As it is on disk at the end.

    Raises
    ------
    ContradictionError
        If a proven bound is above the objective of a verified schedule; a reproducer file is left, the ledger not
        changed.
    OSError
        If the library cannot be written.
    LibraryFileError
        If a file of it is damaged.
    """
    library.remove_unfinished()
    for entry in entries:
        instance = library.instance(entry.instance)
        update = _Update(library, instance, entry.instance, entry.objective_name, plan)
        for name in [*plan.methods, *(["confirmation"] if plan.confirm else [])]:
            before = update.begin()
            watch = Stopwatch()
            is_asked = update.confirm() if name == "confirmation" else update.run(name)
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
    """Attempts on one entry, and the library as they leave it on disk."""

    def __init__(
        self,
        library: Library,
        instance: DagInstance | JobsInstance,
        name: str,
        objective_name: str,
        plan: UpdatePlan,
    ) -> None:
        self.library, self.instance, self.plan = library, instance, plan
        self.name, self.objective_name = name, objective_name
        self.is_interrupted = self.is_better = False

    def begin(self) -> LedgerEntry:
        """Begin an attempt with what is on disk by now."""
        self.library, self.is_better = self.library.reread(), False
        return self.entry

    @property
    def entry(self) -> LedgerEntry:
        """What is known by now."""
        return self.library.entry(self.name, self.objective_name)

    def run(self, method: str) -> bool:
        """Run a method or a bound; say whether there was anything to run."""
        if self.entry.status == "optimal":
            return False
        if isinstance(self.instance, DagInstance):
            return self._run_dag(self.instance, method)
        return self._run_jobs(self.instance, method)

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

    def _run_dag(self, instance: DagInstance, method: str) -> bool:
        """Run a method or a bound on a DAG instance."""
        if method == BOUNDS or method in BOUND_METHODS:
            names = None if method == BOUNDS else [method]
            self._keep_bound(best_bound(lower_bound(instance, objective=self.objective_name, methods=names)))
            return True
        if method not in METHODS:
            return False
        kind, plan = METHODS[method].kind, self.plan
        takes_run = kind in KINDS_WITH_RUN
        counts = kind == "search" and plan.evaluations is not None
        time_limit = None if counts or kind == "construction" else plan.time_limit
        start = self._stored() if takes_run else None
        result = solve(
            instance,
            method,
            objective=self.objective_name,
            time_limit=time_limit,
            stop=MaxEvaluations(plan.evaluations) if counts and plan.evaluations is not None else None,
            threads=plan.threads if takes_run else None,
            seed=plan.seed,
            bounds=self._known_bounds(),
            start=start if isinstance(start, DagSchedule) else None,
        )
        self._keep_result(result, f"{plan.evaluations} evaluations" if counts else time_limit_text(time_limit))
        return True

    def _run_jobs(self, instance: JobsInstance, method: str) -> bool:
        """Run a method or a bound on a jobs instance."""
        if method == BOUNDS or method in JOBS_BOUND_METHODS:
            names = None if method == BOUNDS else [method]
            self._keep_bound(best_bound(lower_bound(instance, objective=self.objective_name, methods=names)))
            return True
        if method not in JOBS_METHODS:
            return False
        takes_run, plan = JOBS_METHODS[method].kind in KINDS_WITH_RUN, self.plan
        start = self._stored() if takes_run else None
        result = solve(
            instance,
            method,
            objective=self.objective_name,
            time_limit=plan.time_limit if takes_run else None,
            threads=plan.threads if takes_run else None,
            seed=plan.seed,
            bounds=self._known_bounds(),
            start=None if isinstance(start, DagSchedule) else start,
        )
        self._keep_result(result, time_limit_text(plan.time_limit) if takes_run else None)
        return True

    def _stored(self) -> DagSchedule | JobsSchedule | None:
        """Return the best schedule known; under the lock, as another update may just put a better one in its place."""
        with locked(self.library.folder):
            self.library = self.library.reread()
            return self.library.schedule(self.name, self.objective_name)

    def _known_bounds(self) -> list[Bound]:
        """Return the stored bound as methods take it."""
        return [] if self.entry.bound is None else [stored_bound(self.entry, self.objective_name)]

    def _keep_result(self, result: Result, budget: str | None) -> None:
        """Keep schedule and bound of a method, where they are its own."""
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

    def _keep_bound(self, bound: Bound | None) -> None:
        """Keep a bound without search."""
        if bound is not None:
            self._keep(known_bound(bound, None, 1), None)

    def _keep(
        self, bound: KnownBound | None, schedule: tuple[KnownSchedule, DagSchedule | JobsSchedule] | None
    ) -> None:
        """Put what is better into the ledger; a contradiction stops everything."""
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
"""Versions that the ledger states."""


def stored_bound(entry: LedgerEntry, objective_name: str) -> Bound:
    """Return the stored bound of an entry as methods take it."""
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
    """Return a bound as the ledger takes it."""
    return KnownBound(
        value=bound.value,
        proof=bound.proof,
        solver=bound.solver,
        provenance=provenance_now(bound.method, budget, bound.seconds, threads, bound.seed),
        confirmed_by=bound.confirmed_by,
        confirmed_date=None if bound.confirmed_by is None else today(),
    )


def provenance_now(method: str, budget: str | None, seconds: float, threads: int, seed: int | None) -> Provenance:
    """Return where something comes from: this run, here and today."""
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
