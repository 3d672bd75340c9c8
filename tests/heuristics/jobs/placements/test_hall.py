"""Tests of the question whether a job fits, against enumeration."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from heuristics.jobs.placements.hall import QueueFit, can_place, can_place_part
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from tests.placement_instances import all_placements, jobs_with_free_gpus, worked_example


@settings(max_examples=200, deadline=None)
@given(case=jobs_with_free_gpus())
def test_fits_if_and_only_if_a_placement_exists(case: tuple[JobsInstance, np.ndarray]) -> None:
    """Tests the answer against enumeration."""
    instance, free = case
    assert QueueFit(instance).fits(0, free) == any(True for _ in all_placements(instance, 0, free))


def test_first_of_a_queue() -> None:
    """Tests the scan: the first job that fits, from a position on, and None where no further one does."""
    test, queue = QueueFit(worked_example()), np.array([1, 0, 2, 1, 2])
    assert test.first(queue, np.array([2, 2])) == 0
    assert test.first(queue, np.array([2, 0])) == 1
    assert test.first(queue, np.array([0, 1])) == 2
    assert test.first(queue, np.array([0, 1]), begin=3) == 4
    assert test.first(queue, np.array([0, 1]), begin=5) is None
    assert test.first(queue, np.array([0, 0])) is None
    assert test.first(queue[:0], np.array([2, 2])) is None


def test_many_unions() -> None:
    """Tests a job with more unions of sets of kinds than there is memory at first."""
    kinds = "ABCDEFGHIJK"
    servers = [JobsServer(kind=kind, gpus=1, nic_bytes_per_tick=1) for kind in kinds]
    stages = [Stage(times={kinds[s]: 1, kinds[s + 1]: 1}) for s in range(10)]
    test = QueueFit(JobsInstance.from_parts(servers, [Job(stages=stages)]))
    free = np.ones(11, dtype=np.int64)
    assert test.fits(0, free)
    free[4] = 0
    assert test.fits(0, free)
    free[6] = 0
    assert not test.fits(0, free)


def test_phi_counts() -> None:
    """Tests that the restriction of kinds is that of the placements."""
    instance = worked_example()
    free = np.array([0, 2])
    for phi in (None, 2):
        assert QueueFit(instance, phi).fits(0, free) == (HeavyEdge(instance, phi).place(0, free) is not None)
    assert QueueFit(instance).fits(0, free)
    assert not QueueFit(instance, 2).fits(0, free)


def test_a_replica_that_another_stage_needs() -> None:
    """Tests stages that may use both kinds beside one that needs all of kind 0 and one that leaves a GPU of kind 1."""
    unions, slack, both = np.array([0b01, 0b10, 0b11]), np.array([0, 1, 0]), 0b11
    assert not can_place.py_func(unions, slack, both, -1, 0)
    assert can_place.py_func(unions, slack, both, -1, 1)
    assert not can_place.py_func(unions, slack, both, both, 1)
    for replicas, kind, expected in ((1, 0, False), (1, 1, True), (2, 1, False)):
        assert can_place_part.py_func(unions, slack, np.array([both]), np.array([replicas]), kind) == expected
