"""Tests of a run of a policy against its rule, tick by tick."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.policies.a_srpt import a_srpt_policy
from heuristics.jobs.policies.guided_policy import ASrptParameters
from heuristics.jobs.policies.key_policies import (
    fifo,
    spjf,
    spwf,
    wcs_duration,
    wcs_subtime,
    wcs_workload,
)
from heuristics.jobs.policies.run_policy import run_policy
from instances.jobs.objective import JobsObjective
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.fixed_predictor import FixedPredictor
from tests.heuristics.jobs.plain_policies import Plain
from tests.heuristics.jobs.policies.drawn_runs import drawn_run
from tests.jobs_strategies import jobs_instances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.policy import Policy
    from heuristics.jobs.simulator import Simulation
    from instances.jobs.instance import JobsInstance


BASELINES = {
    "fifo": (fifo, "arrival", False),
    "spjf": (spjf, "duration", False),
    "spwf": (spwf, "workload", False),
    "wcs-duration": (wcs_duration, "duration", True),
    "wcs-workload": (wcs_workload, "workload", True),
    "wcs-subtime": (wcs_subtime, "arrival", True),
}
INSTANCES = jobs_instances(max_jobs=6)


def simulated(policy: Policy, instance: JobsInstance, predictions: list[int]) -> Simulation:
    """Return a simulation whose schedule verifies."""
    done = run_policy(policy, np.random.default_rng(0), predictor=FixedPredictor(predictions))
    assert done is not None
    assert verify_jobs_schedule(instance, done.schedule) == []
    return done


def assert_same(done: Simulation, plain: Plain) -> None:
    """Compare starts and placements job by job."""
    jobs = range(plain.instance.num_jobs)
    assert done.schedule.start.tolist() == [plain.start[job] for job in jobs]
    assert done.completion.tolist() == [plain.end[job] for job in jobs]
    placements: list[NDArray[np.int64]] = [done.schedule.placement(plain.instance, job) for job in jobs]
    assert [placement.tolist() for placement in placements] == [plain.placement[job].tolist() for job in jobs]


@settings(max_examples=50, deadline=None)
@given(instance=INSTANCES, name=st.sampled_from(sorted(BASELINES)), data=st.data())
def test_baselines(instance: JobsInstance, name: str, data: st.DataObject) -> None:
    """Tests starts and placements of every baseline against its rule, tick by tick."""
    predictions = data.draw(st.lists(st.integers(1, 8), min_size=instance.num_jobs, max_size=instance.num_jobs))
    method, key, skips = BASELINES[name]
    plain = Plain(instance, predictions)
    orders = {
        "arrival": lambda job: 0,
        "duration": lambda job: plain.predicted[job],
        "workload": lambda job: plain.work[job],
    }
    plain.run(orders[key], skips=skips)
    assert_same(simulated(method.make(instance), instance, predictions), plain)


@settings(max_examples=100, deadline=None)
@given(
    instance=INSTANCES,
    provable=st.booleans(),
    weighted=st.booleans(),
    theta=st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3, 2)]),
    tau=st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(2), Fraction(7, 3)]),
    eps=st.sampled_from([Fraction(0), Fraction(1, 50), Fraction(1, 2)]),
    phi=st.sampled_from([None, None, Fraction(1), Fraction(3, 2)]),
    speed=st.sampled_from([Fraction(1), Fraction(1), Fraction(1, 2), Fraction(7, 3)]),
    data=st.data(),
)
def test_a_srpt(
    instance: JobsInstance,
    provable: bool,
    weighted: bool,
    theta: Fraction,
    tau: Fraction,
    eps: Fraction,
    phi: Fraction | None,
    speed: Fraction,
    data: st.DataObject,
) -> None:
    """Tests every decision of both modes of A-SRPT against the steps of the reference, tick by tick."""
    predictions = data.draw(st.lists(st.integers(1, 8), min_size=instance.num_jobs, max_size=instance.num_jobs))
    objective = JobsObjective.WEIGHTED_COMPLETION if weighted else JobsObjective.TOTAL_COMPLETION
    parameters = ASrptParameters(theta=theta, tau=tau, eps=eps, phi=phi, speed=speed)
    policy = a_srpt_policy(instance, objective, parameters, "provable" if provable else "work_conserving")
    plain = Plain(instance, predictions, theta=theta, tau=tau, eps=eps, phi=phi)
    differ = len(set(instance.weight.tolist())) > 1
    plain.run_a_srpt(provable=provable, weighted=weighted and differ, speed=speed)
    done = simulated(policy, instance, predictions)
    assert_same(done, plain)
    assert all(done.eligible[job] == time for job, time in plain.eligible.items())
    assert set(plain.deadline) == set(policy._deadline)
    assert done.virtual_work == tuple(plain.work)
    assert (done.virtual_wait >= 0).all()
    assert (done.blocked >= 0).all()


def assert_like_the_reference(seed: int, mode: str) -> tuple[int, int]:
    """Compare one drawn run; return how many jobs were held, and how many started before they were eligible."""
    run = drawn_run(seed)
    parameters = run.parameters
    plain = Plain(
        run.instance,
        run.predictions,
        theta=parameters.theta,
        tau=parameters.tau,
        eps=parameters.eps,
        phi=parameters.phi,
    )
    plain.run_a_srpt(provable=mode == "provable", weighted=run.is_weighted)
    done = run.simulated(mode)
    assert_same(done, plain)
    return int((done.held > 0).sum()), int((done.schedule.start < done.eligible).sum())


@pytest.mark.whole
@pytest.mark.parametrize("mode", ["provable", "work_conserving"])
def test_larger_clusters(mode: str) -> None:
    """Tests every decision on up to 16 jobs, among them jobs that are held, or start before they are eligible."""
    held, early = (
        sum(column) for column in zip(*(assert_like_the_reference(seed, mode) for seed in range(40)), strict=True)
    )
    assert held >= 3
    assert (early > 100) == (mode == "work_conserving")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["provable", "work_conserving"])
def test_larger_clusters_at_length(mode: str) -> None:
    """Tests the same on 2,000 runs."""
    for seed in range(2_000):
        assert_like_the_reference(seed, mode)


def test_work_conserving_mode_leaves_nobody_who_fits() -> None:
    """Tests at every event of 60 runs that after the dispatch no eligible job that is not held has a placement."""
    waited = 0
    for seed in range(60):
        run = drawn_run(seed)
        instance, parameters = run.instance, run.parameters
        policy = a_srpt_policy(instance, run.objective, parameters, "work_conserving")
        done = simulated(policy, instance, run.predictions)
        rule = HeavyEdge(instance, parameters.phi)
        start, end, eligible = (values.tolist() for values in (done.schedule.start, done.completion, done.eligible))
        used = [done.schedule.placement(instance, job).sum(axis=0) for job in range(instance.num_jobs)]
        for time in sorted({*start, *end, *eligible, *instance.release.tolist(), *policy._deadline.values()}):
            running = [used[job] for job in range(instance.num_jobs) if start[job] <= time < end[job]]
            free = instance.num_gpus_of - sum(running, np.zeros(instance.num_servers, dtype=np.int64))
            for job in range(instance.num_jobs):
                is_held = time < policy._deadline.get(job, 0)
                if eligible[job] <= time < start[job] and not is_held:
                    waited += 1
                    assert rule.place(job, free) is None
    assert waited > 50
