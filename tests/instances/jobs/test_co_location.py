"""Tests of speeds and completion times under interference, against worked numbers and a replay tick by tick."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.jobs.co_location import CoLocation, resource_demand, running_speed, slowdown
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.objective import (
    JobsObjective,
    job_completion_times,
    job_durations,
    jobs_objective_value,
    placed_durations,
)
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import JobsServer
from instances.jobs.verify import _ends, _gpus, _placements, verify_jobs_schedule
from tests.interference_strategies import (
    any_schedules,
    interfering_instances,
    plain_completions,
    plain_demand,
    plain_speed,
    two_jobs,
)
from tests.jobs_strategies import jobs_instances


def _schedule(instance: JobsInstance, start: tuple[int, int] = (0, 4)) -> JobsSchedule:
    """Return both jobs of the example on the only server; where GPUs are shared, on GPUs 0, 1, ... and 1, 2, ..."""
    counts = instance.gang_size.tolist()
    gpus = None if instance.share == 1 else [{0: [*range(counts[0])]}, {0: [*range(1, 1 + counts[1])]}]
    return JobsSchedule.from_placements(instance, start, [np.array([[count]]) for count in counts], gpus)


def test_worked_example() -> None:
    """Tests the reference's example number by number: speed 769, C_b = 11, C_a = 12."""
    instance = two_jobs()
    demand = resource_demand(instance, 0, [0], [[2]])
    assert (demand.own, demand.sens) == (((800,),), (500,))
    assert (slowdown([800], [800], [500]), slowdown([800], [1600], [500])) == (1000, 1300)
    assert (running_speed([Fraction(1000)]), running_speed([Fraction(1300)])) == (1000, 769)
    schedule = _schedule(instance)
    assert job_completion_times(instance, schedule).tolist() == [12, 11]
    assert job_durations(instance, schedule).tolist() == [12, 7]
    assert placed_durations(instance, schedule).tolist() == [10, 5]
    assert jobs_objective_value(instance, schedule, JobsObjective.TOTAL_COMPLETION) == 23
    assert verify_jobs_schedule(instance, schedule) == []
    together = CoLocation(instance)
    together.start(0, 0, 10, demand)
    assert (together.speed(0), together.units_left(0, 4), together.next_completion()) == (1000, 6000, 10)
    together.start(1, 4, 5, resource_demand(instance, 1, [0], [[2]]))
    assert (together.speed(0), together.speed(1), together.next_completion()) == (769, 769, 11)
    assert together.complete(11) == [1]
    assert (together.units_left(0, 11), together.speed(0), together.next_completion()) == (617, 1000, 12)


def test_worked_example_with_three_replicas() -> None:
    """Tests the example with a job of 3 replicas: own 1200, load 2000, speeds 750 and 666."""
    assert slowdown([1200], [2000], [500]) == Fraction(4000, 3)
    assert running_speed([Fraction(4000, 3)]) == 750
    assert (slowdown([800], [2000], [500]), running_speed([Fraction(1500)])) == (1500, 666)
    instance = two_jobs((3, 2))  # five GPUs of four: only the speeds are looked at
    together = CoLocation(instance)
    together.start(0, 0, 10, resource_demand(instance, 0, [0], [[3]]))
    together.start(1, 4, 5, resource_demand(instance, 1, [0], [[2]]))
    assert (together.speed(0), together.speed(1)) == (750, 666)


def test_pair_on_top_of_slow() -> None:
    """Tests that a pair of 700 on top of a slowdown of 1300 gives 538, also in a whole replay."""
    assert running_speed([Fraction(1300)], [700]) == 538
    instance = two_jobs(pair=700)
    schedule = _schedule(instance)
    # a: 4000 units by tick 4; b needs ceil(5000 / 538) = 10 ticks; a has 6000 - 5380 = 620 left at 14.
    assert job_completion_times(instance, schedule).tolist() == [15, 14]
    assert verify_jobs_schedule(instance, schedule) == []


def test_jct_identity() -> None:
    """Tests that the unfinished jobs, tick by tick, sum to the JCT of the example: 4 + 14 + 1 = 19 = 12 + (11 - 4)."""
    instance = two_jobs()
    ends, release = job_completion_times(instance, _schedule(instance)).tolist(), instance.release.tolist()
    counted = [sum(r <= tick < end for r, end in zip(release, ends, strict=True)) for tick in range(max(ends))]
    assert (counted, sum(counted)) == ([1] * 4 + [2] * 7 + [1], 19)
    assert sum(ends) - sum(release) == 19


