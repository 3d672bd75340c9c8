"""Tests of the arrays of an instance that placements use."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from heuristics.jobs.placements.arrays import jobs_arrays
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from tests.placement_instances import worked_example


def test_numbers_of_the_worked_example() -> None:
    """Tests slots, thresholds and scaled bytes of the three jobs, computed by hand."""
    arrays = jobs_arrays(worked_example())
    assert arrays.slots.tolist() == [4, 3, 2]
    assert arrays.gang_size.tolist() == [2, 3, 1]
    assert [arrays.thresholds[a:b].tolist() for a, b in np.lib.stride_tricks.sliding_window_view(
        arrays.threshold_offsets, 2)] == [[2, 5], [2, 3, 4, 6], [1, 2]]  # fmt: skip
    assert arrays.denominator.tolist() == [2, 2, 1]
    assert arrays.ring_bytes.tolist() == [100, 20, 0, 0]
    assert arrays.ring_weight.tolist() == [200, 40, 0, 0]
    assert arrays.cut_bytes.tolist() == [0, 20, 0, 0]
    assert arrays.cut_weight.tolist() == [0, 40, 0, 0]
    assert arrays.allowed_kinds.tolist() == [3, 3, 3, 3]


def test_made_once_per_instance_and_restriction() -> None:
    """Tests that the same arrays come back, others for another phi, and that an equal phi is no other one."""
    instance = worked_example()
    assert jobs_arrays(instance) is jobs_arrays(instance)
    assert jobs_arrays(instance, 2) is jobs_arrays(instance, Fraction(2)) is not jobs_arrays(instance)
    assert jobs_arrays(replace(instance)) is not jobs_arrays(instance)


def test_restricted_times() -> None:
    """Tests that phi = 2 takes the slow kind from jobs 0 and nothing from those where it is up to twice as slow."""
    instance = worked_example()
    assert jobs_arrays(instance, 2).time_of.tolist() == [[2, -1], [2, 3], [4, 6], [1, 2]]
    # phi = 1 would leave two GPUs to the three replicas of job 1, which therefore keeps its kinds.
    assert jobs_arrays(instance, 1).time_of.tolist() == [[2, -1], [2, 3], [4, 6], [1, -1]]
    assert jobs_arrays(instance, 1).thresholds.tolist() == [2, 2, 3, 4, 6, 1]


def test_no_jobs() -> None:
    """Tests an instance without jobs."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    assert jobs_arrays(instance).slots.shape == jobs_arrays(instance, 2).thresholds.shape == (0,)


def test_too_many_kinds() -> None:
    """Tests that 63 kinds, too many for a mask of bits, are refused."""
    servers = [JobsServer(kind=f"k{v}", gpus=1, nic_bytes_per_tick=1) for v in range(63)]
    with pytest.raises(ValueError, match="kinds: expected at most 62, got 63"):
        jobs_arrays(JobsInstance.from_parts(servers, [Job(stages=[Stage(times=1)])]))
