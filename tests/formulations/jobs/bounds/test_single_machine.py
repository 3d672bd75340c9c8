"""Tests of the solver-free bounds of the jobs problem."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
from hypothesis import given

from formulations.jobs.bounds.single_machine import (
    VirtualMachineJobs,
    head_value,
    jobs_mean_busy_time,
    mean_busy_value,
    rank_wise,
    release_plus_duration,
    sets_of_kinds,
    srpt_value,
    virtual_srpt,
)
from formulations.preemptive_machine import busy_areas, srpt_times
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import JobsObjective
from instances.jobs.servers import JobsServer
from tests.jobs_strategies import jobs_instances, worked_example

TOTAL, WEIGHTED = JobsObjective.TOTAL_COMPLETION, JobsObjective.WEIGHTED_COMPLETION


def test_worked_example() -> None:
    """Tests L1 = 53.5, L2 = 64, L3 = 785/12 and their maximum 66 of the example computed by hand."""
    instance = worked_example()
    jobs = VirtualMachineJobs.of(instance, TOTAL)
    assert srpt_times(jobs.scaled_release, jobs.work) == [58, 130, 26]  # in quarters of a tick
    assert srpt_value(jobs) == Fraction(107, 2)
    assert head_value(jobs) == 64
    areas = busy_areas(jobs.scaled_release, jobs.work, jobs.weight)
    means = [Fraction(area, 2 * work) / 4 for area, work in zip(areas, jobs.work, strict=True)]
    assert means == [Fraction(23, 3), Fraction(47, 2), Fraction(21, 4)]
    assert sum(means) + Fraction(sum(jobs.least_duration), 2) == Fraction(785, 12)
    assert 0 <= Fraction(785, 12) - mean_busy_value(jobs) < Fraction(1, 2**70)
    found = (
        virtual_srpt(instance, TOTAL),
        release_plus_duration(instance, TOTAL),
        jobs_mean_busy_time(instance, TOTAL),
    )
    assert found == (54, 64, 66)
    assert rank_wise(instance, TOTAL) == 71  # 14 + 24 + 33: by rank the later of SRPT and release plus duration


def test_layers_of_weight() -> None:
    """Tests that the weighted bound is the sum over layers of weight, by hand: two equal jobs of weight 1 and 3."""
    jobs = [Job(stages=[Stage(times=4)], weight=weight) for weight in (1, 3)]
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], jobs)
    assert virtual_srpt(instance, WEIGHTED) == 1 * (4 + 8) + 2 * 4  # the optimum as well
    assert jobs_mean_busy_time(instance, WEIGHTED) == 3 * 4 + 1 * 8


def test_confined_jobs_count_on_their_own_kinds() -> None:
    """Tests that jobs of one kind are bounded on the GPUs of that kind: exact where one GPU must serve them all."""
    servers = [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1), JobsServer(kind="S", gpus=3, nic_bytes_per_tick=1)]
    jobs = [Job(stages=[Stage(times={"F": 6})]) for _ in range(3)] + [Job(stages=[Stage(times={"F": 5, "S": 2})])]
    instance = JobsInstance.from_parts(servers, jobs)
    assert sets_of_kinds(instance, TOTAL) == 6 + 12 + 18 + 2
    assert max(virtual_srpt(instance, TOTAL), jobs_mean_busy_time(instance, TOTAL), rank_wise(instance, TOTAL)) < 38


@given(instance=jobs_instances())
def test_order_among_the_bounds(instance: JobsInstance) -> None:
    """Tests that the joined bounds are never below their parts, and that one weight for all scales them."""
    for objective in (TOTAL, WEIGHTED):
        parts = [bound(instance, objective) for bound in (virtual_srpt, release_plus_duration, jobs_mean_busy_time)]
        joined = rank_wise(instance, objective)
        assert joined >= max(parts[:2])
        assert sets_of_kinds(instance, objective) >= max(*parts, joined)
    fives = dataclasses.replace(instance, weight=np.full(instance.num_jobs, 5))
    assert rank_wise(fives, WEIGHTED) == 5 * rank_wise(instance, TOTAL)


@given(instance=jobs_instances())
def test_times_that_are_multiplied(instance: JobsInstance) -> None:
    """Tests that 7 times all times gives 7 times L1, L2 and L3 exactly, before they are rounded."""
    scaled = dataclasses.replace(
        instance, release=7 * instance.release, time_of=np.where(instance.time_of > 0, 7 * instance.time_of, -1)
    )
    one, seven = VirtualMachineJobs.of(instance, WEIGHTED), VirtualMachineJobs.of(scaled, WEIGHTED)
    assert srpt_value(seven) == 7 * srpt_value(one)
    assert head_value(seven) == 7 * head_value(one)
    small, large = (busy_areas(jobs.scaled_release, jobs.work, jobs.weight) for jobs in (one, seven))
    assert [49 * area for area in small] == large


def test_no_jobs() -> None:
    """Tests that nothing to do costs nothing."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    for bound in (virtual_srpt, release_plus_duration, jobs_mean_busy_time, rank_wise, sets_of_kinds):
        assert bound(instance, TOTAL) == 0
