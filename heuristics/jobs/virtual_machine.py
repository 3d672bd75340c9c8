"""The virtual machine of A-SRPT: preemptive shortest remaining work first on one machine as fast as all GPUs."""

from __future__ import annotations

import heapq
from fractions import Fraction

_Priority = int | tuple[int, Fraction]


class VirtualMachine:
    """One machine that does one unit of work per unit of its clock and always serves the first job in its order.

    With G GPUs a job of g GPUs and a predicted duration of D ticks is g * D GPU-ticks of work, and the clock counts
    1/G ticks: all numbers are integers and nothing is rounded. An event costs O(log N) for N jobs.

    The order is that of least remaining work (ties: release, index); serving it minimises the sum of completion times.
    Under the weighted rule it is that of the largest weight per unit of *original* work (same ties). Arrivals preempt.

    Parameters
    ----------
    is_weighted
        Whether the weighted rule holds.

    Attributes
    ----------
    clock
        How far the machine has been simulated, in units of its clock.

    References
    ----------
    Schrage (1968), A proof of the optimality of the shortest remaining processing time discipline. That a virtual
    machine guides the real schedule: Luo, Liu, Lee and Shroff (INFOCOM 2025), abstract; clock and units are ours.
    """

    def __init__(self, *, is_weighted: bool = False) -> None:
        """Start empty at 0."""
        self.clock = 0
        self._is_weighted = is_weighted
        self._heap: list[tuple[_Priority, int, int]] = []
        self._remaining: dict[int, int] = {}

    def insert(self, job: int, work: int, release: int, weight: int = 1) -> tuple[_Priority, int, int]:
        """Let a job arrive now, that is at `clock`, and return its key.

        Parameters
        ----------
        job
            A job that is not on the machine.
        work
            At least 1, in units of work.
        release
            Breaks ties.
        weight
            At least 1; looked at under the weighted rule only.

        Returns
        -------
        tuple
            (priority, release, job), by which jobs are served, the smallest first. Without the weighted rule the
            priority is the remaining work and falls while a job is served.

        Raises
        ------
        ValueError
            If the job is on the machine already, or it has no work.
        """
        if job in self._remaining or work < 1:
            raise ValueError(f"job {job}: expected a job of at least 1 unit of work, not here yet, got {work}.")
        self._remaining[job] = work
        # The whole part decides nearly always, so that fractions are rarely compared.
        priority = (work // weight, Fraction(work % weight, weight)) if self._is_weighted else work
        heapq.heappush(self._heap, (priority, release, job))
        return priority, release, job

    def advance(self, clock: int) -> list[tuple[int, int]]:
        """Simulate until the clock shows `clock` and return what completes until then, as (completion, job), in order.

        Raises
        ------
        ValueError
            If that is in the past.
        """
        if clock < self.clock:
            raise ValueError(f"clock: expected at least {self.clock}, got {clock}.")
        completed = []
        while self._heap:
            _, release, job = self._heap[0]
            end = self.clock + self._remaining[job]
            if end > clock:
                self._remaining[job] = end - clock
                if not self._is_weighted:  # the least entry of a heap may be lowered in place
                    self._heap[0] = (end - clock, release, job)
                break
            heapq.heappop(self._heap)
            del self._remaining[job]
            completed.append((end, job))
            self.clock = end
        self.clock = clock
        return completed

    def next_completion(self) -> int | None:
        """Return when the job that is served completes if nothing else arrives; None if there is none."""
        return self.clock + self._remaining[self._heap[0][2]] if self._heap else None

    def first(self) -> tuple[_Priority, int, int] | None:
        """Return the key of the job that is served; None if there is none."""
        return self._heap[0] if self._heap else None

    def remaining(self, job: int) -> int:
        """Return the work that is left of a job, 0 if it is not on the machine."""
        return self._remaining.get(job, 0)

    def drain(self) -> list[tuple[int, int]]:
        """Simulate until the machine is empty and return what completes, as `advance` does."""
        return self.advance(self.clock + sum(self._remaining.values()))
