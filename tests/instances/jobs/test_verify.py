"""Tests of the judge of schedules of jobs: every kind of violation, and none where there is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.objective import JobsObjective, job_completion_times, jobs_objective_value
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import NO_RACK, JobsServer, Racks
from instances.jobs.verify import (
    BadReplicaCount,
    CapacityExceeded,
    JobsViolation,
    KindNotAllowed,
    OtherInstance,
    StartBeforeRelease,
    UnknownServer,
    WrongNumberOfJobs,
    WrongNumberOfStages,
    WrongReplicas,
    replayed_ends,
    verified_parts,
    verify_jobs_schedule,
)
from tests.interference_strategies import plain_alpha, racks_of, two_jobs
from tests.jobs_strategies import Placement, jobs_instances, placements, worked_example

BEST = (np.array([[2, 0]]), np.array([[0, 2], [1, 0]]), np.array([[1, 0]]))


def _violations(start: list[int], *matrices: Placement) -> list[JobsViolation]:
    """Verify a schedule of the worked example."""
    instance = worked_example()
    return verify_jobs_schedule(instance, JobsSchedule.from_placements(instance, start, matrices))


def test_the_optimum_of_the_worked_example() -> None:
    """Tests that the optimal schedule verifies and has the value computed by hand."""
    instance = worked_example()
    schedule = JobsSchedule.from_placements(instance, [30, 2, 4], BEST)
    assert verify_jobs_schedule(instance, schedule) == []
    assert job_completion_times(instance, schedule).tolist() == [54, 30, 14]
    assert jobs_objective_value(instance, schedule, JobsObjective.TOTAL_COMPLETION) == 98
    weighted = replace(instance, weight=[3, 1, 2])
    moved = replace(schedule, instance_sha256=weighted.sha256)
    assert jobs_objective_value(weighted, moved, JobsObjective.WEIGHTED_COMPLETION) == 3 * 54 + 30 + 2 * 14
    assert jobs_objective_value(weighted, moved, JobsObjective.TOTAL_COMPLETION) == 98
    assert jobs_objective_value(weighted, moved, "total_completion") == 98  # a name means the same


def test_start_before_release() -> None:
    """Tests that a job that starts before it arrives is found, a negative start too."""
    assert _violations([60, 30, 3], *BEST) == [StartBeforeRelease(job=2, ticks=1)]
    assert _violations([-5, 24, 100], *BEST) == [StartBeforeRelease(job=0, ticks=5)]


def test_capacity_exceeded_to_the_tick() -> None:
    """Tests that one tick too early is one tick of one GPU too many, with the jobs that are there."""
    assert _violations([29, 2, 4], *BEST) == [
        CapacityExceeded(server=0, begin=29, end=30, gpus=3, capacity=2, jobs=(0, 1))
    ]
    assert _violations([30, 2, 4], *BEST) == []


def test_every_stretch_over_capacity_is_found() -> None:
    """Tests that two stretches are two violations, each with its peak: job 0 in 4-28, job 1 in 2-30, job 2 in 4-14."""
    found = _violations([4, 2, 4], *BEST)
    assert found == [CapacityExceeded(server=0, begin=4, end=28, gpus=4, capacity=2, jobs=(0, 1, 2))]
    split = _violations([0, 23, 4], BEST[0], BEST[1], np.array([[1, 0]]))
    assert split == [
        CapacityExceeded(server=0, begin=4, end=14, gpus=3, capacity=2, jobs=(0, 2)),
        CapacityExceeded(server=0, begin=23, end=24, gpus=3, capacity=2, jobs=(0, 1)),
    ]


def test_capacity_counts_all_stages_of_a_job() -> None:
    """Tests that a job alone can hold more GPUs of a server than there are."""
    found = _violations([60, 2, 100], BEST[0], np.array([[2, 0], [1, 0]]), BEST[2])
    assert found == [CapacityExceeded(server=0, begin=2, end=26, gpus=3, capacity=2, jobs=(1,))]


@pytest.mark.parametrize(("placed", "total"), [([[1, 0]], 1), ([[2, 1]], 3), ([[0, 0]], 0)])
def test_wrong_replicas(placed: list[list[int]], total: int) -> None:
    """Tests that a stage with more or fewer replicas than it asks for is found."""
    found = _violations([30, 2, 4], np.array(placed), *BEST[1:])
    assert found == [WrongReplicas(job=0, stage=0, expected=2, placed=total)]


def test_negative_replicas() -> None:
    """Tests that a negative number of replicas is found although the sum is right."""
    found = _violations([30, 2, 4], np.array([[3, -1]]), *BEST[1:])
    assert found == [BadReplicaCount(job=0, stage=0, server=1, replicas=-1)]


def test_zero_replicas() -> None:
    """Tests that an entry without replicas is found."""
    instance = worked_example()
    schedule = JobsSchedule.from_placements(instance, [30, 2, 4], BEST)
    padded = replace(schedule, entry_offsets=[0, 2, 3, 4, 5], entry_server=[0, 1, 1, 0, 0], entry_count=[2, 0, 2, 1, 1])
    assert verify_jobs_schedule(instance, padded) == [BadReplicaCount(job=0, stage=0, server=1, replicas=0)]


@pytest.mark.parametrize("server", [2, -1])
def test_unknown_server(server: int) -> None:
    """Tests that a server beyond the instance is found."""
    instance = worked_example()
    schedule = replace(JobsSchedule.from_placements(instance, [30, 2, 4], BEST), entry_server=[server, 1, 0, 0])
    found = verify_jobs_schedule(instance, schedule)
    assert found == [UnknownServer(job=0, stage=0, server=server, num_servers=2)]


def test_kind_not_allowed() -> None:
    """Tests that a replica on a kind that may not run it is found, and early starts beside it."""
    servers = [JobsServer(kind=kind, gpus=1, nic_bytes_per_tick=1) for kind in "FS"]
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times={"S": 1})], release=3)])
    schedule = JobsSchedule.from_placements(instance, [1], [np.array([[1, 0]])])
    assert verify_jobs_schedule(instance, schedule) == [
        KindNotAllowed(job=0, stage=0, server=0, kind="F"),
        StartBeforeRelease(job=0, ticks=2),
    ]


def test_other_instances_and_shapes() -> None:
    """Tests that a schedule of another instance, or with other numbers of jobs or stages, is told as such."""
    instance = worked_example()
    schedule = JobsSchedule.from_placements(instance, [30, 2, 4], BEST)
    other = replace(instance, name="other")
    assert verify_jobs_schedule(other, schedule) == [OtherInstance(expected=other.sha256, found=instance.sha256)]
    assert verify_jobs_schedule(instance, replace(schedule, start=[1])) == [WrongNumberOfJobs(expected=3, scheduled=1)]
    short = replace(schedule, entry_offsets=[0, 4], entry_server=[0, 1, 2, 3])
    assert verify_jobs_schedule(instance, short) == [WrongNumberOfStages(expected=4, scheduled=1)]


def test_violations_describe_themselves() -> None:
    """Tests that every kind of violation is one line with its place."""
    found: list[JobsViolation] = [
        OtherInstance(expected="a" * 64, found="b" * 64),
        WrongNumberOfJobs(expected=1, scheduled=2),
        WrongNumberOfStages(expected=1, scheduled=2),
        UnknownServer(job=1, stage=2, server=3, num_servers=3),
        BadReplicaCount(job=1, stage=2, server=3, replicas=0),
        WrongReplicas(job=1, stage=2, expected=3, placed=4),
        KindNotAllowed(job=1, stage=2, server=3, kind="F"),
        StartBeforeRelease(job=1, ticks=2),
        CapacityExceeded(server=1, begin=2, end=5, gpus=4, capacity=3, jobs=(0, 2)),
    ]
    assert [str(violation) for violation in found] == [
        "instance_sha256: expected aaaaaaaaaaaaaaaa..., got bbbbbbbbbbbbbbbb...",
        "jobs: expected 1 jobs, got 2.",
        "jobs[].stages: expected 1 stages of all jobs together, got 2.",
        "jobs[1].stages[2]: expected servers in 0..2, got 3.",
        "jobs[1].stages[2]: expected at least 1 replica on server 3, got 0.",
        "jobs[1].stages[2]: expected 3 replicas, got 4.",
        "jobs[1].stages[2]: expected an allowed kind of GPU, got 'F' of server 3.",
        "jobs[1].start: 2 ticks before the release of the job.",
        "servers[1]: expected at most 3 GPUs in use, got up to 4 from tick 2 to 5, by jobs 0, 2.",
    ]


@settings(max_examples=60, deadline=None)
@given(instance=jobs_instances(), data=st.data())
def test_agrees_with_counting_every_tick(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that capacity is found exceeded on exactly the ticks where counting every tick finds it."""
    drawn = [data.draw(placements(instance, job)) for job in range(instance.num_jobs)]
    start = [int(instance.release[job]) + data.draw(st.integers(0, 12)) for job in range(instance.num_jobs)]
    schedule = JobsSchedule.from_placements(instance, start, drawn)
    ends = job_completion_times(instance, schedule)
    in_use = np.zeros((instance.num_servers, int(ends.max()) + 1), dtype=np.int64)
    for job, placement in enumerate(drawn):
        in_use[:, start[job] : ends[job]] += placement.sum(axis=0)[:, None]
    is_over = in_use > instance.num_gpus_of[:, None]
    told = np.zeros_like(is_over)
    for violation in verify_jobs_schedule(instance, schedule):
        assert isinstance(violation, CapacityExceeded)
        told[violation.server, violation.begin : violation.end] = True
        assert violation.gpus == in_use[violation.server, violation.begin : violation.end].max()
    assert (told == is_over).all()


