"""Tests of the question whether a job fits."""

from __future__ import annotations

import numpy as np

from heuristics.jobs.placements.hall import can_place, can_place_part
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer


def test_many_unions() -> None:
    """Tests a job with more unions of sets of kinds than there is memory at first."""
    kinds = "ABCDEFGHIJK"
    servers = [JobsServer(kind=kind, gpus=1, nic_bytes_per_tick=1) for kind in kinds]
    stages = [Stage(times={kinds[s]: 1, kinds[s + 1]: 1}) for s in range(10)]
    rule = HeavyEdge(JobsInstance.from_parts(servers, [Job(stages=stages)]))
    free = np.ones(11, dtype=np.int64)
    assert rule.place(0, free) is not None
    free[4] = 0
    assert rule.place(0, free) is not None
    free[6] = 0
    assert rule.place(0, free) is None


def test_a_replica_that_another_stage_needs() -> None:
    """Tests stages that may use both kinds beside one that needs all of kind 0 and one that leaves a GPU of kind 1."""
    unions, slack, both = np.array([0b01, 0b10, 0b11]), np.array([0, 1, 0]), 0b11
    assert not can_place.py_func(unions, slack, both, -1, 0)
    assert can_place.py_func(unions, slack, both, -1, 1)
    assert not can_place.py_func(unions, slack, both, both, 1)
    for replicas, kind, expected in ((1, 0, False), (1, 1, True), (2, 1, False)):
        assert can_place_part.py_func(unions, slack, np.array([both]), np.array([replicas]), kind) == expected
