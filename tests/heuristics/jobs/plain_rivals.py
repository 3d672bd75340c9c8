"""The gang rules of rival policies transcribed line by line, tick by tick: an oracle for tests.

Only Heavy-Edge itself, whose tests are elsewhere, and the plain formulas of interference are taken from others.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from instances.jobs.interference import NOT_TOGETHER
from tests.interference_strategies import plain_alpha, plain_demand, plain_speed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule

RULES = ("fifo", "srtf", "load-balancing", "bin-packing", "least-interference", "drf", "tetris")


class PlainRivals:
    """One run of one rule, with true iterations where a rule asks for durations."""

    def __init__(self, instance: JobsInstance) -> None:
        """Begin with empty servers."""
        self.instance = instance
        self.rule = HeavyEdge(instance)
        self.gangs: list[int] = instance.gang_size.tolist()
        self.total: list[int] = instance.num_gpus_of.tolist()
        self.on: dict[tuple[int, int], list[int]] = {
            (server, gpu): [] for server, number in enumerate(self.total) for gpu in range(number)
        }
        self.start: dict[int, int] = {}
        self.end: dict[int, int] = {}
        self.placed: dict[int, np.ndarray] = {}
        self.gpus: dict[int, list[tuple[int, int]]] = {}
        self.left: dict[int, int] = {}

    def placement(self, instance: JobsInstance, job: int) -> np.ndarray:
        """Return the placement of a job, for `plain_speed`."""
        return self.placed[job]

    def gpus_of(self, instance: JobsInstance, job: int) -> list[tuple[int, int]]:
        """Return the GPUs of a job, for `plain_speed`."""
        return self.gpus[job]

    def running(self) -> list[int]:
        """Return the jobs that run."""
        return [job for job in self.start if job not in self.end]

    def may_use(self, job: int, gpu: tuple[int, int]) -> bool:
        """Say whether a GPU is idle, or has one job beside which this one may sit."""
        others, interference = self.on[gpu], self.instance.interference
        if not others:
            return True
        if len(others) == 2 or interference is None or interference.share == 1:
            return False
        classes = interference.job_class
        return bool(interference.pair[classes[job], classes[others[0]]] != NOT_TOGETHER)

    def free(self, job: int) -> list[int]:
        """Return the GPUs of every server that a job may use."""
        found = [0] * len(self.total)
        for gpu in self.on:
            found[gpu[0]] += self.may_use(job, gpu)
        return found

    def load(self, server: int) -> list[Fraction]:
        """Return the load of every resource on a server."""
        interference = self.instance.interference
        if interference is None:
            return []
        total = [Fraction(0)] * len(interference.resources)
        for job in self.running():
            own = plain_demand(self.instance, job, self.placed[job])[0][server]
            total = [a + b for a, b in zip(total, own, strict=True)]
        return total

    def passes(self, job: int, free: Sequence[int]) -> bool:
        """Do Hall's test over all sets of stages."""
        rows, kind = range(*self.instance.stages_of(job).indices(10**9)), self.instance.server_kind
        for size in range(1, len(rows) + 1):
            for chosen in itertools.combinations(rows, size):
                able = [v for v in range(len(free)) if any(self.instance.time_of[s, kind[v]] > 0 for s in chosen)]
                if sum(int(self.instance.replicas[s]) for s in chosen) > sum(free[v] for v in able):
                    return False
        return True

    def on_servers(self, job: int, servers: Sequence[int]) -> np.ndarray | None:
        """Return Heavy-Edge's placement on some servers, None if Hall's test fails on them."""
        free = [number if v in servers else 0 for v, number in enumerate(self.free(job))]
        if not self.passes(job, free):
            return None
        found = self.rule.place(job, np.array(free))
        assert found is not None
        return found.matrix(self.instance.num_stages_of(job), self.instance.num_servers)

    def pack(self, job: int, order: Sequence[int]) -> np.ndarray | None:
        """Return PACK(job, order)."""
        for size in range(1, len(order) + 1):
            found = self.on_servers(job, order[:size])
            if found is not None:
                return found
        return None

    def by_load(self, job: int) -> np.ndarray | None:
        """Return PACK(LOAD)."""
        busy = [sum(bool(jobs) for gpu, jobs in self.on.items() if gpu[0] == v) for v in range(len(self.total))]
        return self.pack(job, sorted(range(len(busy)), key=lambda v: (Fraction(busy[v], self.total[v]), v)))

    def by_free(self, job: int) -> np.ndarray | None:
        """Return PACK(free descending)."""
        free = self.free(job)
        return self.pack(job, sorted(range(len(free)), key=lambda v: (-free[v], v)))

    def by_fit(self, job: int) -> np.ndarray | None:
        """Return the placement on the fullest server that hosts the job, else PACK(free descending)."""
        free = self.free(job)
        for v in sorted(range(len(free)), key=lambda v: (free[v], v)):
            found = self.on_servers(job, [v])
            if found is not None:
                return found
        return self.by_free(job)

    def by_interference(self, job: int) -> np.ndarray | None:
        """Return PACK by the sum of the loads."""
        return self.pack(job, sorted(range(len(self.total)), key=lambda v: (sum(self.load(v)), v)))

    def begin(self, job: int, placed: np.ndarray, time: int) -> None:
        """Start a job: on every server GPUs by occupants, then by speeds of the pair, then by number."""

        def rank(gpu: tuple[int, int]) -> tuple[int, int, int]:
            others, interference = self.on[gpu], self.instance.interference
            both = 0
            if others and interference is not None:
                a, b = interference.job_class[job], interference.job_class[others[0]]
                both = int(interference.pair[a, b] + interference.pair[b, a])
            return len(others), -both, gpu[1]

        self.gpus[job] = []
        for v, count in enumerate(placed.sum(axis=0).tolist()):
            usable = [gpu for gpu in self.on if gpu[0] == v and self.may_use(job, gpu)]
            self.gpus[job] += sorted(sorted(usable, key=rank)[:count])
        for gpu in self.gpus[job]:
            self.on[gpu].append(job)
        self.start[job], self.placed[job] = time, placed
        comp, comm = plain_alpha(self.instance, job, placed)
        self.left[job] = 1000 * math.ceil(int(self.instance.iterations[job]) * (comp + comm))

    def run(self, rule: str) -> PlainRivals:
        """Run a rule tick by tick until all jobs have ended."""
        rules: dict[str, Callable[[list[int], int], None]] = {
            "fifo": lambda waiting, time: self.in_order(waiting, time, self.by_load, skips=False),
            "srtf": lambda waiting, time: self.in_order(
                sorted(waiting, key=self.rank), time, self.by_load, skips=False
            ),
            "load-balancing": lambda waiting, time: self.in_order(waiting, time, self.by_load, skips=True),
            "bin-packing": lambda waiting, time: self.in_order(waiting, time, self.by_fit, skips=True),
            "least-interference": lambda waiting, time: self.in_order(waiting, time, self.by_interference, skips=True),
            "drf": self.drf,
            "tetris": self.tetris,
        }
        release, time = self.instance.release.tolist(), 0
        speeds: dict[tuple[int, frozenset[int]], int] = {}
        while len(self.end) < self.instance.num_jobs:
            for job in self.running():
                if self.left[job] <= 0:
                    self.end[job] = time
                    for gpu in self.gpus[job]:
                        self.on[gpu].remove(job)
            arrived = [job for job in range(len(release)) if release[job] <= time and job not in self.start]
            if time in release or time in self.end.values():
                rules[rule](sorted(arrived, key=lambda job: (release[job], job)), time)
            now = frozenset(self.running())
            for job in now:
                if self.instance.interference is None:
                    speeds[job, now] = 1000
                elif (job, now) not in speeds:
                    speeds[job, now] = plain_speed(self.instance, cast("JobsSchedule", self), job, set(now))
                self.left[job] -= speeds[job, now]
            time += 1
        return self

    def rank(self, job: int) -> tuple[int, int, int]:
        """Return (Dhat, arrival, index)."""
        on_empty = self.rule.place(job, self.instance.num_gpus_of)
        assert on_empty is not None
        placed = on_empty.matrix(self.instance.num_stages_of(job), self.instance.num_servers)
        alpha = sum(plain_alpha(self.instance, job, placed))
        return math.ceil(int(self.instance.iterations[job]) * alpha), int(self.instance.release[job]), job

    def in_order(
        self, waiting: list[int], time: int, place: Callable[[int], np.ndarray | None], *, skips: bool
    ) -> None:
        """Start jobs in an order."""
        for job in waiting:
            found = place(job)
            if found is not None:
                self.begin(job, found, time)
            elif not skips:
                return

    def dominant_share(self, job: int) -> Fraction:
        """Return the dominant share of the user of a waiting job."""
        user = self.instance.user[job]
        own = [other for other in self.running() if user is not None and self.instance.user[other] == user]
        shares = [Fraction(sum(self.gangs[other] for other in own), sum(self.total))]
        if self.instance.interference is not None:
            for z in range(len(self.instance.interference.resources)):
                held = sum(
                    (row[z] for other in own for row in plain_demand(self.instance, other, self.placed[other])[0]),
                    Fraction(0),
                )
                shares.append(held / (1000 * len(self.total)))
        return max(shares)

    def drf(self, waiting: list[int], time: int) -> None:
        """Start the oldest job of the user with the smallest share until one has no placement."""
        waiting = list(waiting)
        while waiting:
            job = min(waiting, key=lambda job: (self.dominant_share(job), waiting.index(job)))
            found = self.by_load(job)
            if found is None:
                return
            self.begin(job, found, time)
            waiting.remove(job)

    def tetris(self, waiting: list[int], time: int) -> None:
        """Start the job of the best score until none has a placement."""
        waiting = list(waiting)
        while True:
            where = {job: self.by_free(job) for job in waiting}
            first = {job: self.fit(job, placed) for job, placed in where.items() if placed is not None}
            if not first:
                return
            second = {job: Fraction(self.gangs[job], sum(self.total)) for job in first}
            c = (sum(first.values()) / len(first)) / (sum(second.values()) / len(second))
            job = max(first, key=lambda job: (first[job] + c * second[job], -waiting.index(job)))
            placed = where[job]
            assert placed is not None
            self.begin(job, placed, time)
            waiting.remove(job)

    def fit(self, job: int, placed: np.ndarray) -> Fraction:
        """Return the first term of the score."""
        total, free, counts = Fraction(0), self.free(job), placed.sum(axis=0).tolist()
        own = plain_demand(self.instance, job, placed)[0] if self.instance.interference is not None else None
        for v in range(len(free)):
            total += Fraction(free[v], self.total[v]) * Fraction(counts[v], self.total[v])
            if own is not None and counts[v]:
                for load, demand in zip(self.load(v), own[v], strict=True):
                    total += max(Fraction(0), 1 - load / 1000) * demand / 1000
        return total
