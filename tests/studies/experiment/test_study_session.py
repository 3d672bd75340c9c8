from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studies.experiment.executors.executor import ExecutedRun, ExecutorError, SlotLostError
from studies.experiment.run_answer import RunAnswer
from studies.experiment.run_limit import RunLimit
from studies.experiment.run_study import run_study
from studies.experiment.study_store import StudyStore
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from studies.experiment.execute_run import RunOrder


class _Machine:
    """A slot that asks a function what becomes of a run."""

    def __init__(self, fate: Callable[[RunOrder], RunAnswer]) -> None:
        self._fate = fate

    def run(self, order: RunOrder, limit: RunLimit) -> ExecutedRun:
        """Make a run."""
        assert Path(order.instance_path).is_file()
        assert limit == RunLimit(seconds=260.0 if order.kind == "exact" else None, memory_gib=None)
        return ExecutedRun(answer=self._fate(order), environment='{"machine": 1}')


class _Machines:
    """An executor whose only slot is a new one each time that one was lost, and is away for a while before."""

    def __init__(self, fate: Callable[[RunOrder], RunAnswer]) -> None:
        self.num_threads = 1
        self.calls: Counter[str] = Counter()
        self.is_closed = False
        self._fate = fate
        self._asked = 0
        self._slot = _Machine(self._tried)

    def _tried(self, order: RunOrder) -> RunAnswer:
        """Count what is tried; a machine that is lost is replaced."""
        self.calls[f"{order.sha256}, {order.method}"] += 1
        try:
            return self._fate(order)
        except SlotLostError:
            self._slot = _Machine(self._tried)
            raise

    def slots(self, threads: int) -> Sequence[_Machine]:
        """Return the slot, every other time."""
        self._asked += 1
        return [self._slot] if self._asked % 2 else []

    def stop(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True


@pytest.mark.parametrize(("blames_run", "losses"), [(True, 2), (True, 3), (False, 5)])
def test_a_run_whose_machine_is_lost_is_made_again(tmp_path: Path, blames_run: bool, losses: int) -> None:
    """Tests that lost runs are made again, and recorded as failed once three machines may have died of one."""
    left = Counter({"heft": losses})

    def fate(order: RunOrder) -> RunAnswer:
        if left[order.method] > 0:
            left[order.method] -= 1
            raise SlotLostError("machine 7 was lost", blames_run=blames_run)
        return RunAnswer(objective=10_000, seconds=0.0)

    machines = _Machines(fate)
    state = run_study(small_spec(("[6, 8]", "6")), tmp_path, executor=machines)
    is_failed = blames_run and losses == 3
    assert (state.planned, state.finished, state.failed) == (12, 12 - is_failed, int(is_failed))
    assert (state.pending, state.running, machines.is_closed) == (0, 0, True)
    with StudyStore(tmp_path) as store:
        (row,) = store.select("SELECT * FROM runs WHERE method = 'heft'")
        assert machines.calls[f"{row['sha256']}, heft"] == losses + (not is_failed)
    expected = "WorkerLost: machine 7 was lost; the run was lost 3 times." if is_failed else None
    assert row["error"] == expected


def test_a_run_that_interrupts_itself_is_given_up(tmp_path: Path) -> None:
    """Tests that a run whose method stops itself, such as by a signal, is recorded and not made for ever."""
    interrupted = RunAnswer(is_interrupted=True)
    machines = _Machines(lambda order: interrupted if order.method == "heft" else RunAnswer(objective=10_000))
    state = run_study(small_spec(("[6, 8]", "6")), tmp_path, executor=machines)
    assert (state.planned, state.finished, state.failed) == (12, 11, 1)
    with StudyStore(tmp_path) as store:
        (row,) = store.select("SELECT * FROM runs WHERE state = 'failed'")
    assert row["error"] == "WorkerLost: the run was interrupted; the run was lost 3 times."


def test_an_executor_that_is_gone_ends_the_study(tmp_path: Path) -> None:
    """Tests that the error of an executor is raised, and that nothing stays claimed."""

    def fate(order: RunOrder) -> RunAnswer:
        if order.kind != "bound":
            raise ExecutorError("expected a cluster, got none.")
        return RunAnswer(bound=1, bound_method="area", bound_proof="none", seconds=0.0)

    with pytest.raises(ExecutorError, match=r"expected a cluster, got none\."):
        run_study(small_spec(("[6, 8]", "6")), tmp_path, executor=_Machines(fate))
    with StudyStore(tmp_path) as store:
        assert store.counts() == {"pending": 10, "running": 0, "finished": 2, "failed": 0}
    with pytest.raises(ValueError, match=r"workers: expected none beside an executor, got 2\."):
        run_study(small_spec(), tmp_path, executor=_Machines(fate), workers=2)


def test_the_state_is_told_while_runs_are_made(tmp_path: Path) -> None:
    """Tests that a long run does not keep the state from being told."""
    told = threading.Event()

    def fate(order: RunOrder) -> RunAnswer:
        assert told.wait(30)
        return RunAnswer(objective=10_000, seconds=0.0)

    begin = time.monotonic()
    run_study(
        small_spec(("[6, 8]", "6")),
        tmp_path,
        executor=_Machines(fate),
        on_state=lambda state: told.set() if state.running else None,
    )
    assert told.is_set()
    assert time.monotonic() - begin < 30
