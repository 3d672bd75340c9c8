"""Policies with a fixed key: the first job blocks the others, or is skipped."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from numba import njit

from heuristics.jobs.policies.policy import Policy
from heuristics.jobs.waiting_queue import WaitingQueue

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.job_shapes import JobShapes

    Key = Callable[[JobShapes, int, int], int | tuple[int, int]]
    """Key of a job from shapes, job and predicted iterations; smaller keys go first (ties: arrival, index)."""


class BlockingPolicy(Policy):
    """Takes waiting jobs in order of key and stops at the first one without a placement.

    Parameters
    ----------
    shapes
        As in `Policy`.
    key
        Key of a job.
    uses_predictions
        Whether the key looks at the prediction.
    """

    def __init__(self, shapes: JobShapes, key: Key, *, uses_predictions: bool = True) -> None:
        """Start with nobody waiting."""
        super().__init__(shapes)
        self.uses_predictions = uses_predictions
        self._key = key
        self._heap: list[tuple[int | tuple[int, int], int, int]] = []

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Let a job wait."""
        heapq.heappush(self._heap, (self._key(self.shapes, job, prediction), time, job))

    def dispatch(self, time: int) -> list[int]:
        """Start jobs until one has no placement."""
        started: list[int] = []
        while self._heap:
            job = self._heap[0][2]
            placement = self.cluster.place(job) if self.cluster.fits(job) else None
            if placement is None:
                break
            heapq.heappop(self._heap)
            self.cluster.start(job, placement, time)
            started.append(job)
        return started


class SkippingPolicy(Policy):
    """Tries every waiting job once, in order of key. Parameters as in `BlockingPolicy`."""

    def __init__(self, shapes: JobShapes, key: Key, *, uses_predictions: bool = True) -> None:
        """Start with nobody waiting."""
        super().__init__(shapes)
        self.uses_predictions = uses_predictions
        self._key = key
        self._queue = WaitingQueue()

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Let a job wait."""
        self._queue.insert((self._key(self.shapes, job, prediction), time, job), job)

    def dispatch(self, time: int) -> list[int]:
        """Start every job that has a placement when its turn comes."""
        started: list[int] = []
        cluster, queue, position = self.cluster, self._queue, 0
        while True:
            cluster.refresh()
            position = _next_with_place(queue.jobs, position, len(queue), cluster.class_of, cluster.classes.has_place)
            if position == len(queue):
                return started
            job = int(queue.jobs[position])
            placement = cluster.place(job)
            if placement is None:
                position += 1
                continue
            queue.remove(position)
            cluster.start(job, placement, time)
            started.append(job)


@njit(cache=True)
def _next_with_place(
    jobs: NDArray[np.int64], begin: int, end: int, class_of: NDArray[np.int64], has_place: NDArray[np.bool_]
) -> int:
    """Return the first position from `begin` on whose job has a placement, `end` if there is none."""
    for position in range(begin, end):
        if has_place[class_of[jobs[position]]]:
            return position
    return end