@settings(max_examples=40, deadline=None)
@given(instance=jobs_instances(), data=st.data())
def test_one_after_the_other_verifies(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that jobs that wait for each other verify on any placement, back to back to the tick."""
    drawn = [data.draw(placements(instance, job)) for job in range(instance.num_jobs)]
    zero = JobsSchedule.from_placements(instance, [0] * instance.num_jobs, drawn)
    durations = job_completion_times(instance, zero).tolist()
    start, now = [], int(instance.release.max())
    for ticks in durations:
        start.append(now)
        now += ticks
    assert verify_jobs_schedule(instance, JobsSchedule.from_placements(instance, start, drawn)) == []


@settings(max_examples=60)
@given(instance=jobs_instances(), data=st.data())
def test_parts_of_the_iteration_time_are_those_of_the_formula(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests comp and comm of the judge against the formula, with servers in racks and in none."""
    behind = replace(instance, racks=data.draw(racks_of(instance.num_servers)))
    for job in range(instance.num_jobs):
        placed = data.draw(placements(instance, job))
        stages = [{server: int(count) for server, count in enumerate(row) if count} for row in placed]
        assert verified_parts(behind, job, stages) == plain_alpha(behind, job, placed)


def test_a_stage_apart_in_a_rack_sends_through_the_uplink() -> None:
    """Tests one stage on each of two servers: 7 bytes of activations in each direction, through an uplink of 1."""
    servers = [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=14)] * 2
    stages = [Stage(times={"F": 2}, activation_bytes=7), Stage(times={"F": 3})]
    instance = JobsInstance.from_parts(servers, [Job(stages=stages)])
    apart = [{0: 1}, {1: 1}]
    for racks, comm in (((0, 1), 7), ((0, 0), Fraction(1, 2)), ((0, NO_RACK), 7)):
        behind = replace(instance, racks=Racks.of(racks, [1] * (1 + max(racks))))
        assert verified_parts(behind, 0, apart) == (6, comm)


