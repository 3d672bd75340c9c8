"""The named families of jobs; what makes them is imported when it is asked for."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.generators.jobs.job_stream import JobStream

OWN_ARGUMENTS = ("rng", "cluster", "tick_seconds", "jobs")
"""What every family takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsFamily:
    """A family of jobs.

    Parameters
    ----------
    path
        Module and function; the function takes a random generator, a cluster, the length of a tick, ``jobs`` and the
        parameters of the family.
    description
        What it models, in a few words.
    source
        Where the structure comes from.
    cluster
        Cluster where none is given.
    tick_seconds
        Length of a tick where none is given.
    """

    path: str
    description: str
    source: str
    cluster: str
    tick_seconds: float

    def load(self) -> Callable[..., JobStream]:
        """Import and return the function."""
        module, function = self.path.split(":")
        loaded: Callable[..., JobStream] = getattr(importlib.import_module(module), function)
        return loaded

    def parameters(self) -> tuple[str, ...]:
        """Return the names of what the function takes beside `OWN_ARGUMENTS`."""
        return tuple(name for name in inspect.signature(self.load()).parameters if name not in OWN_ARGUMENTS)


JOBS_FAMILIES: dict[str, JobsFamily] = {
    "jobs-poisson": JobsFamily(
        path="instances.generators.jobs.poisson:poisson",
        description="independent training jobs of well-known networks, Poisson arrivals, heavy-tailed run times",
        source="sizes of the networks' papers; the rest ours",
        cluster="mixed-16",
        tick_seconds=1e-3,
    ),
    "jobs-bursty": JobsFamily(
        path="instances.generators.jobs.bursty:bursty",
        description="the same with arrivals in bursts",
        source="Fischer and Meier-Hellstern (1993) for arrivals",
        cluster="mixed-16",
        tick_seconds=1e-3,
    ),
    "jobs-recurrent": JobsFamily(
        path="instances.generators.jobs.recurrent:recurrent",
        description="runs of recurring jobs of users, with Zipf frequencies",
        source="Weng et al. (2022) for recurrence",
        cluster="mixed-16",
        tick_seconds=1e-3,
    ),
    "jobs-small": JobsFamily(
        path="instances.generators.jobs.small:small",
        description="jobs of a few ticks with unrelated times, for exact methods",
        source="ours",
        cluster="2xV100-16GB,2xT4",
        tick_seconds=1e-9,
    ),
}
"""Families without interference by name, as on the command line."""

INTERFERING_FAMILIES: dict[str, JobsFamily] = {
    "jobs-co-located": JobsFamily(
        path="instances.generators.jobs.co_located:co_located",
        description="the jobs of jobs-poisson, slowed by others on their servers, on racks behind uplinks",
        source="ours",
        cluster="mixed-16",
        tick_seconds=1e-3,
    ),
    "jobs-shared-gpus": JobsFamily(
        path="instances.generators.jobs.co_located:shared_gpus",
        description="the same with two jobs per GPU, without racks",
        source="ours",
        cluster="mixed-16",
        tick_seconds=1e-3,
    ),
    "jobs-small-co-located": JobsFamily(
        path="instances.generators.jobs.small_co_located:small_co_located",
        description="jobs of a few ticks that slow each other down, for exact methods",
        source="ours",
        cluster="2xV100-16GB,2xT4",
        tick_seconds=1e-9,
    ),
}
"""Families with interference by name, made by the same function."""

ALL_JOBS_FAMILIES = JOBS_FAMILIES | INTERFERING_FAMILIES
"""All of them."""
