"""Runs a study: plans, hands the runs to an executor, stores every answer at once."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
import threading
import time
import uuid
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from heuristics.search.clock import Stopwatch
from solvers.run.bound import Bound
from solvers.run.contradiction import ContradictionError
from solvers.run.versions import available_cores
from studies.experiment.denominators import check_contradictions
from studies.experiment.execute_run import RunOrder
from studies.experiment.executor import LocalExecutor, SlotLostError
from studies.experiment.instances import expand_instances
from studies.experiment.plan import PHASES, estimated_seconds, study_plan
from studies.experiment.run_answer import RunAnswer, run_limit
from studies.experiment.specification import SearchBudget
from studies.experiment.store import StudyStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from studies.experiment.executor import ExecutedRun, Executor, Slot
    from studies.experiment.plan import StudyPlan
    from studies.experiment.specification import StudySpec


def run_study(
    spec: StudySpec,
    folder: Path,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    on_state: Callable[[StudyState], None] = lambda state: None,
) -> StudyState:
    r"""Run whatever a study still lacks.

    Parameters
    ----------
    folder
        Of the store; made where it does not exist. What is finished there is not repeated.
    workers
        Worker processes, by default as many as cores; a run with several threads counts as so many.
    executor
        Makes the runs elsewhere, such as a `DaskExecutor`; closed at the end. None makes them in worker processes here.
    retry_failed
        Whether runs that failed are made again.
    on_state
        Receives the state of the study several times a second.

    Returns
    -------
    StudyState
        At the end. Runs that another process is still making are counted as running.

    Raises
    ------
    OSError
        If the folder cannot be written.
    ValueError
        If the specification cannot be carried out, or both workers and an executor are given.
    ExecutorError
        If runs cannot be made at all; what was finished is stored.
    ContradictionError
        If a proof contradicts a schedule; a reproducer file is left, and what was finished is stored.
    KeyboardInterrupt
        At Ctrl-C; what was finished is stored, what was going on is not.

    Examples
    --------
    >>> from pathlib import Path
    >>> import optgap
    >>> rows = ['[study]', 'name = "ours"', '[[instances]]', 'family = "chains"', 'tasks = 6', 'cluster = "mixed-3"']
    >>> _ = Path("ours.toml").write_text("\n".join([*rows, '[[methods]]', 'method = "heft"']))
    >>> optgap.run_study(optgap.read_study("ours.toml"), Path("ours"), workers=1).failed
    0
    """
    if executor is None:
        executor = LocalExecutor(available_cores() if workers is None else workers)
    elif workers is not None:
        raise ValueError(f"workers: expected none beside an executor, got {workers}.")
    try:
        study_plan(spec, [])  # methods and budgets are checked before anything is written
        with StudyStore(folder, create=True) as store:
            plan = study_plan(spec, expand_instances(spec, stored=store.stored_instance))
            store.write_plan(plan)
            if retry_failed:
                store.forget_failures()
            check_contradictions(store)
            with Presence(store) as presence:
                return StudySession(plan, store, presence, executor, on_state).run()
    finally:
        executor.close()


WATCH_SECONDS = 0.2
"""How often the state is told, at most."""

TELL_SHARE = 0.02
"""Share of the time that may go into counting what is to be told: in a large study it is told less often."""

MOST_LOSSES = 3
"""A run that was lost with its slot so often is recorded as failed: it may be what its machines die of."""


class StudySession:
    """Claims one run after the other for every slot of an executor, and stores every answer at once.

    Parameters
    ----------
    plan, store
        The study, whose plan is in the store.
    presence
        This process as owner of runs.
    executor
        Makes the runs; stopped where this session ends early.
    on_state
        Receives the state of the study.
    """

    def __init__(
        self,
        plan: StudyPlan,
        store: StudyStore,
        presence: Presence,
        executor: Executor,
        on_state: Callable[[StudyState], None],
    ) -> None:
        self._spec = plan.spec
        self._store = store
        self._presence = presence
        self._executor = executor
        self._on_state = on_state
        self._orders = RunOrders(store, str(plan.spec.objective))
        self._time_left = TimeLeft(plan, store.done_keys(), executor.num_threads)
        self._watch = Stopwatch()
        self._next_tell = 0.0
        self._losses: Counter[str] = Counter()
        self._slot_ended = threading.Event()
        self._is_stopped = False
        self._doing = ""
        self._problem: BaseException | None = None

    def run(self) -> StudyState:
        """Work through the phases, again where another process died over its runs; return the state at the end."""
        while True:
            for phase, threads in self._phases():
                self._run_phase(phase, threads)
                self._wait_for_others(phase, threads)
            self._presence.free_abandoned()
            if not self._store.counts()["pending"]:
                break
        check_contradictions(self._store)
        state = self._state()
        self._on_state(state)
        return state

    def _phases(self) -> list[tuple[str, int]]:
        """Return phases with their numbers of threads: what needs all cores is not mixed with what needs one."""
        rows = self._store.select("SELECT DISTINCT phase, threads FROM runs WHERE is_planned = 1")
        return sorted(((row["phase"], row["threads"]) for row in rows), key=lambda pair: (PHASES.index(pair[0]), pair))

    def _run_phase(self, phase: str, threads: int) -> None:
        """Make all runs of a phase that nobody has taken; slots may come and go meanwhile."""
        working: dict[Slot, threading.Thread] = {}
        try:
            while self._problem is None:
                self._slot_ended.clear()
                working = {slot: thread for slot, thread in working.items() if thread.is_alive()}
                is_left = self._is_any(phase, threads, "pending")
                if not working and not is_left:
                    return
                for slot in self._executor.slots(threads) if is_left else ():
                    if slot not in working:
                        working[slot] = threading.Thread(target=self._work, args=(slot, phase, threads), daemon=True)
                        working[slot].start()
                self._slot_ended.wait(WATCH_SECONDS)
                self._tell()
        except BaseException as error:  # Ctrl-C
            self._problem = error
        if self._problem is not None:
            self._is_stopped = True
            self._store.stop_waiting()
            self._executor.stop()
            for thread in working.values():
                thread.join()
            raise self._problem

    def _wait_for_others(self, phase: str, threads: int) -> None:
        """Wait until other processes have made their runs of a reference: exact methods begin with all bounds.

        Nor shall they slow down what is measured in seconds. The runs of methods need not wait for each other.
        """
        while phase != PHASES[-1] and self._is_any(phase, threads, "running"):
            threading.Event().wait(WATCH_SECONDS)
            self._presence.free_abandoned()
            self._tell()
            self._run_phase(phase, threads)

    def _is_any(self, phase: str, threads: int, state: str) -> bool:
        """Say whether any run of a phase is in a state."""
        which = "SELECT 1 FROM runs WHERE is_planned = 1 AND state = ? AND phase = ? AND threads = ? LIMIT 1"
        return bool(self._store.select(which, state, phase, threads))

    def _work(self, slot: Slot, phase: str, threads: int) -> None:
        """Make one run after the other in a slot, until none is left or the slot is."""
        try:
            while not self._is_stopped:
                row = self._store.claim(self._presence.owner, phase, threads)
                if row is None:
                    return
                self._doing = self._orders.title(row)
                try:
                    done = slot.run(self._orders.order(row), run_limit(self._spec, row["budget_seconds"]))
                except SlotLostError as error:
                    self._give_back(row["key"], error)
                    return
                self._keep(row["key"], done)
        except BaseException as error:  # told by the main thread
            self._problem = self._problem or error
        finally:
            self._slot_ended.set()

    def _keep(self, key: str, done: ExecutedRun) -> None:
        """Store an answer; one that was stopped from outside counts as not made."""
        if done.answer.is_interrupted:
            if self._is_stopped:
                self._store.release(self._presence.owner, key)
            else:  # by a signal of somebody, maybe of its own method
                self._give_back(key, SlotLostError("the run was interrupted", blames_run=True))
            return
        self._store.finish(key, self._presence.owner, done.answer, done.environment)
        self._time_left.finish(key)
        if done.answer.is_contradiction:
            raise ContradictionError(done.answer.error or "A proof contradicts a schedule.")

    def _give_back(self, key: str, error: SlotLostError) -> None:
        """Let a run be made again whose slot was lost, unless that happens to it again and again."""
        self._losses[key] += error.blames_run
        if self._losses[key] < MOST_LOSSES:
            self._store.release(self._presence.owner, key)
            return
        answer = RunAnswer(error=f"WorkerLost: {error}; the run was lost {MOST_LOSSES} times.")
        self._store.finish(key, self._presence.owner, answer, None)
        self._time_left.finish(key)

    def _tell(self) -> None:
        """Say that this process is alive, and how things stand, if that is due."""
        self._presence.beat()
        begin = self._watch.seconds
        if begin < self._next_tell:
            return
        state = self._state()
        self._next_tell = begin + max(WATCH_SECONDS / 2, (self._watch.seconds - begin) / TELL_SHARE)
        self._on_state(state)

    def _state(self) -> StudyState:
        """Return where the study stands; the time left is estimated by what this process took so far."""
        counts, seconds = self._store.counts(), self._watch.seconds
        return StudyState(
            planned=sum(counts.values()),
            finished=counts["finished"],
            failed=counts["failed"],
            running=counts["running"],
            pending=counts["pending"],
            seconds=seconds,
            seconds_left=self._time_left.seconds(seconds),
            doing=self._doing,
        )


BEST_BOUND = """
SELECT bound, bound_method, bound_proof FROM runs WHERE sha256 = ? AND bound IS NOT NULL
ORDER BY bound DESC, position LIMIT 1
"""


class RunOrders:
    """Makes orders; names and files of instances are looked up once. The store holds the plan of the study."""

    def __init__(self, store: StudyStore, objective: str) -> None:
        self._store = store
        self._objective = objective
        self._known: dict[str, tuple[str, str]] = {}

    def order(self, row: dict[str, Any]) -> RunOrder:
        """Return what a worker needs to know."""
        return RunOrder(
            instance_path=self._instance(row["sha256"])[1],
            sha256=row["sha256"],
            kind=row["kind"],
            method=row["method"],
            parameters=json.loads(row["parameters"]),
            objective=self._objective,
            budget=SearchBudget(evaluations=row["budget_evaluations"], seconds=row["budget_seconds"]),
            seed=row["seed"],
            threads=row["threads"],
            bound=self._best_bound(row["sha256"]),
            weights_sha256=None if ":" in row["method"] else json.loads(row["all_parameters"]).get("weights"),
        )

    def title(self, row: dict[str, Any]) -> str:
        """Return a run in a few words."""
        return f"{row['label']} on {self._instance(row['sha256'])[0]}"

    def _instance(self, sha256: str) -> tuple[str, str]:
        """Return name and file of an instance; another process may have planned it after this one began."""
        if sha256 not in self._known:
            (row,) = self._store.select("SELECT name FROM instances WHERE sha256 = ?", sha256)
            self._known[sha256] = (str(row["name"]), str(self._store.instance_path(sha256).resolve()))
        return self._known[sha256]

    def _best_bound(self, sha256: str) -> Bound | None:
        """Return the best bound that is stored for an instance; another process may have proved it just now."""
        rows = self._store.select(BEST_BOUND, sha256)
        if not rows:
            return None
        (row,) = rows
        return Bound(
            value=row["bound"], method=row["bound_method"], proof=row["bound_proof"], objective_name=self._objective
        )


BEAT_SECONDS = 5.0
"""How often a process says that it is alive."""

SILENT_SECONDS = 120.0
"""After so long without a beat a process counts as gone; what it still answers is then dropped."""


class Presence:
    """The current process as owner of runs, while it is entered."""

    def __init__(self, store: StudyStore) -> None:
        self._store = store
        self._host = hashlib.sha256(platform.node().encode()).hexdigest()[:16]  # tells computers apart, names none
        self._last = 0.0
        self.owner = uuid.uuid4().hex

    def __enter__(self) -> Self:
        """Appear, and free what processes that are gone had taken."""
        self.beat()
        self.free_abandoned()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give back what was taken and not answered; if that fails after an error, others will do it."""
        with nullcontext() if kind is None else suppress(sqlite3.Error):
            self._store.drop_owner(self.owner)

    def beat(self) -> None:
        """Say that this process is alive, if that is due."""
        now = time.time()
        if now - self._last >= BEAT_SECONDS:
            self._last = now
            self._store.write_owner(self.owner, self._host, os.getpid(), now)

    def free_abandoned(self) -> None:
        """Give back the runs of processes that are gone."""
        for row in self._store.select("SELECT * FROM owners"):
            is_here = row["host"] == self._host
            is_gone = time.time() - row["beat"] > SILENT_SECONDS or (is_here and not _is_alive(row["pid"]))
            if is_gone and row["id"] != self.owner:
                self._store.drop_owner(row["id"])


