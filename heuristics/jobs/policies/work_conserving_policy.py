"""A-SRPT in its work-conserving mode: no GPU idles for the sake of the order."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.jobs.policies.consolidation_test import ConsolidationTest
from heuristics.jobs.policies.guided_policy import GuidedPolicy
from heuristics.jobs.waiting_queue import WaitingQueue

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Any

    from numpy.typing import NDArray

    from heuristics.jobs.cluster_state import ClusterState
    from heuristics.jobs.job_placement import JobPlacement
    from heuristics.jobs.job_shapes import JobShapes
    from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters

_FOREVER = np.iinfo(np.int64).max


class WorkConservingPolicy(GuidedPolicy):
    """The work-conserving mode of section 4 of the reference; nothing is proved about it.

    (a) All eligible jobs are tried in order; one that is blocked or held stops nobody. (b) Jobs still on the virtual
    machine are tried in its order (remaining work, or the weighted rule's), heavy ones only if consolidated; they stay
    on the machine. Parameters as in `GuidedPolicy`.
    """

    def __init__(self, shapes: JobShapes, parameters: ASrptParameters, *, is_weighted: bool) -> None:
        """Start with empty queues."""
        super().__init__(shapes, parameters, is_weighted=is_weighted)
        num_jobs = shapes.instance.num_jobs
        self._eligible_queue, self._virtual_queue = WaitingQueue(), WaitingQueue()
        self._expiries: list[tuple[int, int]] = []
        # When a job needs no consolidated placement any more: in queue (a), 0 until it is held first; in queue (b).
        self._ready: NDArray[np.int64] = np.zeros(num_jobs, dtype=np.int64)
        self._ready_early: NDArray[np.int64] = np.zeros(num_jobs, dtype=np.int64)

    def begin(self, cluster: ClusterState) -> None:
        """Take the cluster and examine the shapes."""
        super().begin(cluster)
        self._test = ConsolidationTest(self.shapes, cluster.classes, self._limit_if_heavy)
        cluster.classes.finish()
        self._failed_at: NDArray[np.int64] = np.full(len(self.shapes.first_job), -1, dtype=np.int64)

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Put a job on the virtual machine."""
        first = self.machine.first()
        if first is not None and len(self._virtual_queue) and self._virtual_queue.jobs[0] == first[2]:
            self._virtual_queue.lower_first(first)  # it was served meanwhile: the only key that changes
        super().arrive(job, time, prediction)

    def wait_virtually(self, job: int, key: tuple[Any, ...]) -> None:
        """Put a job in queue (b)."""
        self._ready_early[job] = _FOREVER if self.is_heavy(job) else 0
        self._virtual_queue.insert(key, job)

    def become_eligible(self, job: int) -> None:
        """Move a job from queue (b), where it stands first, to the end of queue (a), unless it has started."""
        if job in self.cluster.started:
            return
        if self._virtual_queue.remove(0) != job:
            raise RuntimeError(f"job {job}: expected it first in the order of the virtual machine.")
        self._eligible_queue.insert((self._completion[job],), job)

    def next_event(self) -> int | None:
        """Return the next eligibility or the end of a hold."""
        while self._expiries and self._expiries[0][1] in self.cluster.started:
            heapq.heappop(self._expiries)
        times = [end for end, _ in self._expiries[:1]]
        eligibility = self.next_eligibility()
        return min(times if eligibility is None else [*times, eligibility], default=None)

    def dispatch(self, time: int) -> list[int]:
        """Scan the eligible jobs, then those on the virtual machine."""
        while self._expiries and self._expiries[0][0] <= time:
            heapq.heappop(self._expiries)
        return self._scan(self._eligible_queue, self._ready, time) + self._scan(
            self._virtual_queue, self._ready_early, time
        )

    def _scan(self, queue: WaitingQueue, ready: NDArray[np.int64], time: int) -> list[int]:
        """Try every job of a queue once."""
        started: list[int] = []
        cluster, position = self.cluster, 0
        while True:
            position = self._next(queue, position, ready, time)
            if position == len(queue):
                return started
            job = int(queue.jobs[position])
            placement = cluster.place(job)
            if placement is None or self._must_wait(job, placement, ready, time):
                self._failed_at[self.shapes.shape_of[job]] = cluster.version
                position += 1
                continue
            queue.remove(position)
            self.start(job, placement, time)
            started.append(job)

    def _must_wait(self, job: int, placement: JobPlacement, ready: NDArray[np.int64], time: int) -> bool:
        """Say whether a job waits for a consolidated placement; note its deadline the first time it does."""
        if self.is_consolidated(job, placement):
            return False
        if ready is self._ready and job not in self._deadline:
            ready[job] = self.hold_until(job, placement, time)
            if ready[job] > time:
                heapq.heappush(self._expiries, (int(ready[job]), job))
        return bool(ready[job] > time)

    def _next(self, queue: WaitingQueue, begin: int, ready: NDArray[np.int64], time: int) -> int:
        """Return the next position whose job may start for all that is known without a placement."""
        cluster, test = self.cluster, self._test
        cluster.refresh()
        return int(
            _next_candidate(
                queue.jobs,
                begin,
                len(queue),
                time,
                ready,
                cluster.class_of,
                cluster.classes.has_place,
                cluster.classes.most_free,
                self.shapes.shape_of,
                test.class_of,
                test.single_kinds,
                test.gang,
                self._failed_at,
                cluster.version,
            )
        )

    def _limit_if_heavy(self, job: int) -> Fraction | None:
        """Return the limit of a heavy job on alpha, None for another one."""
        return self.alpha_limit(job) if self.is_heavy(job) else None


@njit(cache=True)
def _next_candidate(
    jobs: NDArray[np.int64],
    begin: int,
    end: int,
    time: int,
    ready: NDArray[np.int64],
    class_of: NDArray[np.int64],
    has_place: NDArray[np.bool_],
    most_free: NDArray[np.int64],
    shape_of: NDArray[np.int64],
    consolidated_class_of: NDArray[np.int64],
    single_kinds: NDArray[np.int64],
    gang: NDArray[np.int64],
    failed_at: NDArray[np.int64],
    version: int,
) -> int:
    """Return the first position from `begin` on whose job may start, `end` if there is none.

    A job that needs a consolidated placement is passed over where its shape has none: it failed on these free GPUs
    already, or a necessary condition fails.
    """
    for position in range(begin, end):
        job = jobs[position]
        if not has_place[class_of[job]]:
            continue
        if ready[job] <= time:
            return position
        shape = shape_of[job]
        if failed_at[shape] == version or not has_place[consolidated_class_of[shape]]:
            continue
        if single_kinds[shape] == 0:
            return position
        for kind in range(len(most_free)):
            if single_kinds[shape] >> kind & 1 and most_free[kind] >= gang[shape]:
                return position
    return end
