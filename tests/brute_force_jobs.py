"""The optimum of tiny jobs instances by complete enumeration: an oracle that shares no code with any method.

Jobs are placed one after the other, in every order and in every placement, each as early as it fits beside those
placed before. Some optimal schedule arises so: put the jobs of an optimal one again in order of start, in the
placements they have; none starts later. Branches that cannot cost less than the best found so far are cut. Iteration
times are computed here, from the formula, with fractions; of placements that hold the same GPUs the shortest is taken,
as nothing else can tell them apart.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance

NONE = 2**62


def optimum_jobs(instance: JobsInstance, objective: str = "total_completion") -> int:
    """Return the least sum of (weighted) completion times in ticks."""
    n = instance.num_jobs
    if n == 0:
        return 0
    choices = [usages_and_durations(instance, job) for job in range(n)]
    most = max(map(len, choices))
    usage = np.zeros((n, most, instance.num_servers), dtype=np.int64)
    duration = np.full((n, most), NONE, dtype=np.int64)
    for job, own in enumerate(choices):
        for number, (held, ticks) in enumerate(sorted(own.items(), key=lambda item: item[1])):
            usage[job, number] = held
            duration[job, number] = ticks
    weight = np.array(instance.weight) if objective == "weighted_completion" else np.ones(n, dtype=np.int64)
    counts = np.array([len(own) for own in choices], dtype=np.int64)
    return int(_search(np.array(instance.release), weight, counts, usage, duration, np.array(instance.num_gpus_of)))


def usages_and_durations(instance: JobsInstance, job: int) -> dict[tuple[int, ...], int]:
    """Return for every vector of GPUs held per server the shortest duration in ticks."""
    first, last = int(instance.stage_offsets[job]), int(instance.stage_offsets[job + 1])
    room = [int(gpus) for gpus in instance.num_gpus_of]
    options = []
    for stage in range(first, last):
        allowed = [instance.time_of[stage, kind] > 0 for kind in instance.server_kind]
        k = int(instance.replicas[stage])
        ranges = [range(min(k, free) + 1) if ok else range(1) for free, ok in zip(room, allowed, strict=True)]
        options.append([split for split in itertools.product(*ranges) if sum(split) == k])
    found: dict[tuple[int, ...], int] = {}
    for x in itertools.product(*options):
        held = tuple(sum(column) for column in zip(*x, strict=True))
        if all(count <= free for count, free in zip(held, room, strict=True)):
            ticks = math.ceil(int(instance.iterations[job]) * _alpha(instance, job, x))
            found[held] = min(ticks, found.get(held, NONE))
    return found


def _alpha(instance: JobsInstance, job: int, x: tuple[tuple[int, ...], ...]) -> Fraction:
    """Return the time of one iteration of a placement in ticks."""
    first, num_stages = int(instance.stage_offsets[job]), len(x)
    k = [sum(row) for row in x]
    slowest = 0
    for s, row in enumerate(x):
        for v, count in enumerate(row):
            if count:
                slowest = max(slowest, int(instance.time_of[first + s, instance.server_kind[v]]))
    comm = Fraction(0)
    for v in range(instance.num_servers):
        leaving = Fraction(0)
        for s in range(num_stages):
            here = Fraction(x[s][v], k[s])
            if 0 < here < 1:
                leaving += Fraction(2 * (k[s] - 1), k[s]) * int(instance.parameter_bytes[first + s])
            if s + 1 < num_stages:
                there = Fraction(x[s + 1][v], k[s + 1])
                leaving += int(instance.activation_bytes[first + s]) * (here + there - 2 * here * there)
        bandwidth = Fraction(int(instance.nic_numerator[v]), int(instance.nic_denominator[v]))
        comm = max(comm, leaving / bandwidth)
    return (int(instance.micro_batches[job]) + num_stages - 1) * slowest + comm


@njit(cache=True)
def _fits(begin, end, held, capacity, placed, starts, ends, helds):  # type: ignore[no-untyped-def]
    """Say whether GPUs are free on all servers from `begin` to `end`: looked at where use can rise."""
    for look in range(placed + 1):
        tick = begin if look == placed else starts[look]
        if tick < begin or tick >= end:
            continue
        for v in range(len(capacity)):
            in_use = held[v]
            for other in range(placed):
                if starts[other] <= tick < ends[other]:
                    in_use += helds[other, v]
            if in_use > capacity[v]:
                return False
    return True


@njit(cache=True)
def _search(release, weight, counts, usage, duration, capacity):  # type: ignore[no-untyped-def]
    """Depth first over orders and placements; the choice at each depth is a number of job times placement."""
    n, most = usage.shape[0], usage.shape[1]
    starts, ends = np.zeros(n, np.int64), np.zeros(n, np.int64)
    helds = np.zeros((n, len(capacity)), np.int64)
    job_at = np.full(n, -1)
    choice = np.full(n + 1, -1)
    is_placed = np.zeros(n, np.bool_)
    cost = np.zeros(n + 1, np.int64)
    least = np.zeros(n, np.int64)
    for job in range(n):
        shortest = duration[job, 0]
        for number in range(1, counts[job]):
            shortest = min(shortest, duration[job, number])
        least[job] = weight[job] * (release[job] + shortest)
    best = NONE
    depth = 0
    while depth >= 0:
        if depth < n and job_at[depth] >= 0:
            is_placed[job_at[depth]] = False
            job_at[depth] = -1
        choice[depth] += 1
        if depth == n or choice[depth] == n * most:
            choice[depth] = -1
            depth -= 1
            continue
        job, number = choice[depth] // most, choice[depth] % most
        if is_placed[job] or number >= counts[job]:
            continue
        ticks = duration[job, number]
        begin = NONE
        for look in range(depth + 1):
            tick = release[job] if look == depth else ends[look]
            if release[job] <= tick < begin and _fits(
                tick, tick + ticks, usage[job, number], capacity, depth, starts, ends, helds
            ):
                begin = tick
        total = cost[depth] + weight[job] * (begin + ticks)
        rest = 0
        for other in range(n):
            if not is_placed[other] and other != job:
                rest += least[other]
        if total + rest >= best:
            continue
        if depth == n - 1:
            best = total
            continue
        starts[depth], ends[depth] = begin, begin + ticks
        for v in range(len(capacity)):
            helds[depth, v] = usage[job, number, v]
        job_at[depth], is_placed[job] = job, True
        cost[depth + 1] = total
        depth += 1
    return best
