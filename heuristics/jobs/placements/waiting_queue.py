"""Waiting jobs in the order of a key, for policies that look past the first one."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


class WaitingQueue:
    """A sorted list whose jobs are also in an array, so that a kernel can scan them.

    In `jobs`, shape (capacity,), int64, the first ``len(queue)`` entries count, in order of key.
    """

    def __init__(self) -> None:
        self.jobs: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._keys: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self._keys)

    def insert(self, key: tuple[Any, ...], job: int) -> None:
        """Insert a job; all keys differ."""
        size = len(self._keys)
        if size == len(self.jobs):
            self.jobs = np.concatenate([self.jobs, np.zeros_like(self.jobs)])
        position = bisect_left(self._keys, key)
        self._keys.insert(position, key)
        self.jobs[position + 1 : size + 1] = self.jobs[position:size]
        self.jobs[position] = job

    def position(self, key: tuple[Any, ...]) -> int:
        """Return the position of the job with a key."""
        return bisect_left(self._keys, key)

    def lower_first(self, key: tuple[Any, ...]) -> None:
        """Replace the key of the first job by one that is not larger."""
        self._keys[0] = key

    def remove(self, position: int) -> int:
        """Remove the job at a position and return it."""
        size, job = len(self._keys), int(self.jobs[position])
        del self._keys[position]
        self.jobs[position : size - 1] = self.jobs[position + 1 : size]
        return job
