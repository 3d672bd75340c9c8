"""The work of one process on a study."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from heuristics.stopwatch import Stopwatch
from solvers.contradiction import ContradictionError
from studies.experiment.denominators import check_contradictions
from studies.experiment.executors.executor import SlotLostError
from studies.experiment.planned_run import PHASES
from studies.experiment.run_answer import RunAnswer
from studies.experiment.run_limit import run_limit
from studies.experiment.run_orders import RunOrders
from studies.experiment.study_state import StudyState
from studies.experiment.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Callable

    from studies.experiment.executors.executor import ExecutedRun, Executor, Slot
    from studies.experiment.presence import Presence
    from studies.experiment.study_plan import StudyPlan
    from studies.experiment.study_store import StudyStore

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
        Told how things stand.
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
