"""The verifier's own replay under interference; it shares nothing with the simulator, and nobody else calls it."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from instances.jobs.verify_iteration import verified_bytes, verified_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from instances.jobs.interference import Interference
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.verify_iteration import Placement


@dataclass(slots=True)
class _Job:
    """What a job needs and where it stands."""

    asks: dict[int, list[Fraction]]  # of each resource, by server, in per mille
    bound: list[Fraction]  # per mille of the iteration, by resource
    gpus: frozenset[tuple[int, int]]
    work: Fraction  # ticks that it would still run alone, as of `seen`
    seen: int = 0
    rate: Fraction = Fraction(0)  # of such ticks per tick
    end: int = 0


def replayed_ends(
    instance: JobsInstance,
    interference: Interference,
    start: Sequence[int],
    placements: Sequence[Placement],
    gpus: Sequence[Mapping[int, Sequence[int]]],
) -> list[int]:
    """Return when every job completes, given starts, placements that are right, and GPUs by server (none unnamed)."""
    jobs = [
        _job(instance, interference, job, stages, own)
        for job, (stages, own) in enumerate(zip(placements, gpus, strict=True))
    ]
    waiting = sorted(range(len(jobs)), key=lambda job: start[job], reverse=True)
    on_server: dict[int, set[int]] = {}
    on_gpu: dict[tuple[int, int], set[int]] = {}
    planned: list[tuple[int, int]] = []
    active = set[int]()
    while waiting or active:
        while planned and (planned[0][1] not in active or jobs[planned[0][1]].end != planned[0][0]):
            heapq.heappop(planned)
        now = min([start[job] for job in waiting[-1:]] + [end for end, _ in planned[:1]])
        changed = set[int]()
        ending = set[int]()
        while planned and planned[0][0] == now:
            ending.add(heapq.heappop(planned)[1])
        for job in ending & active:
            if jobs[job].end != now:
                continue  # planned before its speed changed
            active.remove(job)
            for server in jobs[job].asks:
                on_server[server].remove(job)
                changed.add(server)
            for gpu in jobs[job].gpus:
                on_gpu[gpu].remove(job)
        while waiting and start[waiting[-1]] == now:
            job = waiting.pop()
            active.add(job)
            jobs[job].seen = now
            for server in jobs[job].asks:
                on_server.setdefault(server, set()).add(job)
                changed.add(server)
            for gpu in jobs[job].gpus:
                on_gpu.setdefault(gpu, set()).add(job)
        for job in {job for server in changed for job in on_server[server]}:
            own = jobs[job]
            own.work -= own.rate * (now - own.seen)
            own.seen = now
            own.rate = Fraction(_speed(interference, jobs, job, on_server, on_gpu), 1000)
            own.end = now + math.ceil(own.work / own.rate)
            heapq.heappush(planned, (own.end, job))
    return [job.end for job in jobs]


def _job(
    instance: JobsInstance, interference: Interference, job: int, stages: Placement, gpus: Mapping[int, Sequence[int]]
) -> _Job:
    """Work out what a job asks for."""
    comp, comm = verified_parts(instance, job, stages)
    iterations = int(instance.iterations[job])
    bound = [Fraction(int(value)) for value in interference.sens[job]]
    asks: dict[int, list[Fraction]] = {}
    for server in {server for placed in stages for server in placed}:
        replicas = sum(placed.get(server, 0) for placed in stages)
        asks[server] = [Fraction(int(value)) * replicas for value in interference.use[job]]
    if "nic" in interference.resources:
        z = interference.resources.index("nic")
        for server, row in asks.items():
            bandwidth = Fraction(int(instance.nic_numerator[server]), int(instance.nic_denominator[server]))
            leaving = verified_bytes(instance, job, [placed.get(server, 0) for placed in stages])
            row[z] = 1000 * leaving / (bandwidth * (comp + comm))
        from_nic = 1000 * comm / (comp + comm)
        others = sum(bound)
        if from_nic + others > 1000:
            bound = [value * (1000 - from_nic) / others for value in bound]
        bound[z] = from_nic
    return _Job(
        asks=asks,
        bound=bound,
        gpus=frozenset((server, gpu) for server, own in gpus.items() for gpu in own),
        work=Fraction(math.ceil(iterations * (comp + comm))),
    )


def _speed(
    interference: Interference,
    jobs: Sequence[_Job],
    job: int,
    on_server: Mapping[int, set[int]],
    on_gpu: Mapping[tuple[int, int], set[int]],
) -> int:
    """Return the speed of a job beside those that run now, in per mille, as the formula stands."""
    own = jobs[job]
    worst = Fraction(1000)
    for server, asked in own.asks.items():
        slow = Fraction(1000)
        for z, (mine, bound) in enumerate(zip(asked, own.bound, strict=True)):
            load = sum((jobs[other].asks[server][z] for other in on_server[server]), Fraction(0))
            slow += bound * (max(Fraction(1000), load) / max(Fraction(1000), mine) - 1)
        worst = max(worst, slow)
    pair = 1000
    for gpu in own.gpus:
        for other in on_gpu[gpu]:
            if other != job:
                here, there = int(interference.job_class[job]), int(interference.job_class[other])
                pair = min(pair, int(interference.pair[here, there]))
    return max(1, math.floor(Fraction(10**6) / worst * pair / 1000))