@pytest.mark.parametrize(("replicas", "use", "end"), [(1, 999, 2000), (2, 400, 1600), (2, 999, 2000)])
def test_speeds_are_exact_to_one_per_mille(replicas: int, use: int, end: int) -> None:
    """Tests two jobs that are bound by one resource only, of which they ask for 999, 800 and 1998.

    Slow is 1998, 1600 and 2000, hence speeds of 500, 625 and 500 per mille.
    """
    jobs = [Job(stages=[Stage(times={"F": 1000}, replicas=replicas)])] * 2
    interference = Interference(resources=("cpu",), use=np.full((2, 1), use), sens=np.full((2, 1), 1000))
    server = JobsServer(kind="F", gpus=2 * replicas, nic_bytes_per_tick=1)
    instance = JobsInstance.from_parts([server], jobs, interference=interference)
    placed = [[{0: replicas}]] * 2
    assert replayed_ends(instance, interference, [0, 0], placed, [{}, {}]) == [end, end]


@pytest.mark.parametrize(("start", "ends"), [([0, 100], [10, 105]), ([4, 4], [16, 11]), ([0, 4], [12, 11])])
def test_completions_of_two_jobs_by_hand(start: list[int], ends: list[int]) -> None:
    """Tests jobs of 10 and 5 ticks apart, and together at a speed of 769, after which the first one runs alone.

    Together from tick 4 on, the second one ends after ceil(5 / 0.769) = 7 ticks, in which the first one does 5.383: of
    10 or of 6 ticks, 4.617 or 0.617 are left.
    """
    instance = two_jobs()
    assert instance.interference is not None
    placed = [[{0: 2}], [{0: 2}]]
    assert replayed_ends(instance, instance.interference, start, placed, [{}, {}]) == ends


@pytest.mark.parametrize(("gpus", "ends"), [([2, 3], [12, 11]), ([1, 2], [15, 14]), ([0, 1], [15, 14])])
def test_a_shared_gpu_slows_both_jobs_down_by_hand(gpus: list[int], ends: list[int]) -> None:
    """Tests a pair of speed 700, on GPUs of their own at 769 as above, and at 538 if they share one GPU or two.

    The second job then ends after ceil(5 / 0.538) = 10 ticks, in which the first one does 5.38 of 6: 0.62 are left.
    """
    instance = two_jobs(pair=700)
    assert instance.interference is not None
    placed = [[{0: 2}], [{0: 2}]]
    assert replayed_ends(instance, instance.interference, [0, 4], placed, [{0: [0, 1]}, {0: gpus}]) == ends
