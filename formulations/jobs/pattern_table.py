"""All jobs as patterns on groups of servers, exact or relaxed where there are too many, and schedules in patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from formulations.jobs.placement_patterns import (
    MAX_PATTERNS,
    MAX_PLACEMENTS,
    JobPattern,
    TooManyPatternsError,
    placement_patterns,
)
from formulations.time_left import without_limit
from instances.jobs.iteration_time import gpus_of_kind, least_durations
from instances.jobs.replicas_fit import replicas_fit
from instances.jobs.schedule import JobsSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance


_KNOWN: WeakKeyDictionary[JobsInstance, dict[int, PatternTable]] = WeakKeyDictionary()
"""Tables of instances that are still in use, because several bounds and models ask for the same one."""

MAX_LOOKED_AT = 200_000
"""Placements of all jobs together that are examined."""

MAX_LISTED = 4_000
"""Patterns of all jobs together up to which a table is worth its size."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PatternTable:
    """Each job runs in one of its patterns; on each group of servers at most `capacity` GPUs are held at any time.

    Parameters
    ----------
    capacity
        GPUs of each group, shape (groups,), int64.
    patterns
        Patterns of each job, at least one.
    is_exact
        Whether groups are servers, every pattern has a placement of exactly its duration, and jobs do not interfere:
        then the table is the problem. Otherwise every schedule of the problem is one of the table with the same starts
        and completions that are the same or earlier, and the table gives lower bounds only; if two jobs may share a
        GPU, with twice the capacity.
    proof
        What the table is, in a few words.
    """

    capacity: NDArray[np.int64]
    patterns: tuple[tuple[JobPattern, ...], ...]
    is_exact: bool
    proof: str

    @property
    def num_groups(self) -> int:
        """Number of groups."""
        return len(self.capacity)

    @property
    def num_patterns(self) -> int:
        """Number of patterns of all jobs together."""
        return sum(map(len, self.patterns))

    @property
    def least_durations(self) -> NDArray[np.int64]:
        """Shortest duration of each job in ticks, shape (jobs,)."""
        return np.array([min(pattern.duration for pattern in own) for own in self.patterns], dtype=np.int64)


def pattern_table(
    instance: JobsInstance, *, max_listed: int = MAX_LISTED, seconds_left: Callable[[], float] = without_limit
) -> PatternTable:
    """Return the tightest table of at most `max_listed` patterns: by server, else by kind, else of all GPUs.

    Where no seconds are left the next coarser table is built.
    """
    known = _KNOWN.setdefault(instance, {})
    if max_listed in known:
        return known[max_listed]
    table = _tightest(instance, max_listed, seconds_left)
    if seconds_left() > 0:  # else another run may find a tighter one
        known[max_listed] = table
    return table


def _tightest(instance: JobsInstance, max_listed: int, seconds_left: Callable[[], float]) -> PatternTable:
    """Build the tightest table that is small enough."""
    for build in (server_patterns, kind_patterns):
        try:
            return build(instance, max_listed=max_listed, seconds_left=seconds_left)
        except TooManyPatternsError:
            continue
    return all_gpus(instance)


