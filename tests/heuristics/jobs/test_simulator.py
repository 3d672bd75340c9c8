from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.callback import Callback
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.policies.a_srpt import a_srpt, a_srpt_policy
from heuristics.jobs.policies.fifo import fifo, fifo_policy
from heuristics.jobs.policies.policy import Policy
from heuristics.jobs.policies.spjf import spjf_policy
from heuristics.jobs.simulator import simulate
from instances.jobs import Job, JobsInstance, JobsObjective, JobsServer, Stage, verify_jobs_schedule
from tests.heuristics.jobs.fixed_predictor import FixedPredictor
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    from collections.abc import Mapping

TOTAL = JobsObjective.TOTAL_COMPLETION


class Rounds(Callback):
    """Remembers rounds and may stop after some."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.rows: list[Mapping[str, float | None]] = []
        self._stop_after = stop_after
        self.wants_stop = stop_after == 0

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Remember it."""
        self.rows.append(row)
        self.wants_stop = self._stop_after is not None and len(self.rows) >= self._stop_after


def test_callback_hears_of_starts() -> None:
    """Tests the rows of FIFO on the worked example: job 0 at 0, jobs 1 and 2 at 24."""
    rounds = Rounds()
    assert fifo(worked_example(), TOTAL, np.random.default_rng(0), rounds) is not None
    assert rounds.rows == [
        {"jobs_started": 1, "num_jobs": 3, "ticks": 0},
        {"jobs_started": 3, "num_jobs": 3, "ticks": 24},
    ]


@pytest.mark.parametrize("stop_after", [0, 1])
def test_callback_may_stop(stop_after: int) -> None:
    """Tests that a stopped replay has no schedule."""
    assert fifo(worked_example(), TOTAL, np.random.default_rng(0), Rounds(stop_after)) is None


def test_no_jobs() -> None:
    """Tests that an instance without jobs has an empty schedule."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    for policy in (fifo, a_srpt):
        schedule = policy(instance, TOTAL, np.random.default_rng(0))
        assert schedule is not None
        assert schedule.start.tolist() == []
        assert verify_jobs_schedule(instance, schedule) == []


def test_gpus_are_free_at_the_tick_of_completion() -> None:
    """Tests that a job that arrives when another one ends starts at once."""
    stage = Stage(times={"F": 5})
    instance = JobsInstance.from_parts(
        [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [Job(stages=[stage]), Job(stages=[stage], release=5)]
    )
    done = simulate(instance, fifo_policy(instance), None, HeavyEdge(instance))
    assert done is not None
    assert done.schedule.start.tolist() == [0, 5]
    assert (done.num_dispatches, done.prediction) == (2, None)


def test_predictions_are_checked() -> None:
    """Tests that a policy that needs predictions gets some, of at least 1."""
    instance = worked_example()
    with pytest.raises(ValueError, match="expected one, for the policy uses predictions"):
        simulate(instance, spjf_policy(instance), None, HeavyEdge(instance))
    with pytest.raises(ValueError, match="prediction of job 1: expected at least 1, got 0"):
        simulate(instance, spjf_policy(instance), FixedPredictor([1, 0, 1]), HeavyEdge(instance))


class Idle(Policy):
    """Starts nobody."""

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Forget the job."""

    def dispatch(self, time: int) -> list[int]:
        """Start nobody."""
        return []


def test_policy_that_starts_nobody_is_found_out() -> None:
    """Tests that the simulation ends with an error where nothing can happen any more."""
    instance = worked_example()
    policy = Idle(fifo_policy(instance).shapes)
    with pytest.raises(RuntimeError, match="expected it to start all 3 jobs, got 0"):
        simulate(instance, policy, FixedPredictor([1, 1, 1]), HeavyEdge(instance))


@settings(deadline=None, max_examples=60)
@given(instance=jobs_instances(max_jobs=5), mode=st.sampled_from(["provable", "work_conserving"]), data=st.data())
def test_nothing_is_known_of_iterations_before_completion(
    instance: JobsInstance, mode: str, data: st.DataObject
) -> None:
    """Tests that other iterations of jobs that run or wait at some time leave all starts up to then as they are."""
    predictions = data.draw(st.lists(st.integers(1, 6), min_size=instance.num_jobs, max_size=instance.num_jobs))

    def run(one: JobsInstance) -> tuple[list[int], list[int]]:
        policy = a_srpt_policy(one, TOTAL, mode=mode)
        done = simulate(one, policy, FixedPredictor(predictions), HeavyEdge(one))
        assert done is not None
        return done.schedule.start.tolist(), done.completion.tolist()

    start, completion = run(instance)
    time = data.draw(st.sampled_from(completion)) - 1
    more = [n + 3 if end > time else n for n, end in zip(instance.iterations.tolist(), completion, strict=True)]
    again, _ = run(dataclasses.replace(instance, iterations=np.array(more)))
    assert [one for one in again if one <= time] == [one for one in start if one <= time]
    assert [job for job, one in enumerate(again) if one <= time] == [
        job for job, one in enumerate(start) if one <= time
    ]
