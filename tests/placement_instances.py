"""Jobs and free GPUs small enough to enumerate all placements, and the enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.replicas_fit import replicas_fit
from instances.jobs.servers import JobsServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


@st.composite
def jobs_with_free_gpus(
    draw: st.DrawFn, *, max_servers: int = 4, max_gpus: int = 3, max_kinds: int = 3, max_stages: int = 3
) -> tuple[JobsInstance, NDArray[np.int64]]:
    """Draw an instance of one job, with forbidden kinds, equal weights and odd bandwidths, and free GPUs."""
    kinds = "FSX"[: draw(st.integers(1, max_kinds))]
    servers = [
        JobsServer(
            kind=draw(st.sampled_from(kinds)),
            gpus=draw(st.integers(1, max_gpus)),
            nic_bytes_per_tick=draw(st.sampled_from([Fraction(1), Fraction(10), Fraction(7, 3), Fraction(1, 2)])),
        )
        for _ in range(draw(st.integers(1, max_servers)))
    ]
    capacity = [sum(server.gpus for server in servers if server.kind == kind) for kind in kinds]
    num_stages = draw(st.integers(1, min(max_stages, sum(capacity))))
    ticks = st.one_of(st.integers(1, 6), st.none())
    present = [kind for kind, gpus in zip(kinds, capacity, strict=True) if gpus > 0]
    rows, replicas = [], []
    for stage in range(num_stages):
        rows.append(draw(st.lists(ticks, min_size=len(present), max_size=len(present)).filter(any)))
        replicas.append(draw(st.integers(1, min(4, sum(capacity) - sum(replicas) - (num_stages - stage - 1)))))
    room = [gpus for gpus in capacity if gpus > 0]
    if not replicas_fit(replicas, [[entry is not None for entry in row] for row in rows], room):
        rows = [[entry or 3 for entry in row] for row in rows]
    sizes = st.sampled_from([0, 1, 5, 5, 20, 33])
    stages = [
        Stage(
            times=dict(zip(present, row, strict=True)),
            replicas=count,
            activation_bytes=draw(sizes) if stage + 1 < num_stages else 0,
            parameter_bytes=draw(sizes),
        )
        for stage, (row, count) in enumerate(zip(rows, replicas, strict=True))
    ]
    instance = JobsInstance.from_parts(servers, [Job(stages=stages, micro_batches=draw(st.integers(1, 3)))])
    free = [draw(st.integers(0, server.gpus)) for server in servers]
    return instance, np.array(free if draw(st.booleans()) else instance.num_gpus_of, dtype=np.int64)


def all_placements(instance: JobsInstance, job: int, free: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """List every placement of a job on free GPUs, each of shape (stages of the job, servers)."""
    rows = instance.stages_of(job)
    replicas = instance.replicas[rows].tolist()
    can_run = (instance.time_of[rows] > 0)[:, instance.server_kind].tolist()

    def extend(stage: int, room: Sequence[int], placed: list[tuple[int, ...]]) -> Iterator[NDArray[np.int64]]:
        if stage == len(replicas):
            yield np.array(placed, dtype=np.int64)
            return
        most = [gpus if is_allowed else 0 for gpus, is_allowed in zip(room, can_run[stage], strict=True)]
        for row in _rows(replicas[stage], most):
            yield from extend(stage + 1, [a - b for a, b in zip(room, row, strict=True)], [*placed, row])

    yield from extend(0, free.tolist(), [])


def _rows(count: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """List the ways to split replicas of one stage."""
    ranges = [range(min(count, limit) + 1) for limit in most]
    return (row for row in itertools.product(*ranges) if sum(row) == count)


def worked_example() -> JobsInstance:
    """Return section 9 of the reference: three jobs on a fast and a slow server of two GPUs each."""
    servers = [JobsServer(kind=kind, gpus=2, nic_bytes_per_tick=10) for kind in "FS"]
    first = Stage(times={"F": 2, "S": 5}, replicas=2, parameter_bytes=50)
    second = Stage(times={"F": 2, "S": 3}, replicas=2, activation_bytes=20, parameter_bytes=10)
    third = Stage(times={"F": 4, "S": 6})
    fourth = Stage(times={"F": 1, "S": 2}, parameter_bytes=5)
    jobs = [
        Job(release=0, iterations=3, micro_batches=4, stages=[first]),
        Job(release=2, iterations=2, micro_batches=2, stages=[second, third]),
        Job(release=4, iterations=5, micro_batches=2, stages=[fourth]),
    ]
    return JobsInstance.from_parts(servers, jobs, name="worked example")
