"""Tests of the placements that matter for one job, and of tables of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.jobs.pattern_table import all_gpus, kind_patterns, pattern_table, server_patterns
from formulations.jobs.placement_patterns import TooManyPatternsError, placement_patterns
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.iteration_time import duration
from instances.jobs.servers import JobsServer
from tests.brute_force_jobs import usages_and_durations
from tests.jobs_strategies import all_placements, jobs_instances, worked_example


def test_worked_example() -> None:
    """Tests the durations by hand: 24 on F, 60 on S, 75 split; and 28 wherever the slow stage is on F."""
    table = pattern_table(worked_example())
    found = [[(pattern.usage.tolist(), pattern.duration) for pattern in own] for own in table.patterns]
    assert found == [
        [([2, 0], 24), ([0, 2], 60), ([1, 1], 75)],
        [([1, 2], 28), ([2, 1], 28)],
        [([1, 0], 10), ([0, 1], 20)],
    ]
    assert table.is_exact


@settings(deadline=None, max_examples=60)
@given(instance=jobs_instances(max_jobs=2))
def test_patterns_are_all_usages_at_their_shortest(instance: JobsInstance) -> None:
    """Tests that patterns are those of plain enumeration, and that their placements take just their durations."""
    for job in range(instance.num_jobs):
        patterns = placement_patterns(instance, job)
        found = {tuple(pattern.usage.tolist()): pattern.duration for pattern in patterns}
        assert len(found) == len(patterns)
        assert found == usages_and_durations(instance, job)
        for pattern in patterns:
            assert pattern.placement is not None
            assert pattern.placement.sum(axis=0).tolist() == pattern.usage.tolist()
            assert duration(instance, job, pattern.placement) == pattern.duration


@settings(deadline=None, max_examples=60)
@given(instance=jobs_instances(max_jobs=2))
def test_relaxations_know_every_placement(instance: JobsInstance) -> None:
    """Tests that each placement has its pattern by kind, which takes no longer, and d^lb is below both."""
    by_kind, pool = kind_patterns(instance), all_gpus(instance)
    assert not by_kind.is_exact
    assert not pool.is_exact
    for job in range(instance.num_jobs):
        known = {tuple(pattern.usage.tolist()): pattern.duration for pattern in by_kind.patterns[job]}
        (whole,) = pool.patterns[job]
        for placement in all_placements(instance, job):
            held = placement.sum(axis=0)
            kinds = tuple(int(held[instance.server_kind == kind].sum()) for kind in range(instance.num_kinds))
            assert whole.duration <= known[kinds] <= duration(instance, job, placement)
            assert held.sum() == whole.usage[0]


def test_table_falls_back_to_kinds_and_to_one_pool() -> None:
    """Tests that too many patterns are not listed: by kind, and where these are too many too, one pool."""
    instance = worked_example()
    assert pattern_table(instance, max_listed=7).is_exact
    with pytest.raises(TooManyPatternsError, match=r"jobs\[2\]: expected at most 1 patterns"):
        server_patterns(instance, max_listed=6)
    servers = [JobsServer(kind="F", gpus=2, nic_bytes_per_tick=1) for _ in range(6)]
    jobs = [Job(stages=[Stage(times=2, replicas=4)])]
    many = JobsInstance.from_parts(servers, jobs)
    assert pattern_table(many, max_listed=10).proof == "GPUs by kind, free traffic"
    assert pattern_table(instance, max_listed=3).proof == "all GPUs as one pool, shortest durations"


def test_many_placements_are_given_up() -> None:
    """Tests that a job with many placements is given up after as many as are looked at."""
    servers = [JobsServer(kind="F", gpus=8, nic_bytes_per_tick=1) for _ in range(4)]
    job = Job(stages=[Stage(times=1, replicas=4, activation_bytes=1), Stage(times=1, replicas=4)])
    instance = JobsInstance.from_parts(servers, [job])
    with pytest.raises(TooManyPatternsError, match="placements"):
        placement_patterns(instance, 0, max_placements=20)


def test_like_servers_of_unequal_size_share_durations() -> None:
    """Tests that a usage is computed once for like servers, and each pattern has the placement on its own servers."""
    servers = [JobsServer(kind="F", gpus=gpus, nic_bytes_per_tick=3) for gpus in (1, 3, 2)]
    job = Job(stages=[Stage(times=2, replicas=2, activation_bytes=7, parameter_bytes=5), Stage(times=3)], iterations=4)
    instance = JobsInstance.from_parts(servers, [job])
    patterns = placement_patterns(instance, 0)
    assert {tuple(p.usage.tolist()): p.duration for p in patterns} == usages_and_durations(instance, 0)
    assert all(np.array_equal(p.placement.sum(axis=0), p.usage) for p in patterns if p.placement is not None)
