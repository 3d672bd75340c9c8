"""A-SRPT in its provable mode: nobody overtakes the head of the queue."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from heuristics.jobs.policies.guided_policy import GuidedPolicy

if TYPE_CHECKING:
    from heuristics.jobs.job_shapes import JobShapes
    from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters


class ProvablePolicy(GuidedPolicy):
    """Steps 7 to 10 of section 4 of the reference; it idles on purpose. Parameters as in `GuidedPolicy`."""

    def __init__(self, shapes: JobShapes, parameters: ASrptParameters, *, is_weighted: bool) -> None:
        """Start with an empty queue."""
        super().__init__(shapes, parameters, is_weighted=is_weighted)
        self._queue: deque[int] = deque()  # virtual completions ascend strictly: no ties to break
        self._expiry: int | None = None

    def become_eligible(self, job: int) -> None:
        """Append a job to the queue."""
        self._queue.append(job)

    def next_event(self) -> int | None:
        """Return the next eligibility or the end of the hold."""
        times = [time for time in (self.next_eligibility(), self._expiry) if time is not None]
        return min(times, default=None)

    def dispatch(self, time: int) -> list[int]:
        """Start heads of the queue until one is blocked or held."""
        started: list[int] = []
        self._expiry = None
        while self._queue:
            job = self._queue[0]
            placement = self.cluster.place(job) if self.cluster.fits(job) else None
            if placement is None:
                break
            if not self.is_consolidated(job, placement):
                deadline = self.hold_until(job, placement, time)
                if time < deadline:
                    self._expiry = deadline
                    break
            self._queue.popleft()
            self.start(job, placement, time)
            started.append(job)
        return started
