"""The two inequalities of the reference on generated instances: sections 6 and 7."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formulations.jobs.bounds.single_machine import (
    jobs_mean_busy_time,
    release_plus_duration,
    sets_of_kinds,
    virtual_srpt,
)
from heuristics.jobs.placements.arrays import restricted_times
from heuristics.jobs.policies.a_srpt import MODES
from heuristics.jobs.policies.guided_policy import ASrptParameters, VirtualMachine
from heuristics.jobs.policies.key_policies import fifo, qssf, spjf, spwf, srtf, wcs_duration, wcs_subtime, wcs_workload
from instances.jobs.iteration_time import least_durations
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.policies.called import called
from tests.heuristics.jobs.policies.drawn_runs import DrawnRun, drawn_run
from tests.jobs_strategies import worked_example

if TYPE_CHECKING:
    from heuristics.jobs.simulator import Simulation
    from instances.jobs.instance import JobsInstance


BASELINES = (fifo, spjf, spwf, wcs_duration, wcs_workload, wcs_subtime, qssf, srtf)
BOUNDS = (virtual_srpt, release_plus_duration, jobs_mean_busy_time, sets_of_kinds)
PLACEMENTS = ("heavy-edge", "consolidated", "stage-order", "random")
SAMPLE = range(40)
ALL = range(2_000)


def assert_bounds_are_below(seed: int) -> None:
    """Run every policy on an instance, under some placement rule: schedules verify, no bound is above a value."""
    run = drawn_run(seed, max_jobs=8)
    schedules = [run.simulated(mode).schedule for mode in MODES]
    for number, policy in enumerate(BASELINES):
        placement = PLACEMENTS[(seed + number) % len(PLACEMENTS)]
        schedules.append(called(policy, run.instance, run.objective, seed, placement=placement))
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


def completions(
    release: list[int], work: list[int], weight: list[int] | None = None, *, stops: tuple[int, ...] = ()
) -> dict[int, int]:
    """Return when each job completes on the machine, simulated in steps that end at arrivals and at `stops`."""
    machine = VirtualMachine(is_weighted=weight is not None)
    done: list[tuple[int, int]] = []
    for time in sorted({*release, *stops}):
        done += machine.advance(time)
        for job, arrival in enumerate(release):
            if arrival == time:
                machine.insert(job, work[job], arrival, 1 if weight is None else weight[job])
    done += machine.drain()
    assert done == sorted(done)
    assert machine.next_completion() is None
    return {job: time for time, job in done}


def test_preemption_by_hand() -> None:
    """Tests four jobs by hand: 7 from 0, 4 from 2, 1 from 4, 4 from 5 are done at 16, 7, 5 and 11."""
    assert completions([0, 2, 4, 5], [7, 4, 1, 4]) == {0: 16, 1: 7, 2: 5, 3: 11}


def test_worked_example() -> None:
    """Tests the worked example in 1/4 ticks: 48, 84 and 8 GPU-ticks from 0, 8 and 16 are done at 56, 140 and 24."""
    assert completions([0, 8, 16], [48, 84, 8]) == {0: 56, 1: 140, 2: 24}


def test_ties_go_to_the_earlier_arrival_then_the_lower_number() -> None:
    """Tests that an equal job preempts nobody: what remains of job 1 equals job 0, which arrives later."""
    assert completions([3, 0], [2, 5]) == {1: 5, 0: 7}
    assert completions([0, 0, 0], [2, 2, 2]) == {0: 2, 1: 4, 2: 6}


def test_weighted_rule_uses_the_original_work() -> None:
    """Tests that 1 of 10 left does not protect a job of ratio 1/10 from one of ratio 1/9."""
    assert completions([0, 9], [10, 9], [1, 1]) == {1: 18, 0: 19}
    assert completions([0, 9], [10, 9]) == {0: 10, 1: 19}


def test_fractions_of_equal_whole_parts() -> None:
    """Tests that 10/4 goes before 8/3, which has the same whole part, though it is more work."""
    assert completions([0, 0], [8, 10], [3, 4]) == {1: 10, 0: 18}


def test_numbers_of_any_size() -> None:
    """Tests that work beyond 64 bits is exact."""
    assert completions([0, 1], [10**30, 10**30 - 2]) == {1: 10**30 - 1, 0: 2 * 10**30 - 2}


def test_idle_time_and_next_completion() -> None:
    """Tests that the machine idles when it is empty, and says what completes next."""
    machine = VirtualMachine()
    assert machine.next_completion() is None
    assert machine.advance(5) == []
    assert machine.insert(7, 3, 5) == (3, 5, 7)
    assert machine.next_completion() == 8
    assert machine.advance(7) == []
    assert machine.first() == (1, 5, 7)
    assert machine.remaining(7) == 1
    assert machine.advance(8) == [(8, 7)]
    assert machine.remaining(7) == 0


def test_misuse_is_refused() -> None:
    """Tests that time runs forwards, and that a job comes once and with work."""
    machine = VirtualMachine()
    machine.advance(3)
    with pytest.raises(ValueError, match="expected at least 3, got 2"):
        machine.advance(2)
    machine.insert(0, 1, 3)
    with pytest.raises(ValueError, match="not here yet"):
        machine.insert(0, 1, 3)
    with pytest.raises(ValueError, match="at least 1 unit of work"):
        machine.insert(1, 0, 3)


def least_sum(release: list[int], work: list[int]) -> int:
    """Return the least sum of completions over all preemptive schedules: any released job may be served in any unit."""

    @functools.cache
    def best(time: int, left: tuple[int, ...]) -> int:
        if not any(left):
            return 0
        options = [job for job, rest in enumerate(left) if rest and release[job] <= time]
        values = []
        for job in options or [-1]:
            rest = tuple(units - (index == job) for index, units in enumerate(left))
            values.append((time + 1 if job >= 0 and rest[job] == 0 else 0) + best(time + 1, rest))
        return min(values)

    return best(0, tuple(work))


@given(jobs=st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=4))
def test_no_preemptive_schedule_is_better(jobs: list[tuple[int, int]]) -> None:
    """Tests that the sum of completions equals the least over all points of preemption."""
    release, work = [job[0] for job in jobs], [job[1] for job in jobs]
    assert sum(completions(release, work).values()) == least_sum(release, work)


@given(
    jobs=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=6),
    stops=st.lists(st.integers(0, 40), max_size=5),
    is_weighted=st.booleans(),
)
def test_unit_by_unit(jobs: list[tuple[int, int, int]], stops: list[int], is_weighted: bool) -> None:
    """Tests completions against service unit by unit, whatever the steps in which the clock advances."""
    release, work, weight = (list(column) for column in zip(*jobs, strict=True))
    left, done, time = list(work), {}, 0
    while any(left):
        options = [job for job in range(len(jobs)) if left[job] and release[job] <= time]
        if options:

            def rank(job: int) -> tuple[float, int, int]:
                return (-weight[job] / work[job] if is_weighted else left[job], release[job], job)

            job = min(options, key=rank)
            left[job] -= 1
            if left[job] == 0:
                done[job] = time + 1
        time += 1
    assert completions(release, work, weight if is_weighted else None, stops=tuple(stops)) == done


@given(jobs=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=5))
def test_weighted_rule_is_within_twice_the_optimum(jobs: list[tuple[int, int, int]]) -> None:
    """Tests the factor 2 of section 7: the optimum serves by some fixed order of all jobs, preemptively."""
    release, work, weight = (list(column) for column in zip(*jobs, strict=True))
    done = completions(release, work, weight)
    value = sum(weight[job] * time for job, time in done.items())
    assert value <= 2 * least_weighted_virtual_machine(release, work, weight)


def least_weighted_virtual_machine(release: list[int], work: list[int], weight: list[int]) -> int:
    """Return the least weighted sum of completions over preemptive service by fixed orders."""
    values = []
    for order in itertools.permutations(range(len(work))):
        left, time, value = list(work), 0, 0
        while any(left):
            options = [job for job in order if left[job] and release[job] <= time]
            if options:
                left[options[0]] -= 1
                value += weight[options[0]] * (time + 1) if left[options[0]] == 0 else 0
            time += 1
        values.append(value)
    return min(values)
