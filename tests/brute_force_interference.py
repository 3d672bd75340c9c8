"""The optimum of tiny jobs instances with interference by complete enumeration: it shares no code with any method.

For every combination of placements (and of GPUs where two jobs may share one), every job is started at every tick from
its release on, and the schedule is replayed tick by tick. Nothing is assumed of good starts; only starts that cost too
much even at full speed are left out. Speeds are those of the plain formula.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numba import njit

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import NOT_TOGETHER, Interference
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import JobsServer, Racks
from tests.interference_strategies import plain_alpha, plain_speed
from tests.jobs_strategies import all_placements

NONE = 2**62


def tiny_interfering(seed: int) -> JobsInstance:
    """Return a random instance of two or three jobs on one or two servers, with two jobs per GPU for odd seeds."""
    rng = np.random.default_rng(seed)
    kinds = ["F", "S"][: int(rng.integers(1, 3))]
    servers = [
        JobsServer(
            kind=str(rng.choice(kinds)), gpus=int(rng.integers(1, 3)), nic_bytes_per_tick=int(rng.integers(2, 9))
        )
        for _ in range(int(rng.integers(1, 3)))
    ]
    present, total = sorted({server.kind for server in servers}), sum(server.gpus for server in servers)
    num_jobs = int(rng.integers(2, 4))
    jobs = []
    for _ in range(num_jobs):
        gang = int(rng.integers(1, min(total, 2) + 1))
        replicas = [1, 1] if gang == 2 and rng.random() < 0.4 else [gang]
        stages = [
            Stage(
                times={kind: int(rng.integers(1, 4)) for kind in present},
                replicas=count,
                activation_bytes=int(rng.integers(0, 6)) if number + 1 < len(replicas) else 0,
                parameter_bytes=int(rng.integers(0, 6)),
            )
            for number, count in enumerate(replicas)
        ]
        release, weight = int(rng.integers(0, 4)), int(rng.integers(1, 4))
        jobs.append(Job(stages=stages, release=release, weight=weight, iterations=int(rng.integers(1, 3))))
    sens = rng.integers(0, 501, (num_jobs, 2))
    pair = rng.integers(300, 1001, (2, 2))
    if rng.random() < 0.3:
        pair[0, 1] = pair[1, 0] = NOT_TOGETHER
    interference = Interference(
        resources=("cpu", "pcie", "nic"),
        use=np.column_stack([rng.integers(100, 1400, (num_jobs, 2)), np.zeros(num_jobs, dtype=np.int64)]),
        sens=np.column_stack([sens, np.zeros(num_jobs, dtype=np.int64)]),
        share=1 + seed % 2,
        classes=("a", "b"),
        job_class=rng.integers(0, 2, num_jobs),
        pair=pair,
    )
    racks = Racks.of([*range(len(servers))], [int(rng.integers(1, 5)) for _ in servers]) if rng.random() < 0.3 else None
    return JobsInstance.from_parts(servers, jobs, interference=interference, racks=racks, name=f"tiny-{seed}")


def optimum_interfering(instance: JobsInstance, objective: str = "total_completion") -> int:
    """Return the least sum of (weighted) completion times in ticks; at most three jobs."""
    n = instance.num_jobs
    weight = np.array(instance.weight) if objective == "weighted_completion" else np.ones(n, dtype=np.int64)
    choices = [_choices(instance, job) for job in range(n)]
    latest = int(instance.release.max()) + sum(max(ticks for _, _, ticks in own) for own in choices)
    best = int(weight.sum()) * latest + 1  # one after the other is always possible
    for combination in itertools.product(*choices):
        matrices, gpus = [matrix for matrix, _, _ in combination], [own for _, own, _ in combination]
        ticks = np.array([duration for _, _, duration in combination])
        heads = int((weight * (instance.release + ticks)).sum())
        if heads >= best:
            continue
        schedule = JobsSchedule.from_placements(
            instance, np.zeros(n, dtype=np.int64), matrices, gpus if instance.share > 1 else None
        )
        speed = np.zeros((2**n, n), dtype=np.int64)
        fits = np.zeros(2**n, dtype=np.bool_)
        for mask in range(2**n):
            together = {job for job in range(n) if mask >> job & 1}
            fits[mask] = _fit(instance, schedule, together)
            for job in together if fits[mask] else ():
                speed[mask, job] = plain_speed(instance, schedule, job, together)
        best = min(best, int(_least(np.array(instance.release), weight, ticks, speed, fits, best)))
    return best


def _choices(instance: JobsInstance, job: int) -> list[tuple[np.ndarray, dict[int, list[int]], int]]:
    """Return every placement, every choice of GPUs, and the duration alone."""
    found = []
    for placed in all_placements(instance, job):
        comp, comm = plain_alpha(instance, job, placed)
        ticks = math.ceil(int(instance.iterations[job]) * (comp + comm))
        counts = placed.sum(axis=0).tolist()
        sets = [
            itertools.combinations(range(int(gpus)), count if instance.share > 1 else 0)
            for gpus, count in zip(instance.num_gpus_of, counts, strict=True)
        ]
        for chosen in itertools.product(*sets):
            found.append((placed, {server: list(own) for server, own in enumerate(chosen) if own}, ticks))
    return found


def _fit(instance: JobsInstance, schedule: JobsSchedule, together: set[int]) -> bool:
    """Say whether jobs may run at the same time where they are placed."""
    if instance.share == 1:
        used = sum((schedule.placement(instance, job).sum(axis=0) for job in together), np.zeros(1, dtype=np.int64))
        return bool((used <= instance.num_gpus_of).all())
    interference = instance.interference
    assert interference is not None
    users: dict[tuple[int, int], list[int]] = {}
    for job in together:
        for gpu in schedule.gpus_of(instance, job):
            users.setdefault(gpu, []).append(int(interference.job_class[job]))
    return all(
        len(own) == 1 or (len(own) == 2 and interference.pair[own[0], own[1]] != NOT_TOGETHER) for own in users.values()
    )


@njit(cache=True)
def _least(release, weight, ticks, speed, fits, best):  # type: ignore[no-untyped-def]
    """Return the least objective over all starts, or `best` where none is below it."""
    n = len(release)
    start = release.copy()
    left = np.zeros(n, np.int64)
    while True:
        least = 0
        for job in range(n):
            least += weight[job] * (start[job] + ticks[job])
        if least < best:
            value = _replay(weight, ticks, speed, fits, start, left)
            if 0 <= value < best:
                best = value
        # The next vector of starts; a start that costs too much is reset, and the one before it moves.
        job = n - 1
        while job >= 0:
            start[job] += 1
            least = 0
            for other in range(n):
                least += weight[other] * ((start[other] if other <= job else release[other]) + ticks[other])
            if least < best:
                break
            start[job] = release[job]
            job -= 1
        if job < 0:
            return best


@njit(cache=True)
def _replay(weight, ticks, speed, fits, start, left):  # type: ignore[no-untyped-def]
    """Return the objective of a vector of starts, -1 where jobs do not fit."""
    n, value, done, tick = len(start), 0, 0, 0
    for job in range(n):
        left[job] = 1000 * ticks[job]
    while done < n:
        mask = 0
        for job in range(n):
            if start[job] <= tick and left[job] > 0:
                mask |= 1 << job
        if not fits[mask]:
            return -1
        tick += 1
        for job in range(n):
            if mask >> job & 1:
                left[job] -= speed[mask, job]
                if left[job] <= 0:
                    value += weight[job] * tick
                    done += 1
    return value
