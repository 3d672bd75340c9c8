"""Runs a study: plans, hands the runs to worker processes, stores every answer at once."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

from heuristics.stopwatch import Stopwatch
from solvers.bound import Bound
from solvers.contradiction import ContradictionError
from solvers.versions import available_cores
from studies.experiment.budget import Budget
from studies.experiment.denominators import check_contradictions
from studies.experiment.estimate import estimated_seconds
from studies.experiment.execute_run import RunOrder
from studies.experiment.expand_instances import expand_instances
from studies.experiment.planned_run import PHASES
from studies.experiment.presence import Presence
from studies.experiment.study_plan import StudyPlan, study_plan
from studies.experiment.study_state import StudyState
from studies.experiment.study_store import StudyStore
from studies.experiment.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studies.experiment.run_answer import RunAnswer
    from studies.experiment.study_spec import StudySpec

WATCH_SECONDS = 0.2
"""How often the state is told."""

LIMIT_FACTOR, LIMIT_SECONDS = 10.0, 60.0
"""A run that overruns its budget in seconds by this factor and this time is killed."""


def run_study(
    spec: StudySpec,
    folder: Path,
    *,
    workers: int | None = None,
    retry_failed: bool = False,
    on_state: Callable[[StudyState], None] = lambda state: None,
) -> StudyState:
    """Run whatever a study still lacks.

    Parameters
    ----------
    spec
        The study.
    folder
        Of the store; made where it does not exist. What is finished there is not repeated.
    workers
        Worker processes, by default as many as cores; a run with several threads counts as so many.
    retry_failed
        Whether runs that failed are made again.
    on_state
        Told several times a second how things stand.

    Returns
    -------
    StudyState
        At the end. Runs that another process is still making are counted as running.

    Raises
    ------
    OSError
        If the folder cannot be written.
    ValueError
        If the specification cannot be carried out.
    ContradictionError
        If a proof contradicts a schedule; a reproducer file is left, and what was finished is stored.
    KeyboardInterrupt
        At Ctrl-C; what was finished is stored, what was going on is not.
    """
    workers = available_cores() if workers is None else workers
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}.")
    study_plan(spec, [])  # methods and budgets are checked before anything is written
    with StudyStore(folder, create=True) as store:
        plan = study_plan(spec, expand_instances(spec, stored=store.stored_instance))
        store.write_plan(plan)
        if retry_failed:
            store.forget_failures()
        check_contradictions(store)
        with Presence(store) as presence:
            return _Session(plan, store, presence, workers, on_state).run()


class _Session:
    """The work of this process on a study."""

    def __init__(
        self,
        plan: StudyPlan,
        store: StudyStore,
        presence: Presence,
        num_workers: int,
        on_state: Callable[[StudyState], None],
    ) -> None:
        self._spec = plan.spec
        self._store = store
        self._presence = presence
        self._num_workers = num_workers
        self._on_state = on_state
        self._workers = [Worker(plan.spec.memory_gib) for _ in range(num_workers)]
        pairs = {item.instance.sha256: item.instance.num_tasks * item.instance.num_gpus for item in plan.instances}
        self._estimates = {
            run.key: estimated_seconds(run, pairs[run.sha256]) / max(1, num_workers // run.threads) for run in plan.runs
        }
        done = store.done_keys()
        self._estimated_left = sum(value for key, value in self._estimates.items() if key not in done)
        self._estimated_done = 0.0
        self._lock = threading.Lock()
        self._watch = Stopwatch()
        self._is_stopped = False
        self._doing = ""
        self._problem: BaseException | None = None

    def run(self) -> StudyState:
        """Work through the phases, again where another process died over its runs."""
        try:
            while True:
                for phase, threads in self._phases():
                    self._run_phase(phase, threads)
                    self._wait_for_others(phase, threads)
                self._presence.free_abandoned()
                if not self._store.counts()["pending"]:
                    break
        except BaseException:
            self._is_stopped = True
            raise
        finally:
            for worker in self._workers:
                worker.close()
        check_contradictions(self._store)
        state = self._state()
        self._on_state(state)
        return state

    def _phases(self) -> list[tuple[str, int]]:
        """Return phases with their numbers of threads: what needs all cores is not mixed with what needs one."""
        rows = self._store.select("SELECT DISTINCT phase, threads FROM runs WHERE is_planned = 1")
        return sorted(((row["phase"], row["threads"]) for row in rows), key=lambda pair: (PHASES.index(pair[0]), pair))

    def _run_phase(self, phase: str, threads: int) -> None:
        """Make all runs of a phase that nobody has taken."""
        slots = [
            threading.Thread(target=self._work, args=(worker, phase, threads), daemon=True)
            for worker in self._workers[: max(1, self._num_workers // threads)]
        ]
        for slot in slots:
            slot.start()
        try:
            while any(slot.is_alive() for slot in slots):
                slots[0].join(WATCH_SECONDS) if slots[0].is_alive() else slots[-1].join(WATCH_SECONDS)
                self._presence.beat()
                self._on_state(self._state())
                if self._problem is not None:
                    break
        except BaseException as error:  # Ctrl-C
            self._problem = error
        if self._problem is not None:
            self._is_stopped = True
            for worker in self._workers:
                worker.stop()
            for slot in slots:
                slot.join()
            raise self._problem

    def _wait_for_others(self, phase: str, threads: int) -> None:
        """Wait until other processes have made their runs of a reference: exact methods begin with all bounds.

        Nor shall they slow down what is measured in seconds. The runs of methods need not wait for each other.
        """
        going_on = "SELECT 1 FROM runs WHERE is_planned = 1 AND state = 'running' AND phase = ? AND threads = ? LIMIT 1"
        while phase != PHASES[-1] and self._store.select(going_on, phase, threads):
            time.sleep(WATCH_SECONDS)
            self._presence.beat()
            self._presence.free_abandoned()
            self._on_state(self._state())
            self._run_phase(phase, threads)

    def _work(self, worker: Worker, phase: str, threads: int) -> None:
        """Make one run after the other in a worker, until none is left."""
        try:
            while not self._is_stopped:
                row = self._store.claim(self._presence.owner, phase, threads)
                if row is None:
                    return
                with self._lock:
                    self._doing = f"{row['label']} on {self._instance_name(row['sha256'])}"
                answer = worker.run(self._order(row), self._limit(row))
                self._keep(row, answer, worker.environment)
        except BaseException as error:  # told by the main thread
            self._problem = self._problem or error

    def _keep(self, row: dict[str, Any], answer: RunAnswer, environment: str | None) -> None:
        """Store an answer; one that was stopped from outside counts as not made."""
        if answer.is_interrupted:
            self._store.release(self._presence.owner, row["key"])
            return
        self._store.finish(row["key"], self._presence.owner, answer, environment)
        with self._lock:
            estimate = self._estimates.get(row["key"], 0.0)
            self._estimated_done += estimate
            self._estimated_left -= estimate
        if answer.is_contradiction:
            raise ContradictionError(answer.error or "A proof contradicts a schedule.")

    def _order(self, row: dict[str, Any]) -> RunOrder:
        """Return what a worker needs to know."""
        return RunOrder(
            instance_path=str(self._store.instance_path(row["sha256"]).resolve()),
            sha256=row["sha256"],
            kind=row["kind"],
            method=row["method"],
            parameters=json.loads(row["parameters"]),
            objective=str(self._spec.objective),
            budget=Budget(evaluations=row["budget_evaluations"], seconds=row["budget_seconds"]),
            seed=row["seed"],
            threads=row["threads"],
            bound=self._best_bound(row["sha256"]),
        )

    def _best_bound(self, sha256: str) -> Bound | None:
        """Return the best bound that is stored for an instance."""
        rows = self._store.select(
            "SELECT bound, bound_method, bound_proof FROM runs WHERE sha256 = ? AND bound IS NOT NULL"
            " ORDER BY bound DESC, position LIMIT 1",
            sha256,
        )
        if not rows:
            return None
        row = rows[0]
        return Bound(
            value=row["bound"],
            method=row["bound_method"],
            proof=row["bound_proof"],
            objective_name=str(self._spec.objective),
        )

    def _limit(self, row: dict[str, Any]) -> float | None:
        """Return the wall time after which a run is killed."""
        if self._spec.run_seconds is not None:
            return self._spec.run_seconds
        if row["budget_seconds"] is None:
            return None
        return LIMIT_FACTOR * float(row["budget_seconds"]) + LIMIT_SECONDS

    def _instance_name(self, sha256: str) -> str:
        """Return the name of an instance."""
        (row,) = self._store.select("SELECT name FROM instances WHERE sha256 = ?", sha256)
        return str(row["name"])

    def _state(self) -> StudyState:
        """Return where the study stands; the time left is estimated by what this process took so far."""
        counts, seconds = self._store.counts(), self._watch.seconds
        with self._lock:
            left, done, doing = self._estimated_left, self._estimated_done, self._doing
        return StudyState(
            planned=sum(counts.values()),
            finished=counts["finished"],
            failed=counts["failed"],
            running=counts["running"],
            pending=counts["pending"],
            seconds=seconds,
            seconds_left=max(0.0, left) * max(seconds / done, 0.1) if done > 0 else None,
            doing=doing,
        )