def _is_alive(pid: int) -> bool:
    """Say whether a process of that number may run here."""
    if os.name != "posix":
        return True  # there is no signal that only asks
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyState:
    """Numbers of runs, and times in seconds.

    Parameters
    ----------
    planned, finished, failed, running, pending
        Runs in all, and how many are in each state; finished and failed ones count from all sessions.
    seconds
        Since this process began.
    seconds_left
        Estimate; None before there is one.
    doing
        The run that began last, in a few words.
    """

    planned: int
    finished: int
    failed: int
    running: int
    pending: int
    seconds: float
    seconds_left: float | None
    doing: str


class TimeLeft:
    """The estimates of all runs that are left, corrected by how long this process took for those that it made.

    Parameters
    ----------
    done
        Keys of runs that will not be made again.
    num_threads
        Runs of one thread that are made at a time.
    """

    def __init__(self, plan: StudyPlan, done: set[str], num_threads: int) -> None:
        pairs = {item.instance.sha256: item.num_pairs for item in plan.instances}
        self._estimates = {
            run.key: estimated_seconds(run, pairs[run.sha256]) / max(1, num_threads // run.threads)
            for run in plan.runs
            if run.key not in done
        }
        self._left = sum(self._estimates.values())
        self._done = 0.0
        self._lock = threading.Lock()

    def finish(self, key: str) -> None:
        """Hear that a run was made."""
        with self._lock:
            estimate = self._estimates.pop(key, 0.0)
            self._done += estimate
            self._left -= estimate

    def seconds(self, taken: float) -> float | None:
        """Return the best estimate after so many seconds, None before there is one."""
        with self._lock:
            if self._done <= 0:
                return None
            left = max(0.0, self._left)
            # What is left counts as if it took its estimate: a few runs of milliseconds say little about it.
            return left * max((taken + left) / (self._done + left), 0.1)
