"""Hypothesis strategies for jobs instances with interference and racks, and a plain replay of them tick by tick.

The replay is an oracle: it shares no code with simulator or verifier, and looks at every tick.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import NOT_TOGETHER, Interference
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import NO_RACK, JobsServer, Racks
from tests.jobs_strategies import all_placements, jobs_instances


def two_jobs(replicas: tuple[int, int] = (2, 2), *, pair: int | None = None) -> JobsInstance:
    """Return the example of two jobs on one server: cpu only, sens 500, use 400 per replica; d = 10 and 5, r = 0, 4."""
    server = JobsServer(kind="F", gpus=4, nic_bytes_per_tick=1)
    jobs = [
        Job(stages=[Stage(times=ticks, replicas=count)], release=release)
        for ticks, count, release in zip((10, 5), replicas, (0, 4), strict=True)
    ]
    interference = Interference(
        resources=("cpu",),
        use=np.array([[400], [400]]),
        sens=np.array([[500], [500]]),
        share=1 if pair is None else 2,
        pair=None if pair is None else np.array([[pair]]),  # type: ignore[arg-type]  # None: no pair
    )
    return JobsInstance.from_parts([server], jobs, interference=interference)


@st.composite
def interfering_instances(
    draw: st.DrawFn,
    *,
    share: int | None = None,
    allow_all: bool = False,
    max_servers: int = 3,
    max_gpus: int = 3,
    max_jobs: int = 4,
    max_stages: int = 2,
) -> JobsInstance:
    """Draw an instance, of which about half have racks; pairs may be not allowed unless `allow_all`."""
    base = draw(jobs_instances(max_servers=max_servers, max_gpus=max_gpus, max_jobs=max_jobs, max_stages=max_stages))
    resources = draw(st.sampled_from([("cpu", "pcie", "nic"), ("cpu",), ("nic",), ("nic", "disk"), ()]))
    num_classes = draw(st.integers(1, 2))
    use, sens = [], []
    for _ in range(base.num_jobs):
        use.append([0 if name == "nic" else draw(st.sampled_from([0, 150, 400, 700, 1500])) for name in resources])
        parts = draw(st.lists(st.integers(0, 1000), min_size=len(resources), max_size=len(resources)))
        scale = max(1000, sum(parts))
        row = [0 if name == "nic" else part * 1000 // scale for name, part in zip(resources, parts, strict=True)]
        sens.append(row)
    speeds = st.integers(200, 1000) if allow_all else st.one_of(st.integers(200, 1000), st.just(NOT_TOGETHER))
    pair = np.array([[draw(speeds) for _ in range(num_classes)] for _ in range(num_classes)])
    pair[(pair == NOT_TOGETHER).T] = NOT_TOGETHER
    interference = Interference(
        resources=resources,
        use=np.array(use).reshape(base.num_jobs, len(resources)),
        sens=np.array(sens).reshape(base.num_jobs, len(resources)),
        share=draw(st.sampled_from([1, 2])) if share is None else share,
        classes=tuple(f"c{number}" for number in range(num_classes)),
        job_class=np.array([draw(st.integers(0, num_classes - 1)) for _ in range(base.num_jobs)]),
        pair=pair,
    )
    racks = draw(racks_of(base.num_servers)) if draw(st.booleans()) else None
    return dataclasses.replace(base, interference=interference, racks=racks)


@st.composite
def racks_of(draw: st.DrawFn, num_servers: int) -> Racks:
    """Draw racks for some servers; a server may stand in none."""
    drawn = [draw(st.integers(-1, 1)) for _ in range(num_servers)]
    present = sorted(set(drawn) - {NO_RACK})
    uplinks = [draw(st.fractions(min_value=Fraction(1, 3), max_value=9, max_denominator=5)) for _ in present]
    return Racks.of([NO_RACK if rack == NO_RACK else present.index(rack) for rack in drawn], uplinks)


@st.composite
def any_schedules(draw: st.DrawFn, instance: JobsInstance) -> JobsSchedule:
    """Draw starts and placements, GPUs too where they are shared; capacities may be exceeded."""
    placements, gpus = [], []
    for job in range(instance.num_jobs):
        found = all_placements(instance, job)
        placed = found[draw(st.integers(0, len(found) - 1))]
        placements.append(placed)
        own = {}
        for server, count in enumerate(placed.sum(axis=0).tolist()):
            if count:
                own[server] = draw(st.permutations(range(int(instance.num_gpus_of[server]))))[:count]
        gpus.append(own)
    start = [release + draw(st.integers(0, 12)) for release in instance.release.tolist()]
    return JobsSchedule.from_placements(instance, start, placements, gpus if instance.share > 1 else None)


def plain_speed(instance: JobsInstance, schedule: JobsSchedule, job: int, running: set[int]) -> int:
    """Return the speed of a job beside others, all of `running`, in per mille, from the formula alone."""
    interference = instance.interference
    assert interference is not None
    matrices = {other: schedule.placement(instance, other) for other in running}
    asks = {other: plain_demand(instance, other, matrices[other]) for other in running}
    slow = []
    for server in np.flatnonzero(matrices[job].any(axis=0)).tolist():
        total = Fraction(1000)
        for z in range(len(interference.resources)):
            load = sum((asks[other][0][server][z] for other in running), Fraction(0))
            mine = asks[job][0][server][z]
            total += asks[job][1][z] * (max(Fraction(1000), load) / max(Fraction(1000), mine) - 1)
        slow.append(total)
    pairs = [1000]
    if instance.share > 1:
        own = set(schedule.gpus_of(instance, job))
        for other in running - {job}:
            if own & set(schedule.gpus_of(instance, other)):
                classes = interference.job_class
                pairs.append(int(interference.pair[classes[job], classes[other]]))
    return max(1, math.floor(Fraction(10**6) / max(slow) * min(pairs) / 1000))


def plain_demand(instance: JobsInstance, job: int, placed: np.ndarray) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return what a job asks of each server and resource, and its sensitivities, with plain fractions."""
    interference = instance.interference
    assert interference is not None
    sens = [Fraction(int(value)) for value in interference.sens[job]]
    own = [
        [Fraction(int(value)) * int(placed[:, server].sum()) for value in interference.use[job]]
        for server in range(instance.num_servers)
    ]
    if "nic" in interference.resources:
        z = interference.resources.index("nic")
        comp, comm = plain_alpha(instance, job, placed)
        for server in range(instance.num_servers):
            nic = Fraction(int(instance.nic_numerator[server]), int(instance.nic_denominator[server]))
            own[server][z] = 1000 * plain_bytes(instance, job, placed[:, server]) / (nic * (comp + comm))
        share, rest = 1000 * comm / (comp + comm), sum(sens)
        if share + rest > 1000:
            sens = [value * (1000 - share) / rest for value in sens]
        sens[z] = share
    return own, sens