def server_patterns(
    instance: JobsInstance, *, max_listed: int = MAX_LISTED, seconds_left: Callable[[], float] = without_limit
) -> PatternTable:
    """Return the patterns of `placement_patterns` on each server, which are the problem itself.

    Under interference the table is a relaxation: a job runs for at least the shortest duration of its usage.

    Raises a `TooManyPatternsError` if there are too many patterns, or no seconds are left.
    """
    found: list[tuple[JobPattern, ...]] = []
    listed = 0
    share = max(1_000, min(MAX_PLACEMENTS, MAX_LOOKED_AT // max(instance.num_jobs, 1)))
    seen: dict[tuple[object, ...], tuple[JobPattern, ...]] = {}
    for job in range(instance.num_jobs):
        key = job_shape(instance, job)
        if key not in seen:
            limit = min(MAX_PATTERNS, max_listed - listed)
            seen[key] = tuple(
                placement_patterns(instance, job, max_patterns=limit, max_placements=share, seconds_left=seconds_left)
            )
        listed += len(seen[key])
        if listed > max_listed:
            raise TooManyPatternsError(f"jobs: expected at most {max_listed} patterns of placement, got more.")
        found.append(seen[key])
    alone = instance.interference is None
    return PatternTable(
        capacity=instance.num_gpus_of,
        patterns=tuple(found),
        is_exact=alone,
        proof="every placement on servers" if alone else "every placement on servers, as fast as alone",
    )


def kind_patterns(
    instance: JobsInstance, *, max_listed: int = MAX_LISTED, seconds_left: Callable[[], float] = without_limit
) -> PatternTable:
    """Return the relaxation that knows how many GPUs of each kind a job holds, but not on which servers.

    A placement that holds c[h] GPUs of kind h for every h, sum c = g, assigns replicas to kinds with these numbers; its
    t[s] is at least the least T for which such an assignment exists when stage s may use kinds with p[s,h] <= T only,
    and comm >= 0. So it takes at least n (Q + S - 1) T, the duration of pattern c. The GPUs of one kind that are held
    at any time number at most those of all its servers (docs/formulations.md, section 12.1; ours).

    Raises a `TooManyPatternsError` if there are too many patterns, or no seconds are left.
    """
    capacity = gpus_of_kind(instance)
    found: list[tuple[JobPattern, ...]] = []
    listed = 0
    for job in range(instance.num_jobs):
        rows = instance.stages_of(job)
        times, replicas = instance.time_of[rows].tolist(), instance.replicas[rows].tolist()
        slots = int(instance.iterations[job]) * (int(instance.micro_batches[job]) + len(replicas) - 1)
        thresholds = sorted({ticks for row in times for ticks in row if ticks > 0})
        own = []
        if seconds_left() <= 0:
            raise TooManyPatternsError("jobs: expected fewer patterns for the time that is left.")
        for usage in kind_usages(times, replicas, capacity.tolist(), max_usages=max_listed - listed):
            for threshold in thresholds:
                allowed = [[0 < ticks <= threshold for ticks in row] for row in times]
                if all(map(any, allowed)) and replicas_fit(replicas, allowed, usage):
                    counts = np.array(usage, dtype=np.int64)
                    own.append(JobPattern(usage=counts, duration=slots * threshold, placement=None))
                    break
        listed += len(own)
        found.append(tuple(sorted(own, key=lambda pattern: (pattern.duration, pattern.usage.tolist()))))
    return PatternTable(capacity=capacity, patterns=tuple(found), is_exact=False, proof="GPUs by kind, free traffic")


def all_gpus(instance: JobsInstance) -> PatternTable:
    """Return the relaxation to one pool of GPUs and the shortest duration d^lb of each job.

    A job holds g GPUs for at least d^lb ticks whatever its placement, and at most G GPUs are held at any time; kinds
    enter through d^lb alone.
    """
    durations = least_durations(instance).tolist()
    patterns = tuple(
        (JobPattern(usage=np.array([gang], dtype=np.int64), duration=ticks, placement=None),)
        for gang, ticks in zip(instance.gang_size.tolist(), durations, strict=True)
    )
    return PatternTable(
        capacity=np.array([instance.num_gpus], dtype=np.int64),
        patterns=patterns,
        is_exact=False,
        proof="all GPUs as one pool, shortest durations",
    )


def job_shape(instance: JobsInstance, job: int) -> tuple[object, ...]:
    """Return everything that placements and durations of a job depend on; jobs of equal shape have equal patterns."""
    rows = instance.stages_of(job)
    columns = (instance.replicas, instance.activation_bytes, instance.parameter_bytes)
    return (
        int(instance.iterations[job]),
        int(instance.micro_batches[job]),
        *(tuple(column[rows].tolist()) for column in columns),
        tuple(map(tuple, instance.time_of[rows].tolist())),
    )


def kind_usages(
    times: Sequence[Sequence[int]], replicas: Sequence[int], capacity: Sequence[int], *, max_usages: int
) -> list[list[int]]:
    """Return all numbers of GPUs by kind that hold all replicas, each on a kind that its stage may use.

    Parameters
    ----------
    times
        Time of each stage on each kind, -1 where it may not run.
    replicas, capacity
        Replicas of each stage, GPUs of each kind.

    Raises
    ------
    TooManyPatternsError
        If there are more than `max_usages`.
    """
    allowed = [[ticks > 0 for ticks in row] for row in times]
    found: list[list[int]] = []
    chosen = [0] * len(capacity)
    tried = 0

    def extend(kind: int, left: int) -> None:
        nonlocal tried
        if kind == len(capacity) - 1:
            if left > capacity[kind]:
                return
            chosen[kind] = left
            tried += 1
            if tried > max_usages:
                raise TooManyPatternsError(f"jobs: expected at most {max_usages} usages of kinds, got more.")
            if replicas_fit(replicas, allowed, chosen):
                found.append(list(chosen))
            return
        for count in range(min(left, capacity[kind]) + 1):
            chosen[kind] = count
            extend(kind + 1, left - count)

    extend(0, sum(replicas))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSchedule:
    """Start in ticks and number of the pattern of each job, one entry per job."""

    start: tuple[int, ...]
    pattern: tuple[int, ...]

    def objective(self, table: PatternTable, weights: Sequence[int]) -> int:
        """Return the weighted sum of completion times in ticks."""
        return sum(
            weight * (start + table.patterns[job][pattern].duration)
            for job, (weight, start, pattern) in enumerate(zip(weights, self.start, self.pattern, strict=True))
        )

    def jobs_schedule(self, instance: JobsInstance, table: PatternTable) -> JobsSchedule:
        """Return the schedule of the instance; the table must be exact.

        Raises a `ValueError` if a pattern has no placement.
        """
        placements = []
        for job, pattern in enumerate(self.pattern):
            placement = table.patterns[job][pattern].placement
            if placement is None:
                raise ValueError(f"jobs[{job}]: expected a pattern with a placement, got one of a relaxation.")
            placements.append(placement)
        return JobsSchedule.from_placements(instance, np.array(self.start, dtype=np.int64), placements)


def pattern_schedule(instance: JobsInstance, table: PatternTable, schedule: JobsSchedule) -> PatternSchedule:
    """Return a feasible schedule in the exact table: same starts and usages, no later completion."""
    chosen = []
    for job in range(instance.num_jobs):
        usage = schedule.placement(instance, job).sum(axis=0).tolist()
        chosen.append(next(n for n, own in enumerate(table.patterns[job]) if own.usage.tolist() == usage))
    return PatternSchedule(start=tuple(schedule.start.tolist()), pattern=tuple(chosen))
