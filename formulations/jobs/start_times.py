"""The ticks at which a job can start if nothing can be shifted to the left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formulations.jobs.pattern_table import PatternTable


def start_times(table: PatternTable, release: Sequence[int], latest: Sequence[int]) -> list[list[int]]:
    """Return for each job, ascending, ticks among which it starts in every schedule that is shifted to the left.

    In such a schedule a job starts at its release or at the completion of another one, which itself starts at its
    release or at a completion, and so on: at some release plus a sum of durations of different other jobs, one of each
    job's patterns. All these sums are taken; so no optimum within `latest` is lost. (Known for machine scheduling.)

    Parameters
    ----------
    table
        Patterns of all jobs.
    release
        Ticks, one per job.
    latest
        Latest completion of each job in ticks.
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