def plain_alpha(instance: JobsInstance, job: int, placed: np.ndarray) -> tuple[int, Fraction]:
    """Return comp(x) and comm(x), uplinks of racks among them."""
    first, (num_stages, num_servers) = int(instance.stage_offsets[job]), placed.shape
    times = [
        int(instance.time_of[first + s, instance.server_kind[v]])
        for s in range(num_stages)
        for v in range(num_servers)
        if placed[s, v]
    ]
    comp = (int(instance.micro_batches[job]) + num_stages - 1) * max(times)
    links = [
        (placed[:, v], Fraction(int(instance.nic_numerator[v]), int(instance.nic_denominator[v])))
        for v in range(num_servers)
    ]
    if instance.racks is not None:
        for rack in range(instance.racks.num_racks):
            within = instance.racks.rack_of_server == rack
            links.append((placed[:, within].sum(axis=1), instance.racks.uplink_bytes_per_tick(rack)))
    return comp, max(plain_bytes(instance, job, column) / bandwidth for column, bandwidth in links)


def plain_bytes(instance: JobsInstance, job: int, column: np.ndarray) -> Fraction:
    """Return the bytes per iteration that leave where these replicas are, one number per stage."""
    first, total = int(instance.stage_offsets[job]), Fraction(0)
    k = [int(value) for value in instance.replicas[instance.stages_of(job)]]
    u = [Fraction(int(count), of) for count, of in zip(column, k, strict=True)]
    for s in range(len(k)):
        if 0 < u[s] < 1:
            total += Fraction(2 * (k[s] - 1), k[s]) * int(instance.parameter_bytes[first + s])
        if s + 1 < len(k):
            total += int(instance.activation_bytes[first + s]) * (u[s] + u[s + 1] - 2 * u[s] * u[s + 1])
    return total


def plain_completions(instance: JobsInstance, schedule: JobsSchedule) -> list[int]:
    """Return the completion times of a schedule, tick by tick."""
    left = {}
    for job in range(instance.num_jobs):
        comp, comm = plain_alpha(instance, job, schedule.placement(instance, job))
        left[job] = 1000 * math.ceil(int(instance.iterations[job]) * (comp + comm))
    ends: dict[int, int] = {}
    known: dict[tuple[int, frozenset[int]], int] = {}
    tick = 0
    while len(ends) < instance.num_jobs:
        running = {job for job in range(instance.num_jobs) if schedule.start[job] <= tick and job not in ends}
        for job in running:
            key = (job, frozenset(running))
            if key not in known:
                known[key] = plain_speed(instance, schedule, job, running)
            left[job] -= known[key]
        tick += 1
        ends |= {job: tick for job in running if left[job] <= 0}
    return [ends[job] for job in range(instance.num_jobs)]
