"""Tests of what a policy knows of a job: spread placements, heavy jobs and bounds of its time."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.job_shapes import Spread, is_heavy
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.iteration_time import iteration_parts
from instances.jobs.servers import JobsServer
from tests.placement_instances import jobs_with_free_gpus, worked_example

if TYPE_CHECKING:
    import numpy as np


THETA = Fraction(3, 2)


def test_worked_example() -> None:
    """Tests the comm of the spread placements and the heavy jobs of section 9; job 0 is heavy up to 13/8."""
    instance = worked_example()
    heavy_edge, spread = HeavyEdge(instance), Spread(instance)
    least = [heavy_edge.place(job, instance.num_gpus_of) for job in range(3)]
    dealt = [spread.place(job) for job in range(3)]
    assert [found and found.comm for found in dealt] == [5, 2, 0]
    assert [found is not None and is_heavy(found, other, THETA) for found, other in zip(least, dealt, strict=True)] == [
        True,
        False,
        False,
    ]
    assert least[0] is not None
    assert is_heavy(least[0], dealt[0], Fraction(13, 8))
    assert not is_heavy(least[0], dealt[0], Fraction(1301, 800))


def test_cards_are_dealt_on_where_the_last_one_fell() -> None:
    """Tests the order of servers: cyclic over stages, past full servers and kinds that are not allowed."""
    servers = [JobsServer(kind=kind, gpus=gpus, nic_bytes_per_tick=1) for kind, gpus in (("F", 2), ("S", 3), ("F", 1))]
    stages = [
        Stage(times={"F": 1, "S": 1}, replicas=2),
        Stage(times={"F": 1}),
        Stage(times={"S": 1, "F": 1}, replicas=3),
    ]
    found = Spread(JobsInstance.from_parts(servers, [Job(stages=stages)])).place(0)
    assert found is not None
    # Stage 0 to servers 0 and 1, stage 1 to server 2, stage 2 to 0, 1 and, past full 2 and 0, to 1.
    assert found.matrix(3, 3).tolist() == [[1, 1, 0], [0, 0, 1], [1, 2, 0]]


def test_stuck_cards_stand_for_the_least_placement() -> None:
    """Tests a job whose first stage takes the only GPU of its second: no spread placement, heavy by x_min alone."""
    servers = [JobsServer(kind=kind, gpus=1, nic_bytes_per_tick=1) for kind in "FS"]
    stages = [Stage(times={"F": 1, "S": 1}, activation_bytes=9), Stage(times={"F": 1})]
    instance = JobsInstance.from_parts(servers, [Job(stages=stages)])
    assert Spread(instance).place(0) is None
    least = HeavyEdge(instance).place(0, instance.num_gpus_of)
    assert least is not None
    assert is_heavy(least, None, 1)
    assert not is_heavy(least, None, Fraction(11, 10))


@settings(max_examples=100, deadline=None)
@given(case=jobs_with_free_gpus())
def test_every_job_is_heavy_at_one(case: tuple[JobsInstance, np.ndarray]) -> None:
    """Tests theta = 1, that a single GPU is heavy there only, and the parts of the spread placement."""
    instance = case[0]
    least, dealt = HeavyEdge(instance).place(0, instance.num_gpus_of), Spread(instance).place(0)
    assert least is not None
    assert is_heavy(least, dealt, 1)
    if instance.gang_size[0] == 1:
        assert not is_heavy(least, dealt, Fraction(1001, 1000))
    if dealt is not None:
        matrix = dealt.matrix(instance.num_stages_of(0), instance.num_servers)
        assert (matrix.sum(axis=0) <= instance.num_gpus_of).all()
        assert (dealt.comp, dealt.comm) == iteration_parts(instance, 0, matrix)


def test_theta_is_at_least_one() -> None:
    """Tests that a smaller theta is refused."""
    instance = worked_example()
    least = HeavyEdge(instance).place(0, instance.num_gpus_of)
    assert least is not None
    with pytest.raises(ValueError, match="theta: expected at least 1, got 0"):
        is_heavy(least, None, 0)
