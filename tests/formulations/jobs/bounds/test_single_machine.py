"""Tests of the preemptive machine."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from formulations.jobs.bounds.single_machine import (
    VirtualMachineJobs,
    busy_areas,
    head_value,
    jobs_mean_busy_time,
    mean_busy_value,
    rank_wise,
    release_plus_duration,
    served,
    sets_of_kinds,
    srpt_times,
    srpt_value,
    virtual_srpt,
)
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import JobsObjective
from instances.jobs.servers import JobsServer
from tests.jobs_strategies import jobs_instances, worked_example


def test_shortest_remaining_first_by_hand() -> None:
    """Tests that SRPT interrupts where a shorter job arrives, and only there: computed by hand."""
    # 0: 7 from 0; 1: 3 at 2 (5 left of 0: interrupt); 2: 3 at 3 (2 left of 1: wait); 3: 1 at 20 after idling.
    found = list(served([0, 2, 3, 20], [7, 3, 3, 1], lambda _, left: left))
    assert found == [(0, 0, 2), (1, 2, 3), (1, 3, 5), (2, 5, 8), (0, 8, 13), (3, 20, 21)]


@given(
    jobs=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3)), min_size=1, max_size=3),
)
def test_srpt_is_the_least_over_all_preemption_points(jobs: list[tuple[int, int]]) -> None:
    """Tests that the sum of completions under SRPT is the least of all ways to serve one job per tick."""
    release, length = [r for r, _ in jobs], [p for _, p in jobs]
    times = dict.fromkeys(range(len(jobs)), 0)
    for job, _, until in served(release, length, lambda _, left: left):
        times[job] = until
    assert sum(times.values()) == _least_sum(tuple(release), tuple(length), 0)


def _least_sum(release: tuple[int, ...], left: tuple[int, ...], tick: int) -> int:
    """Return the least sum of completions from a tick on, over all choices in every tick; idle where none is there."""
    open_jobs = [job for job, rest in enumerate(left) if rest]
    if not open_jobs:
        return 0
    there = [job for job in open_jobs if release[job] <= tick]
    if not there:
        return _least_sum(release, left, min(release[job] for job in open_jobs))
    best = []
    for job in there:
        rest = tuple(own - (other == job) for other, own in enumerate(left))
        best.append((tick + 1 if rest[job] == 0 else 0) + _least_sum(release, rest, tick + 1))
    return min(best)


@given(
    jobs=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=3),
)
def test_fixed_ranks_make_weighted_mean_busy_times_least(jobs: list[tuple[int, int, int]]) -> None:
    """Tests that serving the largest weight over length minimises the weighted sum of mean busy times."""
    release, length = [r for r, _, _ in jobs], [p for _, p, _ in jobs]
    ratio = [w / p for _, p, w in jobs]
    value = 0.0
    for job, begin, until in served(release, length, lambda job, _: -ratio[job]):
        value += ratio[job] * (until * until - begin * begin) / 2
    slots = range(max(release) + sum(length))
    order = [job for job, p in enumerate(length) for _ in range(p)]
    best = (
        min(
            sum(ratio[job] * (slot + 0.5) for job, slot in zip(order, chosen, strict=True))
            for chosen in itertools.permutations(slots, len(order))
            if all(slot >= release[job] for job, slot in zip(order, chosen, strict=True))
        )
        if len(order) <= 5 and len(slots) <= 8
        else value
    )
    assert abs(value - best) < 1e-9


TOTAL, WEIGHTED = JobsObjective.TOTAL_COMPLETION, JobsObjective.WEIGHTED_COMPLETION


def test_worked_example() -> None:
    """Tests L1 = 53.5, L2 = 64, L3 = 785/12 and their maximum 66 of the example computed by hand."""
    instance = worked_example()
    jobs = VirtualMachineJobs.of(instance, TOTAL)
    assert srpt_times(jobs) == [58, 130, 26]  # in quarters of a tick
    assert srpt_value(jobs) == Fraction(107, 2)
    assert head_value(jobs) == 64
    means = [Fraction(area, 2 * work) / 4 for area, work in zip(busy_areas(jobs), jobs.work, strict=True)]
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
    assert [49 * area for area in busy_areas(one)] == busy_areas(seven)


def test_no_jobs() -> None:
    """Tests that nothing to do costs nothing."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    for bound in (virtual_srpt, release_plus_duration, jobs_mean_busy_time, rank_wise, sets_of_kinds):
        assert bound(instance, TOTAL) == 0
