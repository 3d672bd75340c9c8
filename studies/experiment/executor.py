"""What makes runs, whatever it is made of, and the executor that makes them in processes of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from studies.experiment.worker import Worker, WorkerStartError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studies.experiment.execute_run import RunOrder
    from studies.experiment.run_answer import RunAnswer, RunLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedRun:
    """An answer, and the machine and software that gave it.

    Parameters
    ----------
    answer
        Of the run; an interrupted one says that it was stopped from outside.
    environment
        JSON object with versions, hardware and revision; None where the run got nowhere.
    """

    answer: RunAnswer
    environment: str | None


class ExecutorError(Exception):
    """Runs cannot be made at all; the text is one line for the user."""


class SlotLostError(Exception):
    """A slot is gone, and with it the run that it was making, of which nothing is known.

    `blames_run` says whether the run may be the reason.
    """

    def __init__(self, message: str, *, blames_run: bool) -> None:
        super().__init__(message)
        self.blames_run = blames_run


class Slot(Protocol):
    """Makes one run at a time; used by one thread at a time, and the same object as long as it lasts."""

    def run(self, order: RunOrder, limit: RunLimit) -> ExecutedRun:
        """Make a run within its limits; what goes wrong in it becomes its answer.

        Raises a `SlotLostError` if this slot will make no more runs, and an `ExecutorError` if no slot will.
        """
        ...


class Executor(Protocol):
    """Some number of slots; `num_threads` is how many runs of one thread it makes at a time, as far as is known."""

    @property
    def num_threads(self) -> int:
        """Number of slots for runs of one thread."""
        ...

    def slots(self, threads: int) -> Sequence[Slot]:
        """Return the slots for runs of so many threads; may change over time, and may be none for a while.

        Raises an `ExecutorError` if none is left to wait for.
        """
        ...

    def stop(self) -> None:
        """Stop all runs that are being made, which then count as interrupted; no slot can be used after it."""
        ...

    def close(self) -> None:
        """Stop, and leave nothing behind."""
        ...


class LocalExecutor:
    """Worker processes, each of which makes one run at a time; a run with several threads counts as so many.

    Raises a `ValueError` if `workers`, the largest number of processes, is below 1.
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
