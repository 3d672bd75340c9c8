"""Tests of results of jobs and of the figures in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from instances.jobs import Job, JobsInstance, JobsObjective, JobsSchedule, JobsServer, Stage
from solvers import Termination
from solvers.bound import Bound
from solvers.jobs.jobs_result import JobsResult
from solvers.result import UnverifiedScheduleError


def _twenty() -> JobsInstance:
    """Twenty jobs of one GPU that take 1 to 20 ticks, arriving at tick 10, on twenty GPUs."""
    server = JobsServer(kind="F", gpus=20, nic_bytes_per_tick=1)
    jobs = [Job(stages=[Stage(times={"F": 1})], iterations=ticks, release=10, weight=2) for ticks in range(1, 21)]
    return JobsInstance.from_parts([server], jobs, name="twenty")


def _result(instance: JobsInstance, start: int, **options: Any) -> JobsResult:
    """Return the result with all jobs starting at one tick."""
    schedule = JobsSchedule.from_placements(
        instance, np.full(instance.num_jobs, start), [np.ones((1, 1), dtype=np.int64)] * instance.num_jobs
    )
    given: dict[str, Any] = {"objective_name": JobsObjective.TOTAL_COMPLETION, "bound": None, **options}
    return JobsResult(
        instance=instance,
        method="mine",
        schedule=schedule,
        termination=Termination.FINISHED,
        runtime_seconds=1.0,
        parameters={},
        seed=0,
        threads=1,
        **given,
    )


def test_figures_by_hand() -> None:
    """Tests every figure on twenty jobs that start two ticks late."""
    result = _result(_twenty(), 12)
    assert result.objective == 20 * 12 + 210
    assert result.jct is not None
    assert result.jct.tolist() == [2 + ticks for ticks in range(1, 21)]
    figures = result.statistics
    assert figures is not None
    assert (figures.jct_p50, figures.jct_p95, figures.jct_p99, figures.jct_max) == (12, 21, 22, 22)
    assert figures.jct_mean == pytest.approx(12.5)
    assert (figures.queueing_mean, figures.queueing_max) == (2.0, 2)
    assert (figures.stretch_mean, figures.stretch_max, figures.makespan) == (1.0, 1.0, 32)
    assert figures.utilisation == pytest.approx(210 / (20 * 22))


def test_weights_count_for_their_objective_only() -> None:
    """Tests that the objective that is named is the one that is computed."""
    instance = _twenty()
    total = _result(instance, 10).objective
    weighted = _result(instance, 10, objective_name=JobsObjective.WEIGHTED_COMPLETION).objective
    assert (total, weighted) == (410, 820)


def test_unverified_schedule_is_refused() -> None:
    """Tests that a result with a schedule that starts before the arrivals cannot be made."""
    with pytest.raises(UnverifiedScheduleError, match=r"^mine: schedule with 20 violations\. "):
        _result(_twenty(), 9)


def test_bound_above_the_objective_is_refused() -> None:
    """Tests that a result with a negative gap cannot be made, and one with a gap of 0 can."""
    with pytest.raises(ValueError, match=r"^bound: expected at most the objective 410, got 411\.$"):
        _result(_twenty(), 10, bound=Bound(value=411, method="b", proof="p"))
    met = _result(_twenty(), 10, bound=Bound(value=410, method="b", proof="p"))
    assert (met.gap, met.gap_kind, str(met.status)) == (0.0, "optimality gap", "optimal")
    open_gap = _result(_twenty(), 10, bound=Bound(value=205, method="b", proof="p"))
    assert (open_gap.gap, open_gap.gap_kind) == (1.0, "gap to lower bound")


def test_no_jobs() -> None:
    """Tests that an instance without jobs has objective 0 and no figures."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    result = _result(instance, 0, bound=Bound(value=0, method="b", proof="p"))
    assert (result.objective, result.statistics, result.gap, str(result.status)) == (0, None, None, "optimal")
