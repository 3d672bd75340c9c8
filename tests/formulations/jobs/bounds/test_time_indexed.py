"""Tests of the bounds from linear programs over patterns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.jobs.bounds import time_indexed as pattern_lp
from formulations.jobs.bounds.single_machine import release_plus_duration, sets_of_kinds
from formulations.jobs.bounds.time_indexed import interval_indexed, jobs_time_indexed, portfolio
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import JobsObjective
from instances.jobs.servers import JobsServer
from tests.brute_force_jobs import optimum_jobs
from tests.jobs_strategies import jobs_instances, worked_example

TOTAL, WEIGHTED = JobsObjective.TOTAL_COMPLETION, JobsObjective.WEIGHTED_COMPLETION


def test_worked_example() -> None:
    """Tests that both programs beat the solver-free terms 66 and stay below the optimum 98 of the example."""
    instance = worked_example()
    assert 66 < jobs_time_indexed(instance, TOTAL) <= 98
    assert 66 < interval_indexed(instance, TOTAL) <= 98
    assert portfolio(instance, TOTAL) == max(
        bound(instance, TOTAL) for bound in (jobs_time_indexed, interval_indexed, sets_of_kinds)
    )


@settings(deadline=None, max_examples=30)
@given(instance=jobs_instances(max_jobs=4, max_servers=2))
def test_any_grid_is_below_the_optimum(instance: JobsInstance) -> None:
    """Tests that the programs stay below the optimum, however coarse buckets and intervals are."""
    best = optimum_jobs(instance, WEIGHTED)
    for max_columns in (1, 30, 20_000):
        assert jobs_time_indexed(instance, WEIGHTED, max_columns=max_columns) <= best
        assert interval_indexed(instance, WEIGHTED, max_columns=max_columns) <= best


@settings(deadline=None, max_examples=30)
@given(instance=jobs_instances(max_jobs=4, max_servers=2))
def test_relaxed_placements_are_below_the_optimum(instance: JobsInstance) -> None:
    """Tests that the programs on GPUs by kind, and on one pool of GPUs, stay below the optimum."""
    best = optimum_jobs(instance, TOTAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pattern_lp, "MAX_PATTERNS", 0)
        assert jobs_time_indexed(instance, TOTAL) <= best
        assert interval_indexed(instance, TOTAL) <= best
    with pytest.MonkeyPatch.context() as patch:
        from formulations.jobs.pattern_table import kind_patterns

        patch.setattr(pattern_lp, "pattern_table", lambda own, **_: kind_patterns(own))
        assert jobs_time_indexed(instance, TOTAL) <= best
        assert interval_indexed(instance, TOTAL) <= best


def test_no_word_of_the_solver_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that absurd multipliers, or none, only weaken the bound: it never exceeds the optimum."""
    instance = generate_jobs("jobs-small", jobs=5, seed=2, load=2.0)
    best = optimum_jobs(instance, TOTAL)
    least = release_plus_duration(instance, TOTAL)
    rng = np.random.default_rng(3)
    for multipliers in (
        lambda lp, *_: None,
        lambda lp, *_: np.full(len(lp.limit), 1e9),
        lambda lp, *_: np.full(len(lp.limit), np.nan),
        lambda lp, *_: rng.normal(scale=3.0, size=len(lp.limit)),
    ):
        monkeypatch.setattr(pattern_lp, "highs_multipliers", multipliers)
        for bound in (jobs_time_indexed, interval_indexed):
            assert least <= bound(instance, TOTAL) <= best


def test_many_jobs_stay_within_the_columns() -> None:
    """Tests that 500 jobs are bounded, with one pool of GPUs, above release plus shortest duration."""
    instance = generate_jobs("jobs-poisson", jobs=500, seed=1, load=1.1)
    least = release_plus_duration(instance, TOTAL)
    assert interval_indexed(instance, TOTAL, max_columns=5_000) > 0.9 * least
    assert jobs_time_indexed(instance, TOTAL, max_columns=5_000) >= least


def one_gpu(*jobs: tuple[int, int, int]) -> JobsInstance:
    """Return jobs of one replica on one GPU, given as duration, release and weight."""
    made = [Job(stages=[Stage(times=ticks)], release=release, weight=weight) for ticks, release, weight in jobs]
    return JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], made)


def test_smiths_rule_is_proved() -> None:
    """Tests that buckets of one tick prove 3 x 1 + 1 x 3 + 1 x 6 = 12 by weight over duration, wider ones less."""
    instance = one_gpu((2, 0, 1), (3, 0, 1), (1, 0, 3))
    assert jobs_time_indexed(instance, WEIGHTED) == 12
    assert jobs_time_indexed(instance, WEIGHTED, max_columns=9) < 12
    assert jobs_time_indexed(one_gpu((2, 7, 1), (3, 7, 1), (1, 7, 3)), WEIGHTED) == 12 + 7 * 5


def test_costs_beyond_64_bits_prove_nothing() -> None:
    """Tests that the bound is 0 where a job of weight 1024 cannot start before tick 2**51: 3 x 2**61 is too much."""
    instance = one_gpu((1, 2**51, 2**10))
    assert [bound(instance, WEIGHTED) for bound in (jobs_time_indexed, interval_indexed)] == [0, 0]
    assert [bound(instance, TOTAL) for bound in (jobs_time_indexed, interval_indexed)] == [2**51 + 1] * 2


def test_no_jobs() -> None:
    """Tests that nothing to do costs nothing."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    assert [bound(instance, TOTAL) for bound in (jobs_time_indexed, interval_indexed, portfolio)] == [0, 0, 0]
