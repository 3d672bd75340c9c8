"""Tests of the question whether a job fits."""

from __future__ import annotations

import numpy as np

from heuristics.jobs.placements.hall import book, can_place, can_place_part, demand_of, supply_of
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


def test_supply_demand_and_slack_by_hand() -> None:
    """Tests unions of kinds as bits: their GPUs, the replicas that need them, and what a booking leaves of the rest."""
    assert [supply_of(union, np.array([3, 5, 7])) for union in (0b000, 0b001, 0b110, 0b101)] == [0, 3, 12, 10]
    masks, left = np.array([0b01, 0b11, 0b01]), np.array([2, 3, 4])
    assert [demand_of(union, masks, left) for union in (0b01, 0b10, 0b11)] == [6, 0, 9]
    unions, slack = np.array([0b01, 0b10, 0b11]), np.array([5, 5, 5])
    book(unions, slack, 0b11, 0, 2)  # the replicas count towards the demand on both kinds already
    assert slack.tolist() == [3, 5, 5]
