"""The jobs that run in a simulation, and when they complete."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Protocol

from instances.jobs.co_location import CoLocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heuristics.jobs.placements.placement import JobPlacement
    from instances.jobs.co_location import Amount, Gpu
    from instances.jobs.instance import JobsInstance


class RunningJobs(Protocol):
    """What a simulator asks of the running jobs."""

    def start(self, job: int, time: int, placement: JobPlacement, gpus: Sequence[Gpu]) -> None:
        """Let a job start; `gpus` only where two jobs may share one."""
        ...

    def next_completion(self) -> int | None:
        """Return when the next job completes if no job starts before; None if nothing runs."""
        ...

    def complete(self, time: int) -> list[int]:
        """End the jobs that complete at this tick, the next completion, and return them in order of number."""
        ...

    def load(self, server: int) -> tuple[Amount, ...]:
        """Return what the jobs on a server ask of each resource together, in per mille; nothing without interference.

        It is another object as soon as the load changes, and the same object as long as no job starts or ends there.
        """
        ...


def running_jobs(instance: JobsInstance) -> RunningJobs:
    """Return the model of the completions of an instance, with nothing running yet."""
    return UnalteredJobs(instance) if instance.interference is None else InterferingJobs(instance)


class UnalteredJobs:
    """Jobs that do not affect each other: a job ends when it would alone."""

    def __init__(self, instance: JobsInstance) -> None:
        self._iterations: list[int] = instance.iterations.tolist()
        self._ends: list[tuple[int, int]] = []

    def start(self, job: int, time: int, placement: JobPlacement, gpus: Sequence[Gpu]) -> None:
        """Let a job start."""
        heapq.heappush(self._ends, (time + placement.duration(self._iterations[job]), job))

    def next_completion(self) -> int | None:
        """Return when the next job completes; None if nothing runs."""
        return self._ends[0][0] if self._ends else None

    def complete(self, time: int) -> list[int]:
        """End the jobs that complete at this tick and return them in order of number."""
        done = []
        while self._ends and self._ends[0][0] == time:
            done.append(heapq.heappop(self._ends)[1])
        return done

    def load(self, server: int) -> tuple[Amount, ...]:
        """Return nothing: there are no resources."""
        return ()


class InterferingJobs:
    """Jobs that slow each other down; an event costs time proportional to the jobs on the same servers.

    `together` has current speeds and loads, for rules that place jobs by them.
    """

    def __init__(self, instance: JobsInstance) -> None:
        self._instance = instance
        self._iterations: list[int] = instance.iterations.tolist()
        self.together = CoLocation(instance)

    def start(self, job: int, time: int, placement: JobPlacement, gpus: Sequence[Gpu]) -> None:
        """Let a job start."""
        demand = placement.demand(self._instance, job)
        self.together.start(job, time, placement.duration(self._iterations[job]), demand, gpus)

    def next_completion(self) -> int | None:
        """Return when the next job completes if no job starts before; None if nothing runs."""
        return self.together.next_completion()

    def complete(self, time: int) -> list[int]:
        """End the jobs that complete at this tick and return them in order of number."""
        return self.together.complete(time)

    def load(self, server: int) -> tuple[Amount, ...]:
        """Return what the jobs on a server ask of each resource together, in per mille of its capacity, exactly."""
        return self.together.load(server)
