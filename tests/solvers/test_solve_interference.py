"""Tests of the front door under interference: who is refused, what is proved, and what results tell."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.search.progress import Callback
from instances.jobs.gantt import jobs_gantt_svg, server_lanes
from instances.jobs.json import jobs_schedule_from_json, jobs_schedule_to_json
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import Racks
from solvers.bound_methods import JOBS_BOUND_METHODS
from solvers.lower_bound import lower_bound
from solvers.methods import JOBS_METHODS
from solvers.run.outcome import Status, Termination
from solvers.solve import solve
from tests.brute_force_interference import optimum_interfering, tiny_interfering
from tests.interference_strategies import two_jobs

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance

POLICIES = [name for name, method in JOBS_METHODS.items() if method.kind == "policy"]
EXACT = [name for name, method in JOBS_METHODS.items() if method.kind == "exact"]


@pytest.mark.parametrize("method", [name for name in EXACT if not JOBS_METHODS[name].knows_interference])
def test_who_does_not_know_interference_is_refused(method: str) -> None:
    """Tests that a model to which jobs run as long as alone says so, as method and as bound, and runs without it."""
    message = rf"method: expected one that knows interference \(co-location-search, or a policy\), got '{method}'"
    with pytest.raises(ValueError, match=message):
        solve(two_jobs(), method)
    with pytest.raises(ValueError, match=message):
        lower_bound(two_jobs(), methods=[method])
    assert solve(dataclasses.replace(two_jobs(), interference=None), method, threads=1).objective == 19


def test_figures_by_hand() -> None:
    """Tests the figures of the worked example: jobs of 10 and 5 ticks that run for 12 and 7."""
    result = solve(two_jobs(), "fifo")
    assert result.objective == 23
    figures = result.statistics
    assert figures is not None
    slowed = figures.interference
    assert slowed is not None
    assert (slowed.lost_mean, slowed.lost_max) == (2.0, 2)
    assert slowed.speed_mean == pytest.approx((10 / 12 + 5 / 7) / 2)
    assert slowed.speed_p05 == pytest.approx(5 / 7)
    assert (figures.stretch_mean, figures.stretch_max, figures.makespan) == (1.0, 1.0, 12)
    assert figures.utilisation == pytest.approx((2 * 12 + 2 * 7) / (4 * 12))
    assert result.to_dict()["statistics"]["interference"] == dataclasses.asdict(slowed)  # type: ignore[index]
    assert "ticks lost" in result.summary()["interference"]
    base = solve(dataclasses.replace(two_jobs(), interference=None), "fifo")
    assert base.statistics is not None
    assert "interference" not in base.statistics.to_dict()
    assert "interference" not in base.summary()


class _Given:
    """A policy that returns a schedule that is known."""

    def __init__(self, schedule: JobsSchedule) -> None:
        self._schedule = schedule

    def __call__(self, instance: JobsInstance) -> JobsSchedule:
        """Return it."""
        return self._schedule


def test_shared_gpus_by_hand() -> None:
    """Tests utilisation and lanes where two jobs share a GPU: a on GPUs 0 and 1 to 15, b on 1 and 2 from 4 to 14."""
    instance = two_jobs(pair=700)
    schedule = JobsSchedule.from_placements(instance, [0, 4], [np.array([[2]])] * 2, [{0: [0, 1]}, {0: [1, 2]}])
    result = solve(instance, _Given(schedule))
    assert result.completion is not None
    assert result.completion.tolist() == [15, 14]
    assert result.statistics is not None
    assert result.statistics.utilisation == pytest.approx((15 + 15 + 10) / (4 * 15))
    bars = {(bar.job, bar.first_lane, bar.num_lanes, bar.start, bar.ticks) for bar in server_lanes(instance, schedule)}
    assert bars == {(0, 0, 1, 0, 15), (0, 2, 1, 0, 15), (1, 3, 2, 4, 10)}  # two lanes per GPU: 0-1, 2-3, 4-5, 6-7
    assert jobs_gantt_svg(instance, schedule).startswith("<svg")
    assert jobs_schedule_from_json(jobs_schedule_to_json(instance, schedule), instance).gpu is not None


@pytest.mark.parametrize("seed", range(8))
def test_optimum_and_policies(seed: int) -> None:
    """Tests bounds <= proven optimum = enumeration <= every policy on tiny instances, shared GPUs in half of them."""
    instance = tiny_interfering(seed)
    proof = solve(instance, "co-location-search", time_limit=60)
    optimum = optimum_interfering(instance)
    assert (proof.status, proof.objective, proof.lower_bound) == (Status.OPTIMAL, optimum, optimum)
    bounds = lower_bound(instance, methods=list(JOBS_BOUND_METHODS))
    assert all(bound.value <= optimum for bound in bounds)
    for name in POLICIES:
        result = solve(instance, name, bounds=[proof.bound] if proof.bound is not None else [])
        assert result.objective is not None
        assert result.objective >= optimum


@pytest.mark.parametrize("seed", [0, 3, 8, 12])
def test_uplinks_in_exact_methods(seed: int) -> None:
    """Tests that without interference all exact methods agree on the optimum where racks lengthen iterations."""
    tiny = tiny_interfering(seed)
    racks = Racks.of([*range(tiny.num_servers)], [1] * tiny.num_servers)
    instance = dataclasses.replace(tiny, interference=None, racks=racks)
    results = [solve(instance, method, threads=1, time_limit=60) for method in EXACT]
    assert {result.status for result in results} == {Status.OPTIMAL}
    assert len({result.objective for result in results}) == 1


class _StopAtOnce(Callback):
    """Asks to stop from the beginning."""

    wants_stop = True


def test_interrupted_search_keeps_its_start() -> None:
    """Tests that a search that is stopped has the best policy's schedule, 24, and the bound before it, 20, not 21."""
    result = solve(tiny_interfering(1), "co-location-search", callback=_StopAtOnce())
    assert (result.objective, result.lower_bound, result.status) == (24, 20, Status.FEASIBLE)
    assert result.termination is Termination.INTERRUPTED
    assert solve(tiny_interfering(1), "co-location-search").objective == 21
