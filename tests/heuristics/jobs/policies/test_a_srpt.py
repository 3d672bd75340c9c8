"""Tests of A-SRPT and of its rivals on the worked example."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.policies.a_srpt import a_srpt_policy
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
from heuristics.jobs.policies.run_policy import run_policy
from instances.jobs.instance import JobsInstance
from instances.jobs.iteration_time import iteration_parts
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.fixed_predictor import FixedPredictor
from tests.heuristics.jobs.policies.drawn_runs import drawn_run
from tests.jobs_strategies import worked_example

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.jobs.policy import Policy
    from heuristics.jobs.simulator import Simulation


TOTAL = JobsObjective.TOTAL_COMPLETION
INSTANCE = worked_example()
PREDICTIONS = (3, 2, 4)


def run(policy: Policy, predictions: tuple[int, ...] = PREDICTIONS) -> Simulation:
    """Return a simulation of the worked example whose schedule verifies."""
    done = run_policy(policy, np.random.default_rng(0), predictor=FixedPredictor(predictions))
    assert done is not None
    assert verify_jobs_schedule(INSTANCE, done.schedule) == []
    assert jobs_objective_value(INSTANCE, done.schedule, TOTAL) == done.completion.sum()
    return done


def a_srpt(mode: str = "provable", tau: Fraction = Fraction(1, 4)) -> Policy:
    """Return A-SRPT with the parameters of the example."""
    return a_srpt_policy(INSTANCE, TOTAL, ASrptParameters(tau=tau), mode)


def test_shapes() -> None:
    """Tests alpha_min 8, 14 and 2, that only job 0 is heavy (13/8 but not more), and P = 48, 84, 8."""
    shapes = JobShapes(INSTANCE)
    assert [shapes.least(job).alpha for job in range(3)] == [8, 14, 2]
    assert [shapes.least(job).comm for job in range(3)] == [0, 2, 0]
    assert [shapes.is_heavy(job, Fraction(3, 2)) for job in range(3)] == [True, False, False]
    assert shapes.is_heavy(0, Fraction(13, 8))
    assert not shapes.is_heavy(0, Fraction(1626, 1000))
    assert [shapes.is_heavy(job, 1) for job in range(3)] == [True, True, True]
    done = run(a_srpt())
    assert done.virtual_work == (48, 84, 8)


def test_provable_mode() -> None:
    """Tests every number: virtual completions, eligibilities, the hold from 14 to 16, the block from 35 to 40, 124."""
    done = run(a_srpt())
    assert done.virtual_completion == (56, 140, 24)
    assert done.eligible.tolist() == [14, 35, 6]
    assert done.schedule.start.tolist() == [16, 40, 6]
    assert done.completion.tolist() == [40, 68, 16]
    assert done.virtual_wait.tolist() == [14, 33, 2]
    assert done.held.tolist() == [2, 0, 0]
    assert done.blocked.tolist() == [0, 5, 0]
    assert done.schedule.placement(INSTANCE, 0).tolist() == [[2, 0]]
    assert done.schedule.placement(INSTANCE, 2).tolist() == [[1, 0]]
    assert iteration_parts(INSTANCE, 1, done.schedule.placement(INSTANCE, 1)) == (12, 2)
    assert done.completion.sum() == 124


def test_hold_expires() -> None:
    """Tests the deadline 17: with 30 true iterations job 2 still has its GPU, so job 0 starts on the slow ones."""
    jobs = list(INSTANCE.iterations)
    jobs[2] = 30
    longer = JobsInstance(
        **{
            name: getattr(INSTANCE, name)
            for name in INSTANCE.__slots__
            if name not in ("iterations", "gang_size", "_sha256", "__weakref__")
        },
        iterations=np.array(jobs),
    )
    policy = a_srpt_policy(longer, TOTAL)
    done = run_policy(policy, np.random.default_rng(0), predictor=FixedPredictor(PREDICTIONS))
    assert done is not None
    assert done.schedule.start.tolist()[0] == 17
    assert done.held.tolist()[0] == 3
    assert done.schedule.placement(longer, 0).tolist() == [[0, 2]]


def test_without_holds() -> None:
    """Tests that tau = 0 starts job 0 at 14 on the slow server until 74 and job 1 from 74 to 102: 192."""
    done = run(a_srpt(tau=Fraction(0)))
    assert done.schedule.start.tolist() == [14, 74, 6]
    assert done.completion.tolist() == [74, 102, 16]
    assert done.held.tolist() == [0, 0, 0]
    assert done.completion.sum() == 192


def test_work_conserving_mode() -> None:
    """Tests that it starts jobs 0, 2 and 1 at 0, 4 and 24: 100."""
    done = run(a_srpt("work_conserving"))
    assert done.schedule.start.tolist() == [0, 24, 4]
    assert done.completion.tolist() == [24, 52, 24]
    assert done.eligible.tolist() == [14, 35, 6]
    assert done.virtual_wait.tolist() == [0, 22, 0]
    assert done.schedule.placement(INSTANCE, 2).tolist() == [[0, 1]]


@pytest.mark.parametrize("mode", ["overtaking", "unblocked"])
def test_overtaking_on_the_worked_example(mode: str) -> None:
    """Tests that nobody may overtake here: job 2 is the first eligible one, and job 1 comes after job 0 has started."""
    done = run(a_srpt(mode))
    assert done.schedule.start.tolist() == [16, 40, 6]
    assert done.eligible.tolist() == [14, 35, 6]


@pytest.mark.parametrize("seed", range(24))
def test_who_overtakes_is_predicted_to_end_in_time(seed: int) -> None:
    """Tests every start behind an eligible job that waits, no patience against the provable mode, and no limit."""
    drawn = drawn_run(seed)
    instance, patience = drawn.instance, Fraction(seed % 3, 2)
    impatient = replace(drawn, parameters=replace(drawn.parameters, patience=patience))
    done = impatient.simulated("overtaking")
    assert verify_jobs_schedule(instance, done.schedule) == []
    start, eligible = done.schedule.start.tolist(), done.eligible.tolist()
    assert all(first >= ready for first, ready in zip(start, eligible, strict=True))
    ends = done.virtual_completion
    assert ends is not None
    order = sorted(range(instance.num_jobs), key=ends.__getitem__)
    for place, job in enumerate(order):
        waiting = [other for other in order[:place] if eligible[other] <= start[job] < start[other]]
        if waiting:
            limit = eligible[waiting[0]] + int(patience * ends[waiting[0]] / instance.num_gpus)
            alpha = sum(iteration_parts(instance, job, done.schedule.placement(instance, job)))
            assert start[job] + math.ceil(drawn.predictions[job] * alpha) <= limit
    if patience == 0:
        assert start == drawn.simulated("provable").schedule.start.tolist()
    unblocked = drawn.simulated("unblocked").schedule
    assert verify_jobs_schedule(instance, unblocked) == []


def test_jobs_do_overtake() -> None:
    """Tests that on 40 drawn runs the overtaking mode lets jobs pass, and the unblocked one more of them."""

    def passed(mode: str) -> int:
        total = 0
        for seed in range(40):
            done = drawn_run(seed).simulated(mode)
            ends, start, eligible = done.virtual_completion, done.schedule.start.tolist(), done.eligible.tolist()
            assert ends is not None
            total += sum(
                ends[other] < ends[job] and eligible[other] <= start[job] < start[other]
                for job in range(len(start))
                for other in range(len(start))
            )
        return total

    counts = [passed(mode) for mode in ("provable", "overtaking", "unblocked")]
    assert counts[0] == 0 < counts[1] < counts[2]


def test_oracle() -> None:
    """Tests that with true iterations the provable mode reaches 127, more than with the wrong prediction."""
    done = run_policy(a_srpt(), np.random.default_rng(0), predictor="oracle")
    assert done is not None
    assert verify_jobs_schedule(INSTANCE, done.schedule) == []
    assert done.completion.sum() == 127


def test_fifo() -> None:
    """Tests that FIFO completes jobs at 24, 52 and 44: 120."""
    assert run(fifo.make(INSTANCE)).completion.tolist() == [24, 52, 44]


@pytest.mark.parametrize(
    "make",
    [
        spjf.make,
        spwf.make,
        wcs_duration.make,
        wcs_workload.make,
        wcs_subtime.make,
        partial(srtf.make, head="skips"),
        partial(srtf.make, head="blocks"),
        lambda instance: qssf.make(instance, "oracle"),
    ],
    ids=["spjf", "spwf", "wcs-duration", "wcs-workload", "wcs-subtime", "sjf-skips", "sjf-blocks", "qssf"],
)
def test_other_baselines(make: Callable[[JobsInstance], Policy]) -> None:
    """Tests that all other baselines reach 100, with predictions and with the truth."""
    assert run(make(INSTANCE)).completion.tolist() == [24, 52, 24]


def test_predictor_hears_completions_before_arrivals() -> None:
    """Tests the order of calls, and that a completion is told at its tick."""
    predictor = FixedPredictor(PREDICTIONS)
    run_policy(a_srpt(), np.random.default_rng(0), predictor=predictor)
    assert predictor.calls == [
        ("predict", 0, 0),
        ("predict", 1, 2),
        ("predict", 2, 4),
        ("observe", 2, 16),
        ("observe", 0, 40),
    ]
