"""The placements of one job that matter to a schedule: one per way to spread its GPUs over the servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.time_left import without_limit
from instances.jobs.iteration_time import duration_for, iteration_parts_on
from instances.jobs.servers import NO_RACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance

MAX_PATTERNS = 300
"""Patterns per job up to which they are listed."""

MAX_PLACEMENTS = 100_000
"""Placements per job that are examined: some seconds of exact arithmetic."""


class TooManyPatternsError(RuntimeError):
    """A job has more placements than can be listed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobPattern:
    """How many GPUs a job holds where, and for how long in ticks.

    Parameters
    ----------
    usage
        GPUs held on each server, or group of servers, shape (groups,), int64.
    placement
        A placement with this usage and duration, shape (stages of the job, servers); None in a relaxation.
    """

    usage: NDArray[np.int64]
    duration: int
    placement: NDArray[np.int64] | None


def placement_patterns(
    instance: JobsInstance,
    job: int,
    *,
    max_patterns: int = MAX_PATTERNS,
    max_placements: int = MAX_PLACEMENTS,
    seconds_left: Callable[[], float] = without_limit,
) -> list[JobPattern]:
    """Return for every usage of servers the shortest duration, with a placement that attains it.

    Other jobs notice of a placement only how many GPUs it holds on each server and for how long. So among placements of
    equal usage a shortest one suffices: put in the place of another one, the schedule stays feasible and no job
    completes later. Two patterns of different usage hold the same number of GPUs in all, so neither uses at most as
    much as the other everywhere, and none is left out, however long it takes: the servers of a faster one may be
    occupied (docs/formulations.md, section 12.1).

    Like servers (same kind, network interface and rack) are told apart here, because start times tie them to the jobs
    that run there; their symmetry is one of whole schedules, see `like_servers`. Here it only saves work: usages that
    differ by an exchange of like servers have the same duration, so one of them is computed.

    Parameters
    ----------
    max_patterns, max_placements
        Limits on the patterns that are listed and on the placements that are examined.

    Returns
    -------
    list[JobPattern]
        Patterns by duration, then usage; at least one.

    Raises
    ------
    TooManyPatternsError
        If a limit is exceeded, or no seconds are left.
    """
    rows = instance.stages_of(job)
    replicas = instance.replicas[rows].tolist()
    allowed = (instance.time_of[rows] > 0)[:, instance.server_kind]
    limits = np.where(allowed.any(axis=0), instance.num_gpus_of, 0).tolist()
    classes = _alike(instance)
    known: dict[tuple[int, ...], tuple[int, list[list[int]]] | None] = {}
    looked_at = 0
    patterns: list[JobPattern] = []
    for usage in splits(sum(replicas), limits):
        order = sorted(range(len(usage)), key=lambda server: (classes[server], -usage[server], server))
        canonical = [0] * len(usage)  # the largest usage of a class first
        place_of = sorted(range(len(usage)), key=lambda server: (classes[server], server))
        for place, server in zip(place_of, order, strict=True):
            canonical[place] = usage[server]
        key = tuple(canonical)
        if looked_at > max_placements or seconds_left() <= 0:
            raise TooManyPatternsError(f"jobs[{job}]: expected at most {max_placements} placements, got more.")
        if key not in known:
            known[key], count = _shortest(
                instance, job, replicas, allowed.tolist(), canonical, max_placements - looked_at
            )
            looked_at += count + 1  # a usage without a placement costs time too
        found = known[key]
        if found is None:
            continue
        if len(patterns) == max_patterns:
            raise TooManyPatternsError(f"jobs[{job}]: expected at most {max_patterns} patterns of placement, got more.")
        placement = np.zeros((len(replicas), instance.num_servers), dtype=np.int64)
        placement[:, order] = np.array(found[1], dtype=np.int64)[:, place_of]
        patterns.append(JobPattern(usage=np.array(usage, dtype=np.int64), duration=found[0], placement=placement))
    return sorted(patterns, key=lambda pattern: (pattern.duration, pattern.usage.tolist()))


def _alike(instance: JobsInstance) -> list[int]:
    """Return for each server the first one with the same kind, network interface and rack."""
    first: dict[tuple[int, int, int, int], int] = {}
    racks = [NO_RACK] * instance.num_servers if instance.racks is None else instance.racks.rack_of_server.tolist()
    columns = (instance.server_kind, instance.nic_numerator, instance.nic_denominator)
    features = zip(*(column.tolist() for column in columns), racks, strict=True)
    return [first.setdefault(feature, server) for server, feature in enumerate(features)]


def stage_placements(
    replicas: Sequence[int], allowed: Sequence[Sequence[bool]], free: Sequence[int]
) -> Iterator[list[tuple[int, ...]]]:
    """Yield every placement of stages on servers with free GPUs, stage by stage."""
    if not replicas:
        yield []
        return
    limits = [gpus if may else 0 for gpus, may in zip(free, allowed[0], strict=True)]
    for split in splits(replicas[0], limits):
        rest = [gpus - taken for gpus, taken in zip(free, split, strict=True)]
        for others in stage_placements(replicas[1:], allowed[1:], rest):
            yield [split, *others]


def splits(total: int, limits: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a total as a sum of numbers from 0 to the limit of each place."""
    behind = [0] * (len(limits) + 1)
    for place in reversed(range(len(limits))):
        behind[place] = behind[place + 1] + limits[place]

    def extend(place: int, left: int, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if place == len(limits):
            yield chosen
            return
        for count in range(max(0, left - behind[place + 1]), min(left, limits[place]) + 1):
            yield from extend(place + 1, left - count, (*chosen, count))

    if total <= behind[0]:
        yield from extend(0, total, ())


def _shortest(
    instance: JobsInstance,
    job: int,
    replicas: list[int],
    allowed: list[list[bool]],
    usage: Sequence[int],
    max_placements: int,
) -> tuple[tuple[int, list[list[int]]] | None, int]:
    """Return the shortest duration under a usage with its placement, None without one, and how many were examined."""
    servers = [server for server, count in enumerate(usage) if count]
    best: tuple[Fraction, list[list[int]]] | None = None
    count = 0

    may_use = [[row[server] for server in servers] for row in allowed]
    for counts in stage_placements(replicas, may_use, [usage[server] for server in servers]):
        count += 1
        if count > max_placements:
            raise TooManyPatternsError(f"jobs[{job}]: expected fewer placements than are looked at, got more.")
        comp, comm = iteration_parts_on(instance, job, servers, counts)
        if best is None or comp + comm < best[0]:
            full = [[0] * len(usage) for _ in replicas]
            for row, split in zip(full, counts, strict=True):
                for server, taken in zip(servers, split, strict=True):
                    row[server] = taken
            best = (comp + comm, full)
    if best is None:
        return None, count
    return (duration_for(int(instance.iterations[job]), best[0]), best[1]), count
