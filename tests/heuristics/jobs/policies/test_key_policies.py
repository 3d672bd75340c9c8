"""Tests of the policies that differ by order, key and placement."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from heuristics.jobs.placements.registry import PLACEMENTS
from heuristics.jobs.policies.a_srpt import a_srpt
from heuristics.jobs.policies.guided_policy import ASrptParameters
from heuristics.jobs.policies.key_policies import (
    fifo,
    qssf,
    spjf,
    spwf,
    srtf,
    wcs_duration,
    wcs_subtime,
    wcs_workload,
)
from heuristics.jobs.policies.resource_policies import drf, tetris
from heuristics.jobs.policies.run_policy import run_policy
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import JobsObjective
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.fixed_predictor import FixedPredictor
from tests.heuristics.jobs.policies.called import called

WEIGHTED = JobsObjective.WEIGHTED_COMPLETION
METHODS = (a_srpt, drf, fifo, qssf, spjf, spwf, srtf, tetris, wcs_duration, wcs_subtime, wcs_workload)


def test_parameters_are_exact() -> None:
    """Tests that a decimal number counts as it is printed, not as the float next to it."""
    made = ASrptParameters.of(theta=1.1, tau="1/3", eps=0.02, phi=2)
    assert (made.theta, made.tau, made.eps, made.phi) == (Fraction(11, 10), Fraction(1, 3), Fraction(1, 50), 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"theta": "1/2"}, "theta: expected at least 1, got 1/2"),
        ({"tau": -1}, "tau: expected at least 0, got -1"),
        ({"eps": "x"}, "eps: expected a rational number of at least 0, got 'x'"),
        ({"phi": float("inf")}, "phi: expected a rational number of at least 1, got inf"),
        ({"patience": -1}, "patience: expected at least 0, got -1"),
        ({"speed": 0}, "speed: expected a number above 0, got 0"),
        ({"mode": "both"}, "mode: expected one of provable, overtaking, unblocked, work_conserving, got 'both'"),
        ({"placement": "best"}, f"placement: expected one of {', '.join(PLACEMENTS)}, got 'best'"),
        ({"predictor": "best"}, "predictor: expected one of"),
    ],
)
def test_misuse_is_named(parameters: dict[str, object], message: str) -> None:
    """Tests the message for every parameter of A-SRPT out of range."""
    instance = generate_jobs("jobs-small", jobs=2, seed=0)
    with pytest.raises(ValueError, match=message):
        a_srpt(instance, WEIGHTED, np.random.default_rng(0), **parameters)
    if "placement" in parameters:
        with pytest.raises(ValueError, match=message):
            fifo(instance, np.random.default_rng(0), placement="best")


def test_restriction_of_kinds_is_the_policys() -> None:
    """Tests that another phi than the policy's is refused."""
    policy = fifo.make(generate_jobs("jobs-small", jobs=2, seed=0))
    with pytest.raises(ValueError, match="phi: expected None, as the policy has it, got 2"):
        run_policy(policy, np.random.default_rng(0), phi=2)


def test_head_of_srtf() -> None:
    """Tests the message for an unknown rule at the head."""
    with pytest.raises(ValueError, match="head: expected one of blocks, skips, got 'waits'"):
        srtf(generate_jobs("jobs-small", jobs=2, seed=0), np.random.default_rng(0), head="waits")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_same_seed_same_schedule(method: object, placement: str) -> None:
    """Tests that two runs agree bit for bit, and verify, with every placement rule."""
    assert callable(method)
    instance = generate_jobs("jobs-small", jobs=12, seed=3, load=1.5)
    first, second = (called(method, instance, WEIGHTED, 5, placement=placement) for _ in range(2))
    assert verify_jobs_schedule(instance, first) == []
    assert first.start.tolist() == second.start.tolist()
    assert first.entry_server.tolist() == second.entry_server.tolist()


def two_gangs() -> JobsInstance:
    """Return jobs for two GPUs: one that keeps both busy until 4, then wide and short or narrow and long ones."""
    server = JobsServer(kind="F", gpus=2, nic_bytes_per_tick=1)
    return JobsInstance.from_parts(
        [server],
        [
            Job(stages=[Stage(times={"F": 4}, replicas=2)]),
            Job(stages=[Stage(times={"F": 1}, replicas=2)], release=1),
            Job(stages=[Stage(times={"F": 9})], release=2),
            Job(stages=[Stage(times={"F": 9}, replicas=1)], release=6),
            Job(stages=[Stage(times={"F": 1}, replicas=2)], release=6),
        ],
    )


@pytest.mark.parametrize(
    ("predictor", "starts"),
    [
        ("oracle", [0, 4, 5, 15, 14]),
        ("none", [0, 15, 4, 6, 16]),
    ],
)
def test_qssf_without_estimates_counts_gpus(predictor: str, starts: list[int]) -> None:
    """Tests that narrow jobs go first where there is no estimate, and small workloads where there is one."""
    schedule = qssf(two_gangs(), np.random.default_rng(0), predictor=predictor)
    assert schedule is not None
    assert verify_jobs_schedule(two_gangs(), schedule) == []
    assert schedule.start.tolist() == starts


def test_qssf_learns() -> None:
    """Tests that jobs 1 and 2 have no estimates yet, but jobs 3 and 4, which arrive after the first completion, do."""
    instance = two_gangs()
    policy = qssf.make(instance, "running-median")
    done = run_policy(policy, np.random.default_rng(0), predictor=FixedPredictor([1] * 5))
    assert done is not None
    assert done.schedule.start.tolist() == [0, 13, 4, 15, 14]
