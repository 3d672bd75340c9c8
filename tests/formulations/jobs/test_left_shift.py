"""Tests of list schedules, left shifts, normal forms, windows and start times over patterns."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.jobs.interchangeable import jobs_normal_form, like_jobs, like_servers
from formulations.jobs.left_shift import (
    earliest_job_start,
    latest_completions,
    list_schedule,
    shift_jobs_left,
    start_times,
)
from formulations.jobs.pattern_table import PatternSchedule, all_gpus, pattern_schedule, server_patterns
from instances.jobs.objective import jobs_objective_value
from instances.jobs.schedule import JobsSchedule
from instances.jobs.verify import verify_jobs_schedule
from tests.brute_force_jobs import optimum_jobs
from tests.jobs_strategies import all_placements, jobs_instances, worked_example
from tests.jobs_twins import twin_instances

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


def _one_after_the_other(instance: JobsInstance, data: st.DataObject) -> JobsSchedule:
    """Draw placements and gaps, and run the jobs in a random order, never two at once."""
    start, placements, free = [0] * instance.num_jobs, [], 0
    placements = [
        all_placements(instance, job)[0] if data.draw(st.booleans()) else all_placements(instance, job)[-1]
        for job in range(instance.num_jobs)
    ]
    from instances.jobs.iteration_time import duration

    for job in data.draw(st.permutations(range(instance.num_jobs))):
        start[job] = max(free, int(instance.release[job])) + data.draw(st.integers(0, 3))
        free = start[job] + duration(instance, job, placements[job])
    return JobsSchedule.from_placements(instance, start, placements)


def test_earliest_start_looks_at_the_whole_run() -> None:
    """Tests that a job waits where something starts during its run, by hand."""
    one, two = np.array([1]), np.array([2])
    placed = [(0, 4, one), (6, 9, two)]
    assert earliest_job_start(0, 6, one, two, placed) == 0  # beside the first, until the second
    assert earliest_job_start(0, 7, one, two, placed) == 9
    assert earliest_job_start(5, 1, two, two, placed) == 5
    with pytest.raises(ValueError, match="usage: expected one that fits"):
        earliest_job_start(0, 1, np.array([3]), two, placed)


@settings(deadline=None, max_examples=50)
@given(instance=jobs_instances(max_jobs=4, max_servers=2))
def test_list_schedule_verifies_and_windows_keep_an_optimum(instance: JobsInstance) -> None:
    """Tests that the list schedule is right, never below the optimum, and that nothing of it is outside its windows."""
    table, weights, release = server_patterns(instance), instance.weight.tolist(), instance.release.tolist()
    made = list_schedule(table, release, weights)
    schedule = made.jobs_schedule(instance, table)
    assert verify_jobs_schedule(instance, schedule) == []
    value = made.objective(table, weights)
    assert value == jobs_objective_value(instance, schedule, "weighted_completion")  # type: ignore[arg-type]
    assert value >= optimum_jobs(instance, "weighted_completion")
    latest = latest_completions(table, release, weights, at_most=value)
    starts = start_times(table, release, latest)
    for job, (start, number) in enumerate(zip(made.start, made.pattern, strict=True)):
        assert start + table.patterns[job][number].duration <= latest[job]
        assert start in starts[job]


@settings(deadline=None, max_examples=50)
@given(instance=jobs_instances(max_jobs=3, max_servers=2), data=st.data())
def test_left_shift_never_delays(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that shifted schedules are right, later nowhere, and start where `start_times` says."""
    schedule = _one_after_the_other(instance, data)
    assert verify_jobs_schedule(instance, schedule) == []
    table, release = server_patterns(instance), instance.release.tolist()
    before = pattern_schedule(instance, table, schedule)
    after = shift_jobs_left(table, release, before)
    assert verify_jobs_schedule(instance, after.jobs_schedule(instance, table)) == []
    assert all(new <= old for new, old in zip(after.start, before.start, strict=True))
    starts = start_times(table, release, [10**4] * instance.num_jobs)
    assert all(start in own for start, own in zip(after.start, starts, strict=True))
    assert shift_jobs_left(table, release, after) == after


def test_start_times_by_hand() -> None:
    """Tests the sums of releases and durations of the worked example up to an end."""
    instance = worked_example()
    table = server_patterns(instance)
    found = start_times(table, instance.release.tolist(), [60, 60, 60])
    # Releases 0, 2, 4; of the others 10 or 20 (job 2) and 28 (job 1): job 0 lasts at least 24, so up to 36.
    assert found[0] == [0, 2, 4, 10, 12, 14, 20, 22, 24, 28, 30, 32]
    assert found[2][:8] == [4, 24, 26, 28, 30, 32]


@settings(deadline=None, max_examples=60)
@given(instance=twin_instances(), data=st.data())
def test_normal_form_is_an_exchange_of_likes(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that normal forms are right schedules of equal objective, the same for all likes, and ordered."""
    schedule = _one_after_the_other(instance, data)
    table, weights = server_patterns(instance), instance.weight.tolist()
    one = pattern_schedule(instance, table, schedule)
    form = jobs_normal_form(instance, table, weights, one)
    assert verify_jobs_schedule(instance, form.jobs_schedule(instance, table)) == []
    assert form.objective(table, weights) == one.objective(table, weights)
    assert jobs_normal_form(instance, table, weights, form) == form
    for jobs in like_jobs(instance, weights):
        assert sorted(form.start[job] for job in jobs) == [form.start[job] for job in jobs]
    usage = [table.patterns[job][number].usage.tolist() for job, number in enumerate(form.pattern)]
    for servers in like_servers(instance):
        columns = [[row[server] for row in usage] for server in servers]
        assert columns == sorted(columns, reverse=True)
        for chosen in itertools.permutations(servers):
            moved = [list(row) for row in usage]
            for server, other in zip(servers, chosen, strict=True):
                for row, old in zip(moved, usage, strict=True):
                    row[server] = old[other]
            pattern = tuple(
                next(n for n, own in enumerate(table.patterns[job]) if own.usage.tolist() == row)
                for job, row in enumerate(moved)
            )
            like = PatternSchedule(start=form.start, pattern=pattern)
            assert jobs_normal_form(instance, table, weights, like) == form


def test_relaxed_patterns_have_no_schedule() -> None:
    """Tests that a relaxation is not taken for the problem."""
    instance = worked_example()
    table = all_gpus(instance)
    made = list_schedule(table, instance.release.tolist(), [1, 1, 1])
    with pytest.raises(ValueError, match=r"jobs\[0\]: expected a pattern with a placement"):
        made.jobs_schedule(instance, table)
