"""Tests of jobs instances with a planted optimum."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.planted import PlantedJobs, planted_jobs
from instances.jobs.iteration_time import duration, iteration_time, least_durations
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.verify import verify_jobs_schedule
from tests.jobs_strategies import Placement, all_placements

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance

OBJECTIVES = ("weighted_completion", "total_completion")


@settings(max_examples=25, deadline=None)
@given(
    jobs=st.integers(4, 40),
    seed=st.integers(0, 10**6),
    objective=st.sampled_from(OBJECTIVES),
    tightness=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_planted_schedules_verify(jobs: int, seed: int, objective: str, tightness: float) -> None:
    """Tests that the planted schedule verifies, has the stated value, and no job could be shorter anywhere."""
    planted = planted_jobs(jobs=jobs, seed=seed, objective=objective, tightness=tightness)
    instance, schedule = planted.instance, planted.schedule
    assert instance.num_jobs == jobs
    assert verify_jobs_schedule(instance, schedule) == []
    assert jobs_objective_value(instance, schedule, planted.objective) == planted.optimum
    placed = [duration(instance, job, schedule.placement(instance, job)) for job in range(jobs)]
    assert placed == least_durations(instance).tolist()


def test_weighted_slots_are_full() -> None:
    """Tests the conditions of the proof: slots hold all GPUs, and weight over GPUs and ticks never rises."""
    planted = planted_jobs(jobs=30, seed=4)
    instance, starts = planted.instance, planted.schedule.start
    durations = least_durations(instance)
    last_ratio, now = float("inf"), 0
    for start in np.unique(starts):
        jobs = np.flatnonzero(starts == start)
        assert start == now
        assert instance.gang_size[jobs].sum() == instance.num_gpus
        assert len(set(durations[jobs].tolist())) == 1
        ratios = set((instance.weight[jobs] / (instance.gang_size[jobs] * durations[jobs])).tolist())
        assert max(ratios) - min(ratios) < 1e-12
        assert max(ratios) <= last_ratio + 1e-12
        last_ratio, now = min(ratios), now + int(durations[jobs[0]])
    assert len(np.unique(starts)) == 5


def _smallest(instance: JobsInstance, weights: list[int]) -> int:
    """Return the optimum by enumeration: every placement of every job, every order, each started as early as it can.

    Some optimal schedule starts its jobs in some order, each at the earliest tick that is not before the one before.
    """
    choices: list[list[tuple[int, list[int]]]] = []
    for job in range(instance.num_jobs):
        best: dict[tuple[int, ...], int] = {}
        for placement in all_placements(instance, job):
            key, ticks = tuple(placement.sum(axis=0).tolist()), duration(instance, job, placement)
            best[key] = min(best.get(key, ticks), ticks)
        choices.append([(ticks, list(key)) for key, ticks in best.items()])
    capacity, release = instance.num_gpus_of.tolist(), instance.release.tolist()
    smallest = None
    for order in itertools.permutations(range(instance.num_jobs)):
        for chosen in itertools.product(*(choices[job] for job in order)):
            now, value, running = 0, 0, []
            for job, (ticks, held) in zip(order, chosen, strict=True):
                now = max(now, release[job])
                for end in [now, *sorted(end for end, _ in running if end > now)]:
                    used = [sum(other[v] for stop, other in running if stop > end) for v in range(len(capacity))]
                    if all(used[v] + held[v] <= capacity[v] for v in range(len(capacity))):
                        now = end
                        break
                running.append((now + ticks, held))
                value += weights[job] * (now + ticks)
            smallest = value if smallest is None else min(smallest, value)
    assert smallest is not None
    return smallest


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(6))
def test_enumeration_finds_nothing_better(objective: str, seed: int) -> None:
    """Tests that the optimum of small planted instances is the planted value, by enumeration."""
    options: dict[str, Any] = {"slots": 2} if objective == "weighted_completion" else {}
    cluster = parse_cluster("2xV100-16GB,2xT4")
    planted = planted_jobs(jobs=4, seed=seed, objective=objective, cluster=cluster, **options)
    weights = planted.instance.weight.tolist() if planted.objective is JobsObjective.WEIGHTED_COMPLETION else [1] * 4
    assert _smallest(planted.instance, weights) == planted.optimum


def test_traffic_is_planted() -> None:
    """Tests that jobs with several stages or replicas would pay for being split."""
    planted = planted_jobs(jobs=20, seed=2)
    instance = planted.instance
    split: list[tuple[int, Placement]] = []
    for job in np.flatnonzero(instance.gang_size > 1).tolist():
        own = planted.schedule.placement(instance, job)
        split += [(job, x) for x in all_placements(instance, job)[:50] if (x.sum(axis=0) > 0).sum() > 1][:3]
        assert iteration_time(instance, job, own).denominator == 1
    costs = [
        iteration_time(instance, job, x) > iteration_time(instance, job, planted.schedule.placement(instance, job))
        for job, x in split
    ]
    assert costs and all(costs)


def test_same_arguments_same_bytes() -> None:
    """Tests that the seed decides everything."""
    one, two, other = (planted_jobs(jobs=8, seed=seed) for seed in (1, 1, 2))
    assert isinstance(one, PlantedJobs)
    assert one.instance.sha256 == two.instance.sha256 != other.instance.sha256


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 3}, r"jobs: expected at least 4, one per server, got 3\."),
        ({"slots": 4}, r"slots: expected an integer in 1\.\.2, got 4\."),
        ({"gang": 1}, r"gang: expected none with weighted_completion, got 1\."),
        ({"objective": "total_completion", "slots": 1}, r"slots: expected none with total_completion, got 1\."),
        ({"objective": "total_completion", "gang": 4}, r"gang: expected 1 or 2, which divide .*, got 4\."),
        (
            {"objective": "makespan"},
            r"objective: expected one of total_completion, weighted_completion, got 'makespan'",
        ),
        ({"tightness": 1.5}, r"tightness: expected a number in 0\.\.1, got 1\.5\."),
    ],
)
def test_bad_requests(options: dict[str, Any], message: str) -> None:
    """Tests that what cannot be planted is refused with the reason."""
    with pytest.raises(ValueError, match=message):
        planted_jobs(**{"jobs": 8, "seed": 1, **options})
