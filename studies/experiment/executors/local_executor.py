"""Runs in processes of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.executors.executor import ExecutedRun, ExecutorError
from studies.experiment.worker import Worker, WorkerStartError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studies.experiment.execute_run import RunOrder
    from studies.experiment.run_limit import RunLimit


class LocalExecutor:
    """Worker processes, each of which makes one run at a time; a run with several threads counts as so many.

    Parameters
    ----------
    workers
        Number of processes at most.

    Raises
    ------
    ValueError
        If there are none.
    """

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"workers: expected at least 1, got {workers}.")
        self.num_threads = workers
        self._slots = [_LocalSlot() for _ in range(workers)]

    def slots(self, threads: int) -> Sequence[_LocalSlot]:
        """Return the slots for runs of so many threads, at least one."""
        return self._slots[: max(1, self.num_threads // threads)]

    def stop(self) -> None:
        """Kill all processes."""
        for slot in self._slots:
            slot.worker.stop()

    def close(self) -> None:
        """Kill and forget all processes."""
        for slot in self._slots:
            slot.worker.close()


class _LocalSlot:
    """A worker process."""

    def __init__(self) -> None:
        self.worker = Worker()

    def run(self, order: RunOrder, limit: RunLimit) -> ExecutedRun:
        """Make a run; raises `ExecutorError` where processes cannot even begin."""
        try:
            answer = self.worker.run(order, limit)
        except WorkerStartError as error:
            raise ExecutorError(str(error)) from error
        return ExecutedRun(answer=answer, environment=self.worker.environment)
