"""The two inequalities of the reference on generated instances: sections 6 and 7."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from formulations.jobs.bounds.mean_busy_time import mean_busy_time
from formulations.jobs.bounds.release_plus_duration import release_plus_duration
from formulations.jobs.bounds.sets_of_kinds import sets_of_kinds
from formulations.jobs.bounds.virtual_srpt import virtual_srpt
from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters
from heuristics.jobs.policies.fifo import fifo
from heuristics.jobs.policies.qssf import qssf
from heuristics.jobs.policies.spjf import spjf
from heuristics.jobs.policies.spwf import spwf
from heuristics.jobs.policies.srtf import srtf
from heuristics.jobs.policies.wcs_duration import wcs_duration
from heuristics.jobs.policies.wcs_subtime import wcs_subtime
from heuristics.jobs.policies.wcs_workload import wcs_workload
from heuristics.jobs.restricted_times import restricted_times
from heuristics.jobs.virtual_machine import VirtualMachine
from instances.jobs import (
    JobsInstance,
    JobsObjective,
    jobs_objective_value,
    least_durations,
    verify_jobs_schedule,
)
from tests.heuristics.jobs.policies.drawn_runs import DrawnRun, drawn_run
from tests.jobs_strategies import worked_example

if TYPE_CHECKING:
    from heuristics.jobs.simulation import Simulation

BASELINES = (fifo, spjf, spwf, wcs_duration, wcs_workload, wcs_subtime, qssf, srtf)
BOUNDS = (virtual_srpt, release_plus_duration, mean_busy_time, sets_of_kinds)
PLACEMENTS = ("heavy-edge", "consolidated", "stage-order", "random")
SAMPLE = range(40)
ALL = range(2_000)


def assert_bounds_are_below(seed: int) -> None:
    """Run every policy on an instance, under some placement rule: schedules verify, no bound is above a value."""
    run = drawn_run(seed, max_jobs=8)
    schedules = [run.simulated(mode).schedule for mode in ("provable", "work_conserving")]
    for number, policy in enumerate(BASELINES):
        placement = PLACEMENTS[(seed + number) % len(PLACEMENTS)]
        made = policy(run.instance, run.objective, np.random.default_rng(seed), placement=placement)
        assert made is not None
        schedules.append(made)
    for objective in JobsObjective:
        lowest = max(bound(run.instance, objective) for bound in BOUNDS)
        for schedule in schedules:
            assert verify_jobs_schedule(run.instance, schedule) == []
            assert lowest <= jobs_objective_value(run.instance, schedule, objective)


def test_no_bound_is_above_a_policy() -> None:
    """Tests section 6 and every schedule on a sample."""
    for seed in SAMPLE:
        assert_bounds_are_below(seed)


@pytest.mark.slow
def test_no_bound_is_above_a_policy_at_length() -> None:
    """Tests section 6 and every schedule on 2,000 instances."""
    for seed in ALL:
        assert_bounds_are_below(seed)


def srpt_sum(instance: JobsInstance, work: list[int]) -> Fraction:
    """Return the sum of completion times of preemptive SRPT in ticks for work in GPU-ticks."""
    machine, total, release = VirtualMachine(), 0, instance.release.tolist()
    for job in sorted(range(instance.num_jobs), key=release.__getitem__):
        total += sum(time for time, _ in machine.advance(release[job] * instance.num_gpus))
        machine.insert(job, work[job], release[job])
    total += sum(time for time, _ in machine.drain())
    return Fraction(total, instance.num_gpus)


class Measured:
    """mu1, mu2, rho and b of a run, and what they bound; section 7."""

    def __init__(self, run: DrawnRun, done: Simulation) -> None:
        self.run, self.done = run, done
        instance = run.instance
        assert done.virtual_work is not None
        assert done.virtual_completion is not None
        self.least = least_durations(instance).tolist()
        self.work = [int(g) * d for g, d in zip(instance.gang_size, self.least, strict=True)]  # G q
        ratios = [Fraction(p, q) for p, q in zip(done.virtual_work, self.work, strict=True)]
        self.mu2 = max(Fraction(1), *ratios)
        self.mu1 = max(Fraction(1), *(1 / ratio for ratio in ratios))
        durations = (done.completion - done.schedule.start).tolist()
        self.rho = max(Fraction(d, least) for d, least in zip(durations, self.least, strict=True))
        times = restricted_times(instance, run.parameters.phi)
        self.b = min(
            int(instance.num_gpus_of[(times[instance.stages_of(job)] > 0).all(axis=0)[instance.server_kind]].sum())
            - int(instance.gang_size[job])
            + 1
            for job in range(instance.num_jobs)
        )

    def stretch(self) -> Fraction:
        """Return tau + mu1 rho G / b."""
        return self.run.parameters.tau + self.mu1 * self.rho * self.run.instance.num_gpus / self.b

    def right_hand_side(self) -> Fraction:
        """Return mu2 (1 + tau + mu1 rho G / b) SRPT(q) + rho sum d^lb + N."""
        instance = self.run.instance
        lead = self.mu2 * (1 + self.stretch())
        return lead * srpt_sum(instance, self.work) + self.rho * sum(self.least) + instance.num_jobs

    def weighted_right_hand_side(self) -> Fraction:
        """Return the same for the weighted rule: 2 L_w, w d^lb and sum w."""
        instance = self.run.instance
        weight = instance.weight.tolist()
        last = sum(w * d for w, d in zip(weight, self.least, strict=True))
        return self.mu2 * (1 + self.stretch()) * 2 * least_weighted(instance, self.work) + self.rho * last + sum(weight)


def least_weighted(instance: JobsInstance, work: list[int]) -> Fraction:
    """Return L_w, the least weighted sum of completions on one machine: some fixed order, served preemptively."""
    release, weight = (instance.release * instance.num_gpus).tolist(), instance.weight.tolist()
    values = []
    for order in itertools.permutations(range(len(work))):
        left, time, value = dict(zip(order, (work[job] for job in order), strict=True)), 0, 0
        while left:
            served = next((job for job in order if job in left and release[job] <= time), None)
            coming = [release[job] for job in left if release[job] > time]
            if served is None:
                time = min(coming)
                continue
            step = min([left[served], *(arrival - time for arrival in coming)])
            time += step
            left[served] -= step
            if left[served] == 0:
                value += weight[served] * time
                del left[served]
        values.append(value)
    return Fraction(min(values), instance.num_gpus)


def assert_upper_bound(seed: int) -> bool:
    """Check the right-hand side, step (c) job by job, and what it rests on; False where b < 1, the condition fails."""
    run = drawn_run(seed, max_jobs=5 if seed % 4 == 0 else 16)
    done = run.simulated("provable")
    instance, tau = run.instance, run.parameters.tau
    measured = Measured(run, done)
    assert done.virtual_work is not None
    assert done.virtual_completion is not None
    order = sorted(range(instance.num_jobs), key=done.virtual_completion.__getitem__)
    assert (np.diff(done.schedule.start[order]) >= 0).all()
    for job in range(instance.num_jobs):
        assert done.schedule.start[job] >= done.eligible[job]
        assert done.held[job] <= tau * done.virtual_work[job] / instance.num_gpus
    if measured.b < 1:
        return False
    stretch = measured.stretch()
    for job, completion in enumerate(done.completion.tolist()):  # step (c)
        virtual = Fraction(done.virtual_completion[job], instance.num_gpus)
        assert completion <= virtual + 1 + stretch * virtual + measured.rho * measured.least[job]
    if not run.is_weighted:
        assert done.completion.sum() <= measured.right_hand_side()
    elif instance.num_jobs <= 5:
        value = jobs_objective_value(instance, done.schedule, JobsObjective.WEIGHTED_COMPLETION)
        assert value <= measured.weighted_right_hand_side()
    return True


def test_upper_bound_of_the_worked_example() -> None:
    """Tests mu1 = 5/4, mu2 = rho = 7/6, b = 2 and the right-hand side 330.7."""
    run = DrawnRun(
        instance=worked_example(),
        predictions=[3, 2, 4],
        objective=JobsObjective.TOTAL_COMPLETION,
        parameters=ASrptParameters(),
    )
    measured = Measured(run, run.simulated("provable"))
    assert (measured.mu1, measured.mu2, measured.rho, measured.b) == (
        Fraction(5, 4),
        Fraction(7, 6),
        Fraction(7, 6),
        2,
    )
    assert round(measured.right_hand_side(), 1) == Fraction(3307, 10)


def test_provable_mode_keeps_its_bound() -> None:
    """Tests section 7 on a sample, most of which meets its condition."""
    assert sum(map(assert_upper_bound, range(150))) > 90


@pytest.mark.slow
def test_provable_mode_keeps_its_bound_at_length() -> None:
    """Tests section 7 on 2,000 instances that meet its condition, and on those between that do not."""
    counted, seed = 0, 0
    while counted < 2_000:
        counted += assert_upper_bound(seed)
        seed += 1
    assert seed < 4_000
