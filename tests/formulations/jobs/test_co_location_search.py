"""Tests of bounds and of the complete search under interference against enumeration of all starts and placements."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.jobs.bounds.single_machine import VirtualMachineJobs, mean_busy_value, srpt_value, work_per_gpu
from formulations.jobs.co_location_search import CoLocationSearch, placement_options
from formulations.jobs.placement_patterns import TooManyPatternsError
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from solvers.bound_methods import JOBS_BOUND_METHODS
from tests.brute_force_interference import optimum_interfering, tiny_interfering
from tests.brute_force_jobs import optimum_jobs
from tests.jobs_strategies import jobs_instances, worked_example

TOTAL, WEIGHTED = JobsObjective.TOTAL_COMPLETION, JobsObjective.WEIGHTED_COMPLETION


def check(seed: int) -> int:
    """Hold bounds <= optimum = search on one instance, and return by what the best bound falls short."""
    instance = tiny_interfering(seed)
    objective = TOTAL if seed % 4 < 2 else WEIGHTED
    optimum = optimum_interfering(instance, str(objective))
    found, is_finished = CoLocationSearch(instance, objective).run(None)
    assert is_finished
    assert found is not None
    assert verify_jobs_schedule(instance, found) == []
    assert jobs_objective_value(instance, found, objective) == optimum
    bounds = {name: method.resolve()(instance, objective) for name, method in JOBS_BOUND_METHODS.items()}
    assert {name: value for name, value in bounds.items() if value > optimum} == {}
    assert CoLocationSearch(instance, objective).run(optimum) == (None, True)  # nothing costs less
    return optimum - max(bounds.values())


@pytest.mark.parametrize("first", [0, pytest.param(20, marks=pytest.mark.slow)])
def test_bounds_and_search_on_tiny_instances(first: int) -> None:
    """Tests a sample of the 500: no bound above the optimum, which the search finds and proves."""
    short = [check(seed) for seed in range(first, first + 20)]
    assert 0 in short  # tight on some: a bound that is much too low would pass everything else


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_bounds_and_search_on_500_tiny_instances(first: int) -> None:
    """Tests all 500: no bound above the optimum, which the search finds and proves."""
    for seed in range(first, first + 50):
        check(seed)


def test_a_start_where_nothing_happens() -> None:
    """Tests an instance whose only best schedule starts a job that has arrived at a tick without any event.

    One GPU; a takes 3 ticks and runs at 696 beside b, b takes 8 and runs at 738 beside a; weights 2 and 4. If b
    starts at 0, a ends at 5 and b at 10: 50. If b starts at 1, a does 1000 units before, needs ceil(2000 / 696) = 3
    ticks more and ends at 4; b does 3 * 738 by then, needs ceil(5786 / 1000) = 6 more and ends at 10: 48.
    """
    jobs = [Job(stages=[Stage(times=3)], weight=2), Job(stages=[Stage(times=8)], weight=4)]
    nothing = np.zeros((2, 0), dtype=np.int64)
    interference = Interference(
        resources=(),
        use=nothing,
        sens=nothing,
        share=2,
        classes=("a", "b"),
        job_class=np.array([0, 1]),
        pair=np.array([[1, 696], [738, 1]]),
    )
    server = JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)
    instance = JobsInstance.from_parts([server], jobs, interference=interference)
    found, is_finished = CoLocationSearch(instance, WEIGHTED).run(None)
    assert is_finished
    assert found is not None
    assert found.start.tolist() == [0, 1]
    assert jobs_objective_value(instance, found, WEIGHTED) == 48 == optimum_interfering(instance, str(WEIGHTED))
    at_events = [
        jobs_objective_value(instance, _both_on_the_gpu(instance, start), WEIGHTED)
        for start in ((0, 0), (0, 3), (8, 0))
    ]
    assert at_events == [50, 50, 54]


def _both_on_the_gpu(instance: JobsInstance, start: tuple[int, int]) -> JobsSchedule:
    """Return both jobs on the only GPU."""
    return JobsSchedule.from_placements(instance, start, [np.array([[1]])] * 2, [{0: [0]}] * 2)


def test_bounds_with_gamma() -> None:
    """Tests Phi = 7/5 by hand: two jobs of 4 ticks on a GPU that they share at 700 each, L1 = (4 + 8) * 5/7, L2 = 8."""
    jobs = [Job(stages=[Stage(times=4)]) for _ in range(2)]
    nothing = np.zeros((2, 0), dtype=np.int64)
    shared = Interference(resources=(), use=nothing, sens=nothing, share=2, pair=np.array([[700]]))
    server = JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)
    instance = JobsInstance.from_parts([server], jobs, interference=shared)
    assert work_per_gpu(instance) == (7, 5)
    machine = VirtualMachineJobs.of(instance, TOTAL)
    assert (machine.num_gpus, machine.gang_size) == (7, (5, 5))
    assert srpt_value(machine) == Fraction(60, 7)
    # L3: each is served for 20/7 ticks, around 10/7 and 30/7, plus half of 4 each; 40/7 + 4 = 9.71...
    assert 0 <= Fraction(68, 7) - mean_busy_value(machine) < Fraction(1, 2**70)
    bounds = {name: method.resolve()(instance, TOTAL) for name, method in JOBS_BOUND_METHODS.items()}
    assert bounds["virtual-srpt"] == 9
    assert bounds["release-plus-duration"] == 8
    assert bounds["mean-busy-time"] == 10
    assert max(bounds.values()) <= optimum_interfering(instance) == 12


def test_bounds_of_the_base_problem_stay() -> None:
    """Tests that with one job per GPU all bounds are those of the same instance without interference."""
    for seed in range(0, 40, 2):
        instance = tiny_interfering(seed)
        bare = dataclasses.replace(instance, interference=None)
        for method in JOBS_BOUND_METHODS.values():
            assert method.resolve()(instance, TOTAL) == method.resolve()(bare, TOTAL)


@settings(max_examples=15, deadline=None)
@given(instance=jobs_instances(max_jobs=3, max_servers=2, max_stages=2))
def test_without_interference(instance: JobsInstance) -> None:
    """Tests that the search proves the optimum of the base problem too."""
    found, is_finished = CoLocationSearch(instance, WEIGHTED).run(None)
    assert is_finished
    assert found is not None
    assert jobs_objective_value(instance, found, WEIGHTED) == optimum_jobs(instance, "weighted_completion")


def test_limits_of_the_search() -> None:
    """Tests that it stops when told to, ends at a bound that is met, and says where placements are too many."""
    instance = worked_example()
    search = CoLocationSearch(instance, TOTAL)
    assert search.run(None, lambda: True) == (None, False)
    reported: list[int] = []
    found, is_finished = search.run(None, report=reported.append)
    assert is_finished
    assert found is not None
    assert jobs_objective_value(instance, found, TOTAL) == 98 == reported[-1]
    assert reported == sorted(set(reported), reverse=True)
    assert search.run(98, lambda: False, lower_bound=98) == (None, True)
    with pytest.raises(TooManyPatternsError, match=r"jobs\[1\]: expected at most 2 placements, got more\."):
        placement_options(instance, 1, max_placements=2)
