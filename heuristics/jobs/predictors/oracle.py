"""The truth, for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance


class Oracle:
    """Predicts the true iterations; no online policy has it.

    Parameters
    ----------
    instance
        What is scheduled.
    """

    def __init__(self, instance: JobsInstance) -> None:
        self._iterations = instance.iterations.tolist()

    def predict(self, job: int, time: int) -> int:
        """Return the true iterations."""
        return int(self._iterations[job])

    def observe(self, job: int, time: int) -> None:
        """Learn nothing."""
