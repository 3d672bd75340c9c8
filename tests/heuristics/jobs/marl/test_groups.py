"""Tests the candidate placements by hand."""

from __future__ import annotations

import numpy as np

from heuristics.jobs.marl.groups import MAX_GROUPS, CandidateGroups
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.placements.cluster_state import ClusterState
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.placements.running_jobs import InterferingJobs, running_jobs
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.servers import JobsServer


def candidates(instance: JobsInstance, num_agents: int = 1) -> tuple[CandidateGroups, ClusterState]:
    """Return groups and the cluster that they look at."""
    running = running_jobs(instance)
    cluster = ClusterState(JobShapes(instance), HeavyEdge(instance), running)
    together = running.together if isinstance(running, InterferingJobs) else None
    return CandidateGroups(Partitions(instance, num_agents), cluster, together), cluster


def occupy(cluster: ClusterState, job: int, server: int) -> None:
    """Start a job on one server."""
    free = np.where(np.arange(len(cluster.free)) == server, cluster.free, 0)
    found = HeavyEdge(cluster.shapes.instance).place(job, free)
    assert found is not None
    cluster.start(job, found, 0)


def test_order_of_groups() -> None:
    """Tests all six rules on servers F8, S2, S4, F2, S5 with jobs of 2, 1, 1 and 4 GPUs on all but the first.

    A job of one GPU, faster on S. Free: 8, 1, 3, 1, 1. Heavy-Edge: kind S, one server, the one with the smallest free:
    server 1. On F alone: server 3. Best fit: server 1 again. Busy: 0, 1/2, 1/4, 1/2, 4/5: server 0. Load: 0, 300, 50,
    50 and 400: server 0 again.
    """
    servers = [
        JobsServer(kind=kind, gpus=gpus, nic_bytes_per_tick=1)
        for kind, gpus in (("F", 8), ("S", 2), ("S", 4), ("F", 2), ("S", 5))
    ]
    gangs = (1, 1, 1, 4, 1, 2)
    jobs = [Job(stages=[Stage(times={"F": 3, "S": 2}, replicas=gang)]) for gang in gangs]
    use = np.array([[300], [50], [50], [100], [10], [10]])
    slow = Interference(resources=("cpu",), use=use, sens=np.full((6, 1), 500))
    instance = JobsInstance.from_parts(servers, jobs, interference=slow)
    groups, cluster = candidates(instance)
    for job, server in enumerate((1, 2, 3, 4)):
        occupy(cluster, job, server)
    assert [group.placed for group in groups.of(4, 0)] == [((1, 1),), ((3, 1),), ((0, 1),)]
    # A job of two: on S server 2 alone; on F server 0; best fit server 2, which is known; load balance server 0.
    assert [group.placed for group in groups.of(5, 0)] == [((2, 2),), ((0, 2),)]


def test_several_servers_and_loads() -> None:
    """Tests a job that needs two servers of three GPUs: no best fit, and busy GPUs and loads that disagree."""
    servers = [JobsServer(kind="F", gpus=3, nic_bytes_per_tick=1)] * 4
    jobs = [Job(stages=[Stage(times=2, replicas=gang)]) for gang in (2, 1, 1, 4)]
    slow = Interference(resources=("cpu",), use=np.array([[10], [400], [700], [0]]), sens=np.full((4, 1), 1000))
    instance = JobsInstance.from_parts(servers, jobs, interference=slow)
    groups, cluster = candidates(instance)
    for job in range(3):
        occupy(cluster, job, job)
    # Free 1, 2, 2, 3. Heavy-Edge: server 3, then the smallest free that suffices: 0. Busy: 3, then 1. Load: 3, then 0.
    found = groups.of(3, 0)
    assert [group.placed for group in found] == [((0, 1), (3, 3)), ((1, 1), (3, 3))]
    assert all(group.demand is not None and (group.speed, group.loss) == (1000, 0) for group in found)


def test_groups_tell_what_they_would_do() -> None:
    """Tests the example of the reference: beside job 0, job 1 runs at 769 and takes 231 from it."""
    server = JobsServer(kind="F", gpus=4, nic_bytes_per_tick=1)
    jobs = [Job(stages=[Stage(times=ticks, replicas=2)]) for ticks in (10, 5)]
    slow = Interference(resources=("cpu",), use=np.full((2, 1), 400), sens=np.full((2, 1), 500))
    groups, cluster = candidates(JobsInstance.from_parts([server], jobs, interference=slow))
    alone = groups.of(1, 0)
    assert [(group.speed, group.loss) for group in alone] == [(1000, 0)]
    occupy(cluster, 0, 0)
    assert groups.of(1, 0) is alone  # nobody has said that anything changed
    groups.forget(0)
    assert [(group.placed, group.speed, group.loss) for group in groups.of(1, 0)] == [(((0, 2),), 769, 231)]


def test_no_more_than_eight_and_only_own_servers() -> None:
    """Tests nine kinds, and that an agent looks at nobody else's servers."""
    servers = [JobsServer(kind=f"k{number}", gpus=1, nic_bytes_per_tick=1) for number in range(10)]
    times: dict[str, int | None] = {f"k{number}": 10 - number for number in range(10)}
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times=times)])])
    groups, _ = candidates(instance)
    found = [group.placed[0][0] for group in groups.of(0, 0)]
    assert found == [9, 8, 7, 6, 5, 4, 3, 2]
    assert len(found) == MAX_GROUPS
    groups, cluster = candidates(instance, 5)
    assert [group.placed for group in groups.of(0, 1)] == [((3, 1),), ((2, 1),)]
    occupy(cluster, 0, 3)
    groups.forget(1)
    assert [group.placed for group in groups.of(0, 1)] == [((2, 1),)]