@settings(max_examples=120, deadline=None)
@given(instance=interfering_instances(allow_all=True), data=st.data())
def test_replays_agree(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that simulator, verifier and the replay tick by tick see the same completion times."""
    schedule = data.draw(any_schedules(instance))
    expected = plain_completions(instance, schedule)
    assert job_completion_times(instance, schedule).tolist() == expected
    gpus = _gpus(instance, schedule)
    assert _ends(instance, schedule.start.tolist(), _placements(instance, schedule), gpus) == expected


@settings(max_examples=100, deadline=None)
@given(instance=interfering_instances(allow_all=True), data=st.data())
def test_a_further_job_never_raises_a_speed(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that a lone job runs at full speed, a further one raises no speed, and forecasts are right."""
    schedule = data.draw(any_schedules(instance))
    together = CoLocation(instance)
    for job in range(instance.num_jobs):
        placed = schedule.placement(instance, job)
        servers = np.flatnonzero(placed.any(axis=0)).tolist()
        demand = resource_demand(instance, job, servers, placed[:, servers].tolist())
        own, sens = plain_demand(instance, job, placed)
        assert (list(demand.own), list(demand.sens)) == ([tuple(own[server]) for server in servers], sens)
        assert sum(demand.sens) <= 1000
        gpus = schedule.gpus_of(instance, job) if instance.share > 1 else ()
        before = {other: together.speed(other) for other in together.running()}
        speed, changed = together.what_if(job, demand, gpus)
        together.start(job, 0, 1, demand, gpus)
        assert together.speed(job) == speed
        after = {other: together.speed(other) for other in before}
        assert after == before | {other: then for other, (_, then) in changed.items()}
        assert all(after[other] <= before[other] for other in before)
        running = set(together.running())
        assert all(together.speed(other) == plain_speed(instance, schedule, other, running) for other in running)
        alone = CoLocation(instance)
        alone.start(job, 0, 1, demand, gpus)
        assert alone.speed(job) == 1000


@settings(max_examples=60, deadline=None)
@given(instance=jobs_instances(), data=st.data())
def test_nothing_to_share_is_the_base_problem(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that with share 1, no resources and no racks every schedule is judged as without interference."""
    nothing = np.zeros((instance.num_jobs, 0), dtype=np.int64)
    silent = dataclasses.replace(instance, interference=Interference(resources=(), use=nothing, sens=nothing))
    drawn = data.draw(any_schedules(instance))
    same = dataclasses.replace(drawn, instance_sha256=silent.sha256)
    assert job_completion_times(silent, same).tolist() == job_completion_times(instance, drawn).tolist()
    judged = [str(violation) for violation in verify_jobs_schedule(silent, same)]
    assert judged == [str(violation) for violation in verify_jobs_schedule(instance, drawn)]


@pytest.mark.parametrize(
    ("gpus", "start", "pair", "expected"),
    [
        ([{0: [0, 1]}, {0: [2, 3]}], (0, 4), 700, []),
        ([{0: [0, 1]}, {0: [1, 4]}], (0, 4), 700, ["jobs[1]: expected GPUs in 0..3 of server 0, got 4."]),
        (
            [{0: [1, 1]}, {0: [2, 3]}],
            (0, 3),
            700,
            [
                "jobs[0]: expected a GPU for each replica, got GPU 1 of server 0 twice.",
                "jobs[1].start: 1 ticks before the release of the job.",
            ],
        ),
        (
            [{0: [0, 1]}, {0: [1, 2]}],
            (0, 4),
            -1,
            ["servers[0], GPU 1: expected jobs whose classes may share it, got 0 and 1 from tick 4 to 5004."],
        ),
    ],
)
def test_gpus_are_verified(
    gpus: list[dict[int, list[int]]], start: tuple[int, int], pair: int, expected: list[str]
) -> None:
    """Tests the violations of schedules that name GPUs."""
    instance = two_jobs(pair=pair)
    schedule = JobsSchedule.from_placements(instance, start, [np.array([[2]])] * 2, gpus)
    assert [str(violation) for violation in verify_jobs_schedule(instance, schedule)] == expected


def test_three_jobs_on_a_gpu() -> None:
    """Tests that a third job on a GPU is a violation from its start until one of the three ends."""
    jobs = [Job(stages=[Stage(times=ticks)]) for ticks in (4, 6, 9)]
    none = np.zeros((3, 0), dtype=np.int64)
    halves = Interference(resources=(), use=none, sens=none, share=2, pair=np.array([[500]]))
    server = JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)
    instance = JobsInstance.from_parts([server], jobs, interference=halves)
    schedule = JobsSchedule.from_placements(instance, [0, 0, 5], [np.array([[1]])] * 3, [{0: [0]}] * 3)
    # The first two run at half speed until tick 8, when job 0 ends; job 2 has had 3.5 of 9 when job 1 ends at 12.
    assert job_completion_times(instance, schedule).tolist() == [8, 12, 18]
    expected = "servers[0], GPU 0: expected at most 2 jobs at a time, got 0, 1, 2 from tick 5 to 8."
    assert [str(violation) for violation in verify_jobs_schedule(instance, schedule)] == [expected]


def test_gpus_must_be_named() -> None:
    """Tests that a schedule without GPUs is wrong where two jobs may share one."""
    instance = two_jobs(pair=700)
    schedule = JobsSchedule.from_placements(instance, [0, 4], [np.array([[2]])] * 2)
    expected = "jobs[].stages: expected GPUs with every entry, as 2 jobs may share one, got none."
    assert [str(violation) for violation in verify_jobs_schedule(instance, schedule)] == [expected]
