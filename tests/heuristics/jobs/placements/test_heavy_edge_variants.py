"""Tests of stage order, consolidation and random placement."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_variants import Consolidated, StageOrder
from heuristics.jobs.placements.random_placement import RandomPlacement
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from tests.placement_instances import worked_example


def chain() -> JobsInstance:
    """Return a job of three stages with two replicas each, heavy data between the last two, on two servers of three."""
    stages = [
        Stage(times={"F": 2, "S": 3}, replicas=2, activation_bytes=1, parameter_bytes=1),
        Stage(times={"F": 2, "S": 3}, replicas=2, activation_bytes=100, parameter_bytes=1),
        Stage(times={"F": 2, "S": 3}, replicas=2, parameter_bytes=1),
    ]
    servers = [JobsServer(kind="F", gpus=4, nic_bytes_per_tick=10) for _ in range(2)]
    servers.append(JobsServer(kind="S", gpus=6, nic_bytes_per_tick=10))
    return JobsInstance.from_parts(servers, [Job(stages=stages, micro_batches=2)])


def test_what_each_rule_looks_at() -> None:
    """Tests that stage order cuts heavy edges, or flees to a slow server, and that consolidated counts servers only.

    With Q + S - 1 = 4, on two fast servers of four GPUs: stages 1 and 2 together on one leave act 1 between them and
    stage 0; in order of stage, stage 2 sits alone behind a cut of 100 bytes. The slow server holds the job as a whole.
    """
    instance = chain()
    rules = [rule(instance) for rule in (HeavyEdge, StageOrder, Consolidated)]
    for free, alphas in (
        ([4, 4, 0], [8 + Fraction(1, 10), 18, 18]),
        ([4, 4, 6], [8 + Fraction(1, 10), 12, 12]),
        ([4, 3, 6], [8 + Fraction(1, 10), 12, 12]),
        ([3, 3, 6], [12, 12, 12]),
    ):
        found = [rule.place(0, np.array(free)) for rule in rules]
        assert [placement and placement.alpha for placement in found] == alphas


def test_random_placement_is_seeded() -> None:
    """Tests that a seed repeats itself over calls, that placements differ, and that over time every server is used."""
    instance = worked_example()
    free = np.array([2, 2])

    def placed(seed: int) -> list[tuple[list[int], list[int]]]:
        rule = RandomPlacement(instance, np.random.default_rng(seed))
        found = [rule.place(job, free) for _ in range(20) for job in (1, 2)]
        return [(p.server.tolist(), p.count.tolist()) for p in found if p is not None]

    assert placed(1) == placed(1) != placed(2)
    assert len(placed(1)) == 40
    assert {tuple(servers) for servers, _ in placed(1)[1::2]} == {(0,), (1,)}


def test_random_placement_draws_every_gpu_alike() -> None:
    """Tests on 4,000 draws that a single replica lands on a server as often as it has free GPUs."""
    servers = [JobsServer(kind="FS"[v % 2], gpus=8, nic_bytes_per_tick=1) for v in range(4)]
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times=1)])])
    rule = RandomPlacement(instance, np.random.default_rng(5))
    free = np.array([1, 2, 0, 5])
    found = [rule.place(0, free) for _ in range(4_000)]
    shares = np.bincount([int(p.server[0]) for p in found if p is not None], minlength=4) / 4_000
    assert shares == pytest.approx(free / 8, abs=0.03)
