"""Tests of the time of one iteration, and of what no placement beats or exceeds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.iteration_time import (
    duration,
    duration_for,
    fastest_kind_time,
    iteration_parts,
    iteration_time,
    largest_durations,
    largest_iteration_time,
    least_durations,
    least_iteration_time,
)
from instances.jobs.servers import JobsServer
from tests.jobs_strategies import all_placements, jobs_instances, worked_example


@pytest.mark.parametrize(
    ("job", "placement", "alpha"),
    [
        (0, [[2, 0]], 8),
        (0, [[0, 2]], 20),
        (0, [[1, 1]], 25),
        (1, [[1, 1], [1, 0]], 14),
        (1, [[0, 2], [1, 0]], 14),
        (1, [[1, 1], [0, 1]], 20),
        (1, [[2, 0], [0, 1]], 20),
        (2, [[1, 0]], 2),
        (2, [[0, 1]], 4),
    ],
)
def test_worked_example(job: int, placement: list[list[int]], alpha: int) -> None:
    """Tests that iteration times are those computed by hand."""
    assert iteration_time(worked_example(), job, np.array(placement)) == alpha


def test_certified_times_of_the_worked_example() -> None:
    """Tests that the least iteration times and durations are those computed by hand."""
    instance = worked_example()
    assert [least_iteration_time(instance, job) for job in range(3)] == [8, 12, 2]
    assert least_durations(instance).tolist() == [24, 24, 10]


def test_threshold_beats_the_fastest_kind() -> None:
    """Tests that a stage that is too wide for its fastest kind counts with the slower one: 3 replicas, 2 fast GPUs."""
    servers = [JobsServer(kind="F", gpus=2, nic_bytes_per_tick=1), JobsServer(kind="S", gpus=2, nic_bytes_per_tick=1)]
    job = Job(stages=[Stage(times={"F": 2, "S": 5}, replicas=3)], micro_batches=3)
    instance = JobsInstance.from_parts(servers, [job])
    assert (fastest_kind_time(instance, 0), least_iteration_time(instance, 0)) == (6, 15)


def test_durations_are_exact_near_integers() -> None:
    """Tests that n * alpha is rounded up exactly where 64-bit floats cannot tell it from an integer."""
    large = 2**40
    assert duration_for(large, Fraction(large + 1, large)) == large + 1
    assert duration_for(large, Fraction(large + 1, large) + Fraction(1, 2**60)) == large + 2
    assert duration_for(3, Fraction(1, 3)) == 1
    servers = [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=Fraction(3, 7))] * 2
    stages = [Stage(times=5, activation_bytes=9), Stage(times=5)]
    instance = JobsInstance.from_parts(servers, [Job(stages=stages, iterations=2**30)])
    apart = np.array([[1, 0], [0, 1]])
    assert iteration_parts(instance, 0, apart) == (10, Fraction(21))
    assert duration(instance, 0, apart) == 31 * 2**30


@pytest.mark.parametrize(
    ("job", "placement", "message"),
    [
        (0, [[1, 0]], r"placement\[0\]: expected 2 replicas, got \[1\]\."),
        (0, [[3, -1]], r"placement\[0\]: expected 2 replicas, got \[3, -1\]\."),
        (0, [[2]], r"placement: expected shape \(1, 2\), got \(1, 1\)\."),
        (1, [[2, 0]], r"placement: expected shape \(2, 2\), got \(1, 2\)\."),
        (0, [[0, 0]], r"placement\[0\]: expected 2 replicas, got \[\]\."),
    ],
)
def test_what_is_no_placement_is_refused(job: int, placement: list[list[int]], message: str) -> None:
    """Tests that a matrix that is no placement of the job has no iteration time."""
    with pytest.raises(ValueError, match=message):
        iteration_time(worked_example(), job, np.array(placement))


def test_kinds_that_are_not_allowed_are_refused() -> None:
    """Tests that a placement on a kind that is not allowed has no iteration time."""
    servers = [JobsServer(kind=kind, gpus=1, nic_bytes_per_tick=1) for kind in "FS"]
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times={"S": 1})])])
    assert iteration_time(instance, 0, np.array([[0, 1]])) == 1
    with pytest.raises(ValueError, match=r"placement\[0\]: expected allowed kinds, got 'F'\."):
        iteration_time(instance, 0, np.array([[1, 0]]))


def _plain(instance: JobsInstance, job: int, x: np.ndarray) -> Fraction:
    """Return alpha(x) straight from the formula, term by term."""
    rows = range(instance.stages_of(job).start, instance.stages_of(job).stop)
    num_stages, servers = len(rows), range(instance.num_servers)
    u = [[Fraction(int(x[s, v]), int(instance.replicas[rows[s]])) for v in servers] for s in range(num_stages)]
    kind = instance.server_kind.tolist()
    times = [int(instance.time_of[rows[s], kind[v]]) for s in range(num_stages) for v in servers if x[s, v] > 0]
    leaving = [Fraction(0) for _ in servers]
    for v in servers:
        for s in range(num_stages - 1):
            one, two = u[s][v], u[s + 1][v]
            leaving[v] += int(instance.activation_bytes[rows[s]]) * (one * (1 - two) + two * (1 - one))
        for s in range(num_stages):
            k = int(instance.replicas[rows[s]])
            if 0 < x[s, v] < k:
                leaving[v] += Fraction(2 * (k - 1), k) * int(instance.parameter_bytes[rows[s]])
    comm = max(leaving[v] / instance.nic_bytes_per_tick(v) for v in servers)
    return (int(instance.micro_batches[job]) + num_stages - 1) * max(times) + comm


@settings(max_examples=60, deadline=None)
@given(instance=jobs_instances(max_jobs=2))
def test_every_placement_obeys_formula_and_bounds(instance: JobsInstance) -> None:
    """Tests that alpha of every placement is the formula's value and lies between its certified bounds."""
    for job in range(instance.num_jobs):
        least, largest = least_iteration_time(instance, job), largest_iteration_time(instance, job)
        assert fastest_kind_time(instance, job) <= least
        found = all_placements(instance, job)[:300]
        assert found
        for placement in found:
            alpha = iteration_time(instance, job, placement)
            assert alpha == _plain(instance, job, placement)
            assert least <= alpha <= largest
            if (placement.sum(axis=0) > 0).sum() == 1:
                assert iteration_parts(instance, job, placement)[1] == 0
            assert duration(instance, job, placement) <= largest_durations(instance)[job]


