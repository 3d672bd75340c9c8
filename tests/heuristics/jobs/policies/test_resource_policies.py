"""Tests that the rivals with gang rules do what their rules say: by hand, and against a transcription."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.placements.cluster_state import ClusterState
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_variants import LoadBalance
from heuristics.jobs.placements.registry import placer_named
from heuristics.jobs.placements.running_jobs import running_jobs
from heuristics.jobs.policies.key_policies import (
    bin_packing,
    fifo,
    least_interference,
    load_balancing,
    srtf,
    wcs_subtime,
)
from heuristics.jobs.policies.resource_policies import drf, tetris
from heuristics.jobs.policies.run_policy import run_policy
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.objective import JobsObjective, job_completion_times
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.plain_rivals import RULES, PlainRivals
from tests.heuristics.jobs.policies.called import called
from tests.interference_strategies import interfering_instances, racks_of
from tests.jobs_strategies import jobs_instances

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.jobs.policy import Policy
    from instances.jobs.schedule import JobsSchedule


TOTAL = JobsObjective.TOTAL_COMPLETION

POLICIES: dict[str, tuple[Callable[[JobsInstance], Policy], str]] = {
    "fifo": (fifo.make, "load-balance"),
    "srtf": (lambda instance: srtf.make(instance, head="blocks"), "load-balance"),
    "load-balancing": (wcs_subtime.make, "load-balance"),
    "bin-packing": (wcs_subtime.make, "best-fit"),
    "least-interference": (wcs_subtime.make, "least-load"),
    "drf": (drf.make, "load-balance"),
    "tetris": (tetris.make, "free-descending"),
}
EITHER = st.one_of(jobs_instances(max_jobs=6), interfering_instances(max_jobs=6))


def a_job(ticks: int, gpus: int = 1, release: int = 0, user: str | None = None, kind: str = "F") -> Job:
    """Return a job of one stage that sends nothing."""
    return Job(stages=[Stage(times={kind: ticks}, replicas=gpus)], release=release, user=user)


def on_servers(gpus: tuple[int, ...], jobs: list[Job], use: list[int] | None = None) -> JobsInstance:
    """Return jobs on servers of one kind; `use` of cpu per replica slows nobody down."""
    interference = None
    if use is not None:
        column = np.array(use).reshape(-1, 1)
        interference = Interference(resources=("cpu",), use=column, sens=np.zeros_like(column))
    servers = [JobsServer(kind="F", gpus=number, nic_bytes_per_tick=10) for number in gpus]
    return JobsInstance.from_parts(servers, jobs, interference=interference)


def run(function: Callable[..., JobsSchedule | None], instance: JobsInstance, **parameters: str) -> JobsSchedule:
    """Return the schedule of a policy, which verifies."""
    schedule = called(function, instance, TOTAL, **parameters)
    assert verify_jobs_schedule(instance, schedule) == []
    return schedule


def replicas(instance: JobsInstance, schedule: JobsSchedule) -> list[list[int]]:
    """Return the replicas of every job by server."""
    return [schedule.placement(instance, job).sum(axis=0).tolist() for job in range(instance.num_jobs)]


@settings(max_examples=200, deadline=None)
@given(instance=EITHER, rule=st.sampled_from(RULES))
def test_transcription(instance: JobsInstance, rule: str) -> None:
    """Tests starts, placements, named GPUs and completions against the rule tick by tick, with interference or not."""
    make, placement = POLICIES[rule]
    done = run_policy(make(instance), np.random.default_rng(0), placement=placement)
    assert done is not None
    assert verify_jobs_schedule(instance, done.schedule) == []
    assert done.completion.tolist() == job_completion_times(instance, done.schedule).tolist()
    plain, jobs = PlainRivals(instance).run(rule), range(instance.num_jobs)
    assert done.schedule.start.tolist() == [plain.start[job] for job in jobs]
    assert done.completion.tolist() == [plain.end[job] for job in jobs]
    for job in jobs:
        assert done.schedule.placement(instance, job).tolist() == plain.placed[job].tolist()
        if instance.share > 1:
            assert sorted(done.schedule.gpus_of(instance, job)) == sorted(plain.gpus[job])


@settings(max_examples=40, deadline=None)
@given(instance=EITHER)
def test_drf_without_users_is_fifo(instance: JobsInstance) -> None:
    """Tests the derived claim that without users all shares of waiting jobs are 0."""
    alike = dataclasses.replace(instance, user=(None,) * instance.num_jobs)
    first, second = run(drf, alike), run(fifo, alike, placement="load-balance")
    assert first.start.tolist() == second.start.tolist()
    assert replicas(alike, first) == replicas(alike, second)


def test_load_balancing_and_bin_packing_by_hand() -> None:
    """Tests where jobs of 1, 1, 1, 3 and 5 GPUs go on servers of 4 and 2.

    LOAD: 0 and 0, then 1/4 and 0, then 1/4 and 1/2, then a tie of 1/2, where 2 GPUs on the first server are too few.
    Best fit: the small server twice, then the large one twice; nobody hosts 5.
    """
    jobs = [a_job(10, gpus, release) for release, gpus in enumerate((1, 1, 1, 3))] + [a_job(10, 5, 20)]
    instance = on_servers((4, 2), jobs)
    balanced, packed = run(load_balancing, instance), run(bin_packing, instance)
    assert replicas(instance, balanced) == [[1, 0], [0, 1], [1, 0], [2, 1], [4, 1]]
    assert replicas(instance, packed) == [[0, 1], [0, 1], [1, 0], [3, 0], [4, 1]]
    assert balanced.start.tolist() == packed.start.tolist() == [0, 1, 2, 3, 20]


def test_who_blocks_and_who_skips() -> None:
    """Tests the starts of 3, 2, 1, 1 GPUs for 5, 2, 1, 3 ticks on 4 GPUs, all but the first arriving at 1.

    Beside the first there is one GPU: FIFO blocks at the second job; SRTF starts the third first, then blocks; load
    balancing skips the second for as long as it takes.
    """
    jobs = [a_job(5, 3), a_job(2, 2, 1), a_job(1, 1, 1), a_job(3, 1, 1)]
    instance = on_servers((4,), jobs)
    assert run(fifo, instance, placement="load-balance").start.tolist() == [0, 5, 5, 5]
    assert run(srtf, instance, head="blocks", placement="load-balance").start.tolist() == [0, 5, 1, 5]
    assert run(load_balancing, instance).start.tolist() == [0, 5, 1, 2]


def test_least_interference_by_hand() -> None:
    """Tests that loads decide, 800 against 100 and 200, and not the number of busy GPUs; nothing loads the base."""
    jobs = [a_job(10, 1, release) for release in range(4)]
    instance = on_servers((4, 4), jobs, use=[800, 100, 100, 100])
    assert replicas(instance, run(least_interference, instance)) == [[1, 0], [0, 1], [0, 1], [0, 1]]
    assert replicas(instance, run(load_balancing, instance)) == [[1, 0], [0, 1], [1, 0], [0, 1]]
    base = dataclasses.replace(instance, interference=None)
    assert replicas(base, run(least_interference, base)) == [[1, 0]] * 4


def test_drf_by_hand() -> None:
    """Tests that user v goes second on 3 GPUs, for u holds 2/3 of them by then, and that completions lower shares.

    At 10 u holds nothing and v 1/3. Job 1 starts, which makes it a tie: the earlier arrival goes first. If that is u's,
    it starts too, and v's job of 3 GPUs at 20. If both arrive at 5 and v's has the lower index, it blocks u's.
    """
    jobs = [a_job(10, 2, 0, "u"), a_job(10, 1, 0, "u"), a_job(12, 1, 0, "v")]
    earlier = on_servers((3,), [*jobs, a_job(1, 1, 4, "u"), a_job(10, 3, 5, "v")])
    assert run(drf, earlier).start.tolist() == [0, 10, 0, 10, 20]
    assert run(fifo, earlier, placement="load-balance").start.tolist() == [0, 0, 10, 10, 22]
    later = on_servers((3,), [*jobs, a_job(10, 3, 5, "v"), a_job(1, 1, 5, "u")])
    assert run(drf, later).start.tolist() == [0, 10, 0, 20, 30]


def test_drf_looks_at_the_dominant_resource() -> None:
    """Tests that u, who holds 1/6 of the GPUs but 9/10 of the cpu, waits for v with 1/3 and 1/5."""
    jobs = [a_job(10, 1, 0, "u"), a_job(10, 2, 0, "v"), a_job(10, 2, 0, "u"), a_job(10, 2, 0, "v")]
    busy = on_servers((6,), jobs, use=[900, 100, 0, 0])
    assert run(drf, busy).start.tolist() == [0, 0, 10, 0]
    assert run(drf, dataclasses.replace(busy, interference=None)).start.tolist() == [0, 0, 0, 10]


def test_tetris_score_by_hand() -> None:
    """Tests both terms on servers of 4 and 2 GPUs, of which 3 on the first are busy and ask for 300 of its cpu.

    Job 1, 1 GPU on the second server: 2/2 1/2 + 200/1000 = 7/10. Job 2, 2 and 1: 1 + 1/16 + 200/1000 + 7/10 100/1000 =
    533/400. c = (813/800) / (1/3), the scores are 1.208125 and 2.856875: job 2 goes first and takes all.
    """
    instance = on_servers((4, 2), [a_job(10, 3), a_job(10, 1, 1), a_job(10, 3, 1)], use=[100, 200, 100])
    policy = tetris.make(instance)
    placer = placer_named("free-descending", instance, np.random.default_rng(0))
    cluster = ClusterState(policy.shapes, placer, running_jobs(instance))
    policy.begin(cluster)
    policy.arrive(0, 0, 0)
    assert policy.dispatch(0) == [0]
    found = [cluster.place(job) for job in (1, 2)]
    assert [policy.alignment(job, x) for job, x in zip((1, 2), found, strict=True) if x is not None] == [
        Fraction(7, 10),
        Fraction(533, 400),
    ]
    schedule = run(tetris, instance)
    assert schedule.start.tolist() == [0, 10, 1]
    assert replicas(instance, schedule) == [[3, 0], [1, 0], [1, 2]]


def test_tetris_weighs_size() -> None:
    """Tests c: 2 GPUs that fit with 1 and 3 that fit with 3/4 score 1.7 and 1.8, as c = (7/8) / (5/12)."""
    servers = [JobsServer(kind=kind, gpus=gpus, nic_bytes_per_tick=1) for kind, gpus in (("F", 4), ("S", 2))]
    instance = JobsInstance.from_parts(servers, [a_job(1, 2, kind="S"), a_job(1, 3)])
    policy = tetris.make(instance)
    placer = placer_named("free-descending", instance, np.random.default_rng(0))
    policy.begin(ClusterState(policy.shapes, placer, running_jobs(instance)))
    for job in range(2):
        policy.arrive(job, 0, 0)
    assert policy.dispatch(0) == [1, 0]


@settings(max_examples=60, deadline=None)
@given(base=jobs_instances(max_servers=2), data=st.data())
def test_like_servers_share_placements(base: JobsInstance, data: st.DataObject) -> None:
    """Tests on three copies of each server, on racks or not, that what is remembered is what Heavy-Edge answers."""
    copies = [v for v in range(base.num_servers) for _ in range(3)]
    names = {"server_kind": copies, "num_gpus_of": copies, "nic_numerator": copies, "nic_denominator": copies}
    instance = dataclasses.replace(
        base,
        server_names=tuple(f"s{v}" for v in range(len(copies))),
        racks=data.draw(st.one_of(st.none(), racks_of(len(copies)))),
        **{name: getattr(base, name)[positions] for name, positions in names.items()},
    )
    rule, heavy_edge = LoadBalance(instance), HeavyEdge(instance)
    for _ in range(8):
        job = data.draw(st.integers(0, instance.num_jobs - 1))
        free = np.array([data.draw(st.integers(0, gpus)) for gpus in instance.num_gpus_of.tolist()])
        order = data.draw(st.permutations(range(len(copies))))
        few = np.array(order[: data.draw(st.integers(1, len(copies)))])
        masked = np.zeros_like(free)
        masked[few] = free[few]
        found, asked = rule.place_within(job, free, few), heavy_edge.place(job, masked)
        assert (found is None) == (asked is None)
        if found is not None and asked is not None:
            shape = instance.num_stages_of(job), instance.num_servers
            assert found.matrix(*shape).tolist() == asked.matrix(*shape).tolist()
            assert found.server.tolist() == asked.server.tolist()
            assert (found.comp, found.comm) == (asked.comp, asked.comm)


@pytest.mark.parametrize("name", ["load-balance", "free-descending", "best-fit", "least-load"])
def test_many_sets_of_kinds(name: str) -> None:
    """Tests jobs whose 127 unions of sets of kinds exceed the memory made for them first, and free GPUs of no use."""
    kinds = [f"K{number}" for number in range(7)]
    servers = [JobsServer(kind=kind, gpus=2, nic_bytes_per_tick=1) for kind in kinds]
    job = Job(stages=[Stage(times={kind: 1}) for kind in kinds])
    instance = JobsInstance.from_parts(servers, [job])
    rule = placer_named(name, instance, np.random.default_rng(0))
    found = rule.place(0, instance.num_gpus_of)
    assert found is not None
    assert found.server.tolist() == found.stage.tolist() == list(range(7))
    assert rule.place(0, np.array([2, 2, 2, 2, 2, 2, 0])) is None
