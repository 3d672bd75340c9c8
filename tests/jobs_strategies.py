"""Hypothesis strategies for jobs instances and placements, and the worked example."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer

Placement = NDArray[np.int64]


def worked_example() -> JobsInstance:
    """Return the example of three jobs on two servers whose numbers are known by hand: optimum 98, bound 66."""
    fast = JobsServer(kind="F", gpus=2, nic_bytes_per_tick=10)
    slow = JobsServer(kind="S", gpus=2, nic_bytes_per_tick=10)
    jobs = [
        Job(stages=[Stage(times={"F": 2, "S": 5}, replicas=2, parameter_bytes=50)], micro_batches=4, iterations=3),
        Job(
            release=2,
            stages=[
                Stage(times={"F": 2, "S": 3}, replicas=2, activation_bytes=20, parameter_bytes=10),
                Stage(times={"F": 4, "S": 6}),
            ],
            micro_batches=2,
            iterations=2,
        ),
        Job(release=4, stages=[Stage(times={"F": 1, "S": 2}, parameter_bytes=5)], micro_batches=2, iterations=5),
    ]
    return JobsInstance.from_parts([fast, slow], jobs, name="worked")


@st.composite
def jobs_instances(
    draw: st.DrawFn,
    *,
    max_jobs: int = 4,
    max_servers: int = 3,
    max_gpus: int = 3,
    max_stages: int = 3,
    kinds: tuple[str, ...] = ("F", "S"),
) -> JobsInstance:
    """Draw small instances with everything the jobs problem has: kinds, forbidden ones, odd bandwidths, weights."""
    bandwidths = st.fractions(min_value=Fraction(1, 3), max_value=20, max_denominator=7)
    servers = [
        JobsServer(
            kind=draw(st.sampled_from(kinds)), gpus=draw(st.integers(1, max_gpus)), nic_bytes_per_tick=draw(bandwidths)
        )
        for _ in range(draw(st.integers(1, max_servers)))
    ]
    present = list(dict.fromkeys(server.kind for server in servers))
    everywhere = sum(server.gpus for server in servers)
    jobs = []
    for _ in range(draw(st.integers(1, max_jobs))):
        gang = draw(st.integers(1, everywhere))
        num_stages = draw(st.integers(1, min(max_stages, gang)))
        cuts = (
            sorted(draw(st.sets(st.integers(1, gang - 1), min_size=num_stages - 1, max_size=num_stages - 1)))
            if (num_stages > 1)
            else []
        )
        replicas = [after - before for before, after in itertools.pairwise([0, *cuts, gang])]
        fits_all = {kind: sum(s.gpus for s in servers if s.kind == kind) >= gang for kind in present}
        droppable = next((kind for kind in present if any(fits_all[o] for o in present if o != kind)), None)
        stages = []
        for number, count in enumerate(replicas):
            times: dict[str, int | None] = {kind: draw(st.integers(1, 6)) for kind in present}
            if droppable is not None and draw(st.booleans()):
                times[droppable] = None
            is_last = number == num_stages - 1
            stages.append(
                Stage(
                    times=times,
                    replicas=count,
                    activation_bytes=0 if is_last else draw(st.integers(0, 30)),
                    parameter_bytes=draw(st.integers(0, 30)),
                )
            )
        jobs.append(
            Job(
                stages=stages,
                iterations=draw(st.integers(1, 5)),
                release=draw(st.integers(0, 20)),
                weight=draw(st.integers(1, 4)),
                micro_batches=draw(st.integers(1, 4)),
                user=draw(st.sampled_from([None, "u", "v"])),
                group=draw(st.sampled_from([None, "g"])),
                model_tag=draw(st.sampled_from([None, "net"])),
            )
        )
    return JobsInstance.from_parts(servers, jobs)


@st.composite
def placements(draw: st.DrawFn, instance: JobsInstance, job: int) -> Placement:
    """Draw any placement of a job on the empty servers: replicas on free GPUs of allowed kinds in a random order."""
    found = all_placements(instance, job)
    return found[draw(st.integers(0, len(found) - 1))]


def all_placements(instance: JobsInstance, job: int) -> list[Placement]:
    """Return every placement of a job on the empty servers, by plain enumeration."""
    rows = instance.stages_of(job)
    free = instance.num_gpus_of.tolist()
    options = []
    for stage in range(rows.start, rows.stop):
        room = [
            free[v] if instance.time_of[stage, instance.server_kind[v]] > 0 else 0 for v in range(instance.num_servers)
        ]
        k = int(instance.replicas[stage])
        options.append([c for c in itertools.product(*(range(min(k, r) + 1) for r in room)) if sum(c) == k])
    return [
        np.array(rows_chosen)
        for rows_chosen in itertools.product(*options)
        if all(sum(column) <= free[v] for v, column in enumerate(zip(*rows_chosen, strict=True)))
    ]
