"""The policies of the reference transcribed line by line, tick by tick: an oracle for tests that shares no code."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.arrays import restricted_times
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from instances.jobs.iteration_time import duration_for, iteration_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance


@dataclass
class Plain:
    """One run; times in ticks, the virtual machine in exact fractions of ticks."""

    instance: JobsInstance
    predictions: Sequence[int]
    theta: Fraction = Fraction(3, 2)
    tau: Fraction = Fraction(1, 4)
    eps: Fraction = Fraction(1, 50)
    phi: Fraction | None = None
    start: dict[int, int] = field(default_factory=dict)
    eligible: dict[int, int] = field(default_factory=dict)
    deadline: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look at every job on the empty servers."""
        instance = self.instance
        self.rule = HeavyEdge(instance, self.phi)
        self.free = instance.num_gpus_of.tolist()
        self.answers: dict[tuple[int, tuple[int, ...]], NDArray[np.int64] | None] = {}
        self.placement: dict[int, NDArray[np.int64]] = {}
        self.end: dict[int, int] = {}
        self.least, self.heavy = [], []
        for job in range(instance.num_jobs):
            on_empty = self.place(job)
            assert on_empty is not None
            comp, comm = iteration_parts(instance, job, on_empty)
            spread = self.spread(job)
            apart = comm if spread is None else max(comm, iteration_parts(instance, job, spread)[1])
            self.least.append(comp + comm)
            self.heavy.append(comp + apart >= self.theta * (comp + comm))
        self.predicted = [math.ceil(n * alpha) for n, alpha in zip(self.predictions, self.least, strict=True)]
        self.work = [int(g) * d for g, d in zip(instance.gang_size, self.predicted, strict=True)]

    def place(self, job: int) -> NDArray[np.int64] | None:
        """Return Heavy-Edge's placement on the free GPUs."""
        key = (job, tuple(self.free))
        if key not in self.answers:
            found = self.rule.place(job, np.array(self.free))
            shape = (self.instance.num_stages_of(job), self.instance.num_servers)
            self.answers[key] = None if found is None else found.matrix(*shape)
        return self.answers[key]

    def spread(self, job: int) -> NDArray[np.int64] | None:
        """Deal the replicas to the empty servers, cyclically."""
        instance, times = self.instance, restricted_times(self.instance, self.phi)
        room, rows = instance.num_gpus_of.tolist(), instance.stages_of(job)
        placed = np.zeros((rows.stop - rows.start, instance.num_servers), dtype=np.int64)
        last = -1
        for s, stage in enumerate(range(rows.start, rows.stop)):
            for _ in range(instance.replicas[stage]):
                turns = [(last + 1 + step) % instance.num_servers for step in range(instance.num_servers)]
                open_ones = [v for v in turns if room[v] > 0 and times[stage, instance.server_kind[v]] > 0]
                if not open_ones:
                    return None
                last = open_ones[0]
                placed[s, last] += 1
                room[last] -= 1
        return placed

    def begin(self, job: int, placement: NDArray[np.int64], time: int) -> None:
        """Start a job."""
        comp, comm = iteration_parts(self.instance, job, placement)
        self.start[job] = time
        self.placement[job] = placement
        self.end[job] = time + duration_for(int(self.instance.iterations[job]), comp + comm)
        self.free = [gpus - int(used) for gpus, used in zip(self.free, placement.sum(axis=0), strict=True)]

    def complete(self, time: int) -> None:
        """Give back the GPUs of the jobs that end now."""
        for job, end in self.end.items():
            if end == time:
                used = self.placement[job].sum(axis=0)
                self.free = [gpus + int(more) for gpus, more in zip(self.free, used, strict=True)]

    def run(self, order: Callable[[int], int], *, skips: bool) -> Plain:
        """Run a baseline with this key."""
        release, waiting, time = self.instance.release.tolist(), [], 0
        while len(self.start) < self.instance.num_jobs:
            self.complete(time)
            waiting += [job for job, arrival in enumerate(release) if arrival == time]
            waiting.sort(key=lambda job: (order(job), release[job], job))
            for job in list(waiting):
                placement = self.place(job)
                if placement is not None:
                    self.begin(job, placement, time)
                    waiting.remove(job)
                elif not skips:
                    break
            time += 1
        return self

    def run_a_srpt(self, *, provable: bool, weighted: bool = False, speed: Fraction = Fraction(1)) -> Plain:
        """Run A-SRPT."""
        instance = self.instance
        release, num_gpus = instance.release.tolist(), instance.num_gpus
        remaining: dict[int, Fraction] = {}
        done_at: dict[int, Fraction] = {}
        queue: list[int] = []

        def rank(job: int) -> tuple[Fraction, int, int]:
            ratio = Fraction(-int(instance.weight[job]), self.work[job])
            return (ratio if weighted else remaining[job], release[job], job)

        time = 0
        while len(self.start) < instance.num_jobs:
            self.complete(time)
            now, until = Fraction(time - 1), Fraction(time)
            while remaining and now < until:  # the virtual machine in the last tick, in which nobody arrived
                served = min(remaining, key=rank)
                step = min(remaining[served], until - now)
                now += step
                remaining[served] -= step
                if remaining[served] == 0:
                    del remaining[served]
                    done_at[served] = now
                    self.eligible[served] = math.ceil(now)
                    if served not in self.start:
                        queue.append(served)
            for job, arrival in enumerate(release):
                if arrival == time:
                    remaining[job] = self.work[job] / (num_gpus * speed)
            queue.sort(key=lambda job: (done_at[job], release[job], job))
            is_event = time in self.end.values() or time in self.eligible.values() or time in release
            if not is_event and not any(self.deadline.get(job) == time for job in queue):
                time += 1  # Heavy-Edge may find better places on fewer free GPUs: only events count
                continue
            for job in list(queue):
                verdict = self.try_to_start(job, time)
                if verdict == "started":
                    queue.remove(job)
                elif provable:
                    break
            if not provable:
                for job in sorted(remaining, key=rank):
                    placement = None if job in self.start else self.place(job)
                    if placement is not None and not (self.heavy[job] and self.is_apart(job, placement)):
                        self.begin(job, placement, time)
            time += 1
        return self

    def is_apart(self, job: int, placement: NDArray[np.int64]) -> bool:
        """Say whether a placement is not consolidated."""
        return sum(iteration_parts(self.instance, job, placement)) > (1 + self.eps) * self.least[job]

    def try_to_start(self, job: int, time: int) -> str:
        """Do steps 8 to 10 for an eligible job."""
        placement = self.place(job)
        if placement is None:
            return "blocked"
        if self.heavy[job] and self.is_apart(job, placement):
            alpha = sum(iteration_parts(self.instance, job, placement))
            if job not in self.deadline:
                share = self.tau * self.work[job] / self.instance.num_gpus
                saving = self.predictions[job] * (alpha - self.least[job])
                self.deadline[job] = time + math.floor(min(share, saving))
            if time < self.deadline[job]:
                return "held"
        self.begin(job, placement, time)
        return "started"
