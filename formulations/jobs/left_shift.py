"""Schedules in which no job can start earlier where it is: how to make them, and when their jobs start and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.jobs.pattern_table import PatternSchedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from formulations.jobs.pattern_table import PatternTable


def earliest_job_start(
    release: int,
    duration: int,
    usage: NDArray[np.int64],
    capacity: NDArray[np.int64],
    placed: Sequence[tuple[int, int, NDArray[np.int64]]],
) -> int:
    """Return the earliest start in ticks from which a usage fits for a whole duration.

    Parameters
    ----------
    usage, capacity
        GPUs of each group, shape (groups,); the usage fits where nothing else runs.
    placed
        Start, end and usage of the jobs that are placed already.
    """
    candidates = sorted({release, *(end for _, end, _ in placed if end > release)})
    for begin in candidates:
        beside = [other for other in placed if other[0] < begin + duration and other[1] > begin]
        ticks = {begin, *(start for start, _, _ in beside if start > begin)}  # where the usage rises
        for tick in ticks:
            in_use = usage + sum((held for start, end, held in beside if start <= tick < end), np.zeros_like(usage))
            if (in_use > capacity).any():
                break
        else:
            return begin
    raise ValueError(f"usage: expected one that fits on empty servers, got {usage.tolist()}.")


def list_schedule(table: PatternTable, release: Sequence[int], weights: Sequence[int]) -> PatternSchedule:
    """Return the best of a few list schedules; every job is placed, in a fixed order, where it completes first.

    The orders are: by release, by work over weight, by release plus work over weight, by earliest completion. Ties in
    completion are broken by pattern. Weights are at least 1. (Ours.)
    """
    jobs = range(len(release))
    least = table.least_durations.tolist()
    work = [int(table.patterns[job][0].usage.sum()) * least[job] for job in jobs]
    ratio = [work[job] / weights[job] for job in jobs]
    total = max(int(table.capacity.sum()), 1)
    keys = (
        lambda job: (release[job], ratio[job], job),
        lambda job: (ratio[job], release[job], job),
        lambda job: (release[job] + ratio[job] / total, release[job], job),
        lambda job: (release[job] + least[job], ratio[job], job),
    )
    found = [_by_list(table, release, sorted(jobs, key=key)) for key in keys]
    return min(found, key=lambda schedule: schedule.objective(table, weights))


def _by_list(table: PatternTable, release: Sequence[int], order: Sequence[int]) -> PatternSchedule:
    """Place the jobs one after the other."""
    starts, chosen = [0] * len(release), [0] * len(release)
    placed: list[tuple[int, int, NDArray[np.int64]]] = []
    for job in order:
        ends: list[tuple[int, int, int]] = []
        for number, pattern in enumerate(table.patterns[job]):
            if ends and release[job] + pattern.duration >= ends[0][0]:
                break  # later patterns take even longer
            begin = earliest_job_start(release[job], pattern.duration, pattern.usage, table.capacity, placed)
            ends = [min([*ends, (begin + pattern.duration, number, begin)])]
        end, chosen[job], starts[job] = ends[0]
        placed.append((starts[job], end, table.patterns[job][chosen[job]].usage))
    return PatternSchedule(start=tuple(starts), pattern=tuple(chosen))


def shift_jobs_left(table: PatternTable, release: Sequence[int], schedule: PatternSchedule) -> PatternSchedule:
    """Return the schedule with the jobs, in order of start, placed again as early as possible; none starts later.

    A job's old start is free for it: all jobs that started before it have only moved to the left, so from that start on
    no other jobs run there than before.
    """
    start = list(schedule.start)
    placed: list[tuple[int, int, NDArray[np.int64]]] = []
    for job in sorted(range(len(start)), key=lambda job: (schedule.start[job], job)):
        pattern = table.patterns[job][schedule.pattern[job]]
        start[job] = earliest_job_start(release[job], pattern.duration, pattern.usage, table.capacity, placed)
        placed.append((start[job], start[job] + pattern.duration, pattern.usage))
    return PatternSchedule(start=tuple(start), pattern=schedule.pattern)


def start_times(table: PatternTable, release: Sequence[int], latest: Sequence[int]) -> list[list[int]]:
    """Return for each job, ascending, ticks among which it starts in every schedule that is shifted to the left.

    In such a schedule a job starts at its release or at the completion of another one, which itself starts at its
    release or at a completion, and so on: at some release plus a sum of durations of different other jobs, one of each
    job's patterns. All these sums are taken, so no optimum within the latest completions `latest` is lost
    (docs/formulations.md, section 12.3; known for machine scheduling).
    """
    durations = [sorted({pattern.duration for pattern in own}) for own in table.patterns]
    found: list[list[int]] = []
    for job in range(len(release)):
        last = latest[job] - durations[job][0]
        if last < release[job]:
            found.append([])
            continue
        mask = (1 << (last + 1)) - 1
        reached = 0  # bit t: a start at t is possible
        for begin in release:
            if begin <= last:
                reached |= 1 << begin
        for other, ticks in enumerate(durations):
            if other != job:
                moved = reached
                for length in ticks:
                    if length <= last:
                        moved |= reached << length
                reached = moved & mask
        reached >>= release[job]
        found.append([release[job] + tick for tick, bit in enumerate(reversed(bin(reached)[2:])) if bit == "1"])
    return found


def latest_completions(
    table: PatternTable, release: Sequence[int], weights: Sequence[int], *, at_most: int
) -> list[int]:
    """Return for each job the latest completion in left-shifted schedules of objective at most `at_most`.

    There are two reasons. (a) Every schedule can be shifted to the left until no job can start earlier in its pattern,
    without a later completion. Then, from the last release on, some job runs at every tick until the last completion,
    because the first job to start after an idle tick could start at that tick. So everything ends by the last release
    plus the sum of the longest durations. (b) If the objective is at most U, then w[j] C[j] <= U - sum over i <> j of
    w[i] (r[i] + the least duration of i). No optimum is lost if `at_most` is at least the optimum.
    """
    everything = max(release, default=0) + sum(max(pattern.duration for pattern in own) for own in table.patterns)
    least = table.least_durations.tolist()
    heads = [weight * (begin + ticks) for weight, begin, ticks in zip(weights, release, least, strict=True)]
    slack = at_most - sum(heads)
    return [min(everything, (slack + head) // weight) for head, weight in zip(heads, weights, strict=True)]
