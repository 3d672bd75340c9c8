"""The placements of one job that matter where jobs interfere: one per usage, demand and duration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.jobs.placement_patterns import TooManyPatternsError, splits
from instances.jobs.iteration_time import duration_for, iteration_parts_on
from instances.jobs.resource_demand import ResourceDemand, resource_demand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance

MAX_PLACEMENTS = 5_000
"""Placements per job that are looked at."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlacementOption:
    """One way to place a job.

    Parameters
    ----------
    placement
        Replicas by stage and server, shape (stages of the job, servers).
    usage
        GPUs that it holds on each of the demand's servers.
    demand
        What it asks of its servers.
    duration
        d(x), how long it runs alone, in ticks.
    """

    placement: NDArray[np.int64]
    usage: tuple[int, ...]
    demand: ResourceDemand
    duration: int


def placement_options(
    instance: JobsInstance, job: int, *, max_placements: int = MAX_PLACEMENTS
) -> list[PlacementOption]:
    """Return the placements of a job on the empty servers that others, or its own duration, can tell apart.

    Others notice usage and demand; how fast a job is follows from its own demand and sensitivities and from what runs
    beside. Of placements that agree in all that and in duration one is kept.

    Parameters
    ----------
    instance
        What is scheduled.
    job
        Whose placements.
    max_placements
        Limit on what is looked at.

    Returns
    -------
    list[PlacementOption]
        By duration, then as found; at least one.

    Raises
    ------
    TooManyPatternsError
        If there are more placements.
    """
    rows = instance.stages_of(job)
    replicas = instance.replicas[rows].tolist()
    allowed = (instance.time_of[rows] > 0)[:, instance.server_kind].tolist()
    iterations = int(instance.iterations[job])
    found: dict[object, PlacementOption] = {}
    for number, counts in enumerate(_all(replicas, allowed, instance.num_gpus_of.tolist())):
        if number == max_placements:
            raise TooManyPatternsError(f"jobs[{job}]: expected at most {max_placements} placements, got more.")
        placement = np.array(counts, dtype=np.int64)
        servers = np.flatnonzero(placement.any(axis=0)).tolist()
        own = placement[:, servers].tolist()
        comp, comm = iteration_parts_on(instance, job, servers, own)
        demand = ResourceDemand(servers=tuple(servers), own=((),) * len(servers), sens=())
        if instance.interference is not None:
            demand = resource_demand(instance, job, servers, own)
        usage = tuple(placement[:, servers].sum(axis=0).tolist())
        duration = duration_for(iterations, comp + comm)
        key = (duration, demand, usage)
        if key not in found:
            found[key] = PlacementOption(placement=placement, usage=usage, demand=demand, duration=duration)
    return sorted(found.values(), key=lambda option: option.duration)


def _all(replicas: list[int], allowed: list[list[bool]], free: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield every placement of stages on free GPUs, stage by stage."""
    if not replicas:
        yield []
        return
    room = [gpus if may else 0 for gpus, may in zip(free, allowed[0], strict=True)]
    for split in splits(replicas[0], room):
        rest = [gpus - taken for gpus, taken in zip(free, split, strict=True)]
        for others in _all(replicas[1:], allowed[1:], rest):
            yield [split, *others]