@settings(max_examples=40, deadline=None)
@given(instance=jobs_instances(max_jobs=1), factor=st.integers(2, 5))
def test_scaling(instance: JobsInstance, factor: int) -> None:
    """Tests that longer times and slower links scale alpha exactly, and that more bandwidth never raises it."""
    scaled = replace(
        instance,
        time_of=np.where(instance.time_of > 0, instance.time_of * factor, -1),
        nic_denominator=instance.nic_denominator * factor,
    )
    faster = replace(instance, nic_numerator=instance.nic_numerator * factor)
    for placement in all_placements(instance, 0)[:50]:
        alpha = iteration_time(instance, 0, placement)
        assert iteration_time(scaled, 0, placement) == factor * alpha
        assert iteration_time(faster, 0, placement) <= alpha


@settings(max_examples=40, deadline=None)
@given(instance=jobs_instances(max_jobs=2), data=st.data())
def test_names_and_numbers_of_servers_do_not_matter(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that servers in another order change no iteration time, and another server never raises the least one."""
    order = data.draw(st.permutations(range(instance.num_servers)))
    kinds = list(dict.fromkeys(int(instance.server_kind[server]) for server in order))
    shuffled = replace(
        instance,
        kinds=tuple(instance.kinds[kind] for kind in kinds),
        server_kind=[kinds.index(int(instance.server_kind[server])) for server in order],
        num_gpus_of=instance.num_gpus_of[order],
        nic_numerator=instance.nic_numerator[order],
        nic_denominator=instance.nic_denominator[order],
        time_of=instance.time_of[:, kinds],
    )
    wider = replace(
        instance,
        server_names=(*instance.server_names, "more"),
        server_kind=[*instance.server_kind, data.draw(st.integers(0, instance.num_kinds - 1))],
        num_gpus_of=[*instance.num_gpus_of, 2],
        nic_numerator=[*instance.nic_numerator, 1],
        nic_denominator=[*instance.nic_denominator, 1],
    )
    for job in range(instance.num_jobs):
        assert least_iteration_time(shuffled, job) == least_iteration_time(instance, job)
        assert largest_iteration_time(shuffled, job) == largest_iteration_time(instance, job)
        assert least_iteration_time(wider, job) <= least_iteration_time(instance, job)
        for placement in all_placements(instance, job)[:20]:
            assert iteration_time(shuffled, job, placement[:, order]) == iteration_time(instance, job, placement)
