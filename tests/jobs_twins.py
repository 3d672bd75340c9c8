"""Tiny jobs instances with what symmetry is about: like servers and like jobs, releases that collide."""

from __future__ import annotations

from hypothesis import strategies as st

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer


@st.composite
def twin_instances(draw: st.DrawFn, *, max_jobs: int = 4) -> JobsInstance:
    """Draw two or three servers, at least two of them alike, and jobs some of which are equal."""
    servers = [JobsServer(kind="F", gpus=2, nic_bytes_per_tick=4) for _ in range(2)]
    if draw(st.booleans()):
        servers.append(draw(st.sampled_from([servers[0], JobsServer(kind="S", gpus=1, nic_bytes_per_tick=4)])))
    makes = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 9)), min_size=1, max_size=2))
    jobs = []
    for _ in range(draw(st.integers(1, max_jobs))):
        gang, ticks, data = draw(st.sampled_from(makes))
        jobs.append(
            Job(
                stages=[Stage(times=ticks, replicas=gang, parameter_bytes=data)],
                release=draw(st.sampled_from([0, 0, 2])),
                weight=draw(st.sampled_from([1, 1, 2])),
                iterations=2,
            )
        )
    return JobsInstance.from_parts(servers, jobs)
