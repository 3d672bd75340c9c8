"""Tests of the conformance kit for jobs: registered methods pass it, wrong ones do not."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.jobs.objective import JobsObjective
from instances.jobs.schedule import JobsSchedule
from solvers.conformance import check_jobs_method as kit
from solvers.conformance.check_jobs_method import (
    JOBS_CHECKS,
    check_is_online,
    check_jobs_instance_unchanged,
    check_jobs_method,
    check_jobs_repeatable,
    check_jobs_silent,
    check_jobs_verified,
)
from solvers.conformance.check_method import ConformanceError
from solvers.methods import JOBS_METHODS
from solvers.result import UnverifiedScheduleError
from solvers.solve import solve

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance

POLICIES = [name for name, method in JOBS_METHODS.items() if method.kind == "policy"]
EXACT = [name for name, method in JOBS_METHODS.items() if method.kind == "exact"]
BLIND = {"predictor": "running-median"}


@pytest.mark.parametrize("name", POLICIES)
def test_policies_conform(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that every registered policy passes the kit; all but what verifies on every fourth instance."""
    check_jobs_verified(name)
    everything = kit.check_jobs_instances
    monkeypatch.setattr(kit, "check_jobs_instances", lambda **options: everything(**options)[1::4])
    for check in JOBS_CHECKS.values():
        if check is not check_jobs_verified:
            check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_policies_pass_the_whole_kit(name: str) -> None:
    """Tests that every registered policy passes every check on every instance of the kit."""
    check_jobs_method(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_exact_methods_conform(name: str) -> None:
    """Tests that every exact method passes the kit and proves the optimum of its instances."""
    check_jobs_method(name)


@pytest.mark.parametrize("placement", ["consolidated", "stage-order", "random"])
@pytest.mark.parametrize("name", ["a-srpt", "wcs-duration"])
def test_other_placements_verify_and_repeat(name: str, placement: str) -> None:
    """Tests that the other placement rules give schedules that verify, the same ones from the same seed."""
    check_jobs_verified(name, placement=placement)
    check_jobs_repeatable(name, placement=placement)


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "srtf"])
def test_policies_are_online(name: str) -> None:
    """Tests that no policy acts on the iterations of a job before its end, once no oracle tells them."""
    predicts = "predictor" in inspect.signature(JOBS_METHODS[name].resolve()).parameters
    check_is_online(name, **(BLIND if predicts else {}))


@pytest.mark.parametrize("mode", ["work_conserving", "overtaking"])
def test_other_modes_of_a_srpt_are_online(mode: str) -> None:
    """Tests the same for the other modes of A-SRPT."""
    check_is_online("a-srpt", mode=mode, **BLIND)


def test_oracles_are_found_out() -> None:
    """Tests that a policy that knows all iterations is no online policy."""
    with pytest.raises(ConformanceError, match=r"^is online, instance .*: expected the same decisions before tick"):
        check_is_online("srtf")


def _fifo(instance: JobsInstance, seed: int = 0) -> JobsSchedule:
    """Return a right schedule."""
    schedule = solve(instance, "fifo", seed=seed, bounds=[]).schedule
    assert schedule is not None
    return schedule


def test_early_starts_are_found() -> None:
    """Tests that schedules that do not verify are refused."""

    def at_once(instance: JobsInstance) -> JobsSchedule:
        schedule = _fifo(instance)
        return JobsSchedule.from_placements(
            instance,
            np.zeros(instance.num_jobs, dtype=np.int64),
            [schedule.placement(instance, job) for job in range(instance.num_jobs)],
        )

    with pytest.raises(UnverifiedScheduleError, match=r"^at_once: schedule with \d+ violations"):
        check_jobs_verified(at_once)


def test_no_schedule_is_found() -> None:
    """Tests that a policy that gives up is found."""
    with pytest.raises(ConformanceError, match=r"^verified, instance 'no jobs': expected a schedule"):
        check_jobs_verified(lambda instance: None)


def test_memory_between_runs_is_found() -> None:
    """Tests that a policy with a memory of its own is found."""
    calls = []

    def later_and_later(instance: JobsInstance) -> JobsSchedule:
        calls.append(instance)
        schedule = _fifo(instance)
        return JobsSchedule.from_placements(
            instance,
            schedule.start + len(calls),
            [schedule.placement(instance, job) for job in range(instance.num_jobs)],
        )

    with pytest.raises(ConformanceError, match=r"^repeatable"):
        check_jobs_repeatable(later_and_later)


def test_printing_is_found() -> None:
    """Tests that a policy that prints is found."""

    def talkative(instance: JobsInstance) -> JobsSchedule:
        print("hello")
        return _fifo(instance)

    with pytest.raises(ConformanceError, match=r"^silent.*got 'hello"):
        check_jobs_silent(talkative)


def test_changed_instances_are_found() -> None:
    """Tests that a policy that gives the jobs other names is found."""

    def renames(instance: JobsInstance) -> JobsSchedule:
        schedule = _fifo(instance)
        object.__setattr__(instance, "name", instance.name + "!")
        return schedule

    with pytest.raises(ConformanceError, match=r"^instance unchanged"):
        check_jobs_instance_unchanged(renames)


def test_objectives_reach_the_policy() -> None:
    """Tests that a policy is asked for both objectives."""
    seen = set()

    def listens(instance: JobsInstance, objective: JobsObjective) -> JobsSchedule:
        seen.add(objective)
        return _fifo(instance)

    check_jobs_verified(listens)
    assert seen == set(JobsObjective)
