"""Making the ledger of the reference library better: runs methods, keeps what is larger, smaller or newly confirmed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heuristics.stop.max_evaluations import MaxEvaluations
from heuristics.stopwatch import Stopwatch
from instances.dag_instance import DagInstance
from instances.dag_schedule import DagSchedule
from instances.library.known_schedule import KnownSchedule
from instances.library.ledger import LedgerContradictionError, locked
from instances.objective import Objective
from solvers.bound import best_bound
from solvers.confirm import confirm_bound, confirmation_run
from solvers.contradiction import raise_contradiction
from solvers.interrupt import Interrupt
from solvers.jobs.jobs_methods import JOBS_METHODS, jobs_method_named
from solvers.jobs.lower_bound_jobs import JOBS_BOUND_METHODS, lower_bound_jobs
from solvers.jobs.solve_jobs import solve_jobs
from solvers.lower_bound import BOUND_METHODS, lower_bound
from solvers.methods import KINDS_WITH_RUN, METHODS, method_named
from solvers.solve import solve
from solvers.status import Termination
from studies.library.ledger_terms import known_bound, provenance_now, seconds_text, stored_bound, today
from studies.library.update_plan import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule
    from instances.library.known_bound import KnownBound
    from instances.library.ledger_entry import LedgerEntry
    from instances.library.library import Library
    from solvers.bound import Bound
    from solvers.jobs.jobs_result import JobsResult
    from solvers.result import Result
    from studies.library.update_plan import UpdatePlan

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
    library.remove_leftovers()
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
            result = solve_jobs(
                self.instance,
                CONFIRMING_JOBS_METHOD,
                objective=self.objective_name,
                bounds=[],
                start=self._stored(),  # type: ignore[arg-type]
                **limits,  # type: ignore[arg-type]
            )
            self._keep_result(result, seconds_text(self.plan.confirm_time_limit))
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
        kind, plan = method_named(method).kind, self.plan
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
        self._keep_result(result, f"{plan.evaluations} evaluations" if counts else seconds_text(time_limit))
        return True

    def _run_jobs(self, instance: JobsInstance, method: str) -> bool:
        """Run a method or a bound on a jobs instance."""
        if method == BOUNDS or method in JOBS_BOUND_METHODS:
            names = None if method == BOUNDS else [method]
            self._keep_bound(best_bound(lower_bound_jobs(instance, objective=self.objective_name, methods=names)))
            return True
        if method not in JOBS_METHODS:
            return False
        takes_run, plan = jobs_method_named(method).kind in KINDS_WITH_RUN, self.plan
        start = self._stored() if takes_run else None
        result = solve_jobs(
            instance,
            method,
            objective=self.objective_name,
            time_limit=plan.time_limit if takes_run else None,
            threads=plan.threads if takes_run else None,
            seed=plan.seed,
            bounds=self._known_bounds(),
            start=None if isinstance(start, DagSchedule) else start,
        )
        self._keep_result(result, seconds_text(plan.time_limit) if takes_run else None)
        return True

    def _stored(self) -> DagSchedule | JobsSchedule | None:
        """Return the best schedule known; under the lock, as another update may just put a better one in its place."""
        with locked(self.library.folder):
            self.library = self.library.reread()
            return self.library.schedule(self.name, self.objective_name)

    def _known_bounds(self) -> list[Bound]:
        """Return the stored bound as methods take it."""
        return [] if self.entry.bound is None else [stored_bound(self.entry, self.objective_name)]

    def _keep_result(self, result: Result | JobsResult, budget: str | None) -> None:
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
