"""Distributed training jobs that arrive at a cluster of servers with GPUs of several kinds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.content_hash import content_hash
from instances.frozen_array import frozen_integers
from instances.jobs.check_jobs_instance import check_jobs_instance
from instances.jobs.free_text import free_text, free_texts, optional_texts
from instances.jobs.interference import Interference
from instances.jobs.jobs_document import jobs_instance_document
from instances.jobs.racks import Racks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.jobs.job import Job
    from instances.jobs.jobs_server import JobsServer

NOT_ALLOWED = -1
"""Time of a stage on a kind of GPU where it may not run."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, weakref_slot=True)
class JobsInstance:
    """What is to be scheduled: servers, jobs and their stages; checked when it is made, read-only afterwards.

    A job is a rigid gang: all its replicas hold one GPU each from start to end, without preemption. The stages of all
    jobs stand in one list; those of job i are ``stage_offsets[i]`` to ``stage_offsets[i + 1] - 1``. Two instances are
    the same if their `sha256` is the same. `JobsInstance.from_parts` makes one from servers and jobs.

    Parameters
    ----------
    name
        Free text.
    tick_seconds
        Length of a tick in seconds.
    kinds
        Distinct kinds of GPU, in the order of the first server of each.
    server_names
        Free text, one per server.
    server_kind
        Kind of the GPUs of each server, shape (servers,), int64; positions in `kinds`.
    num_gpus_of
        GPUs g of each server, shape (servers,), at least 1.
    nic_numerator, nic_denominator
        Bandwidth B of the network interface of each server in bytes per tick and direction as an exact fraction, shape
        (servers,) each, both at least 1; kept in lowest terms.
    job_names
        Free text, one per job.
    release
        Arrival of each job in ticks, shape (jobs,).
    weight
        Weight of each job, shape (jobs,), integers of at least 1.
    iterations
        True iterations n of each job, shape (jobs,), at least 1. An online policy learns them at completion.
    micro_batches
        Micro-batches Q per iteration of each job, shape (jobs,), at least 1.
    user, group, model_tag
        Who submitted each job, which recurring job it is a run of, and what it trains; None where unknown.
    stage_offsets
        First stage of each job, and the number of all stages, shape (jobs + 1,).
    replicas
        Replicas k of each stage, shape (stages,), at least 1.
    time_of
        Forward plus backward time p of one replica for its share of one micro-batch, by kind, in ticks, shape (stages,
        kinds), at least 1; ``NOT_ALLOWED`` where it may not run.
    activation_bytes
        Activations to the next stage per iteration, all replicas together, in bytes, shape (stages,); 0 at the last
        stage of a job.
    parameter_bytes
        Parameters of one replica in bytes, shape (stages,).
    interference
        What jobs on one server or GPU take from each other; None where jobs do not notice each other, and a job runs
        for ceil(n * alpha(x)) ticks whatever runs beside it.
    racks
        Servers behind uplinks, which lengthen alpha(x); None for none.

    Raises
    ------
    TypeError
        If an array does not hold integers, or a name is not text.
    ValueError
        If shapes do not agree, a value is out of range, a reference dangles, or a job fits nowhere. The message names
        the item as in the JSON file.
    """

    name: str
    tick_seconds: float
    kinds: tuple[str, ...]
    server_names: tuple[str, ...]
    server_kind: NDArray[np.int64]
    num_gpus_of: NDArray[np.int64]
    nic_numerator: NDArray[np.int64]
    nic_denominator: NDArray[np.int64]
    job_names: tuple[str, ...]
    release: NDArray[np.int64]
    weight: NDArray[np.int64]
    iterations: NDArray[np.int64]
    micro_batches: NDArray[np.int64]
    user: tuple[str | None, ...]
    group: tuple[str | None, ...]
    model_tag: tuple[str | None, ...]
    stage_offsets: NDArray[np.int64]
    replicas: NDArray[np.int64]
    time_of: NDArray[np.int64]
    activation_bytes: NDArray[np.int64]
    parameter_bytes: NDArray[np.int64]
    interference: Interference | None = None
    racks: Racks | None = None
    gang_size: NDArray[np.int64] = field(init=False, repr=False)
    """GPUs that each job holds from start to end: the replicas of its stages together, shape (jobs,)."""
    _sha256: str | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Take private, read-only copies and check everything once."""
        num_servers, num_jobs, num_stages = len(self.server_names), len(self.job_names), len(self.replicas)
        integers: dict[str, tuple[str, tuple[int | None, ...]]] = {
            "server_kind": ("servers[].kind", (num_servers,)),
            "num_gpus_of": ("servers[].gpus", (num_servers,)),
            "nic_numerator": ("servers[].nic_bytes_per_tick", (num_servers,)),
            "nic_denominator": ("servers[].nic_bytes_per_tick", (num_servers,)),
            "release": ("jobs[].release", (num_jobs,)),
            "weight": ("jobs[].weight", (num_jobs,)),
            "iterations": ("jobs[].iterations", (num_jobs,)),
            "micro_batches": ("jobs[].micro_batches", (num_jobs,)),
            "stage_offsets": ("jobs[].stages", (num_jobs + 1,)),
            "replicas": ("jobs[].stages[].replicas", (num_stages,)),
            "time_of": ("jobs[].stages[].times", (num_stages, len(self.kinds))),
            "activation_bytes": ("jobs[].stages[].activation_bytes", (num_stages,)),
            "parameter_bytes": ("jobs[].stages[].parameter_bytes", (num_stages,)),
        }
        for name, (place, shape) in integers.items():
            object.__setattr__(self, name, frozen_integers(getattr(self, name), place=place, shape=shape))
        if isinstance(self.tick_seconds, bool) or not isinstance(self.tick_seconds, int | float):
            raise TypeError(f"tick_seconds: expected a number, got {self.tick_seconds!r}.")
        is_huge = abs(self.tick_seconds) >= 2**1023  # an integer that no float may hold
        object.__setattr__(self, "tick_seconds", math.inf if is_huge else float(self.tick_seconds))
        free_text(self.name, "name")
        for name, place, length in (
            ("kinds", "kinds[{}]", len(self.kinds)),
            ("server_names", "servers[{}].name", num_servers),
            ("job_names", "jobs[{}].name", num_jobs),
        ):
            object.__setattr__(self, name, free_texts(getattr(self, name), place=place, length=length))
        for name in ("user", "group", "model_tag"):
            texts = optional_texts(getattr(self, name), place=f"jobs[{{}}].{name}", length=num_jobs)
            object.__setattr__(self, name, texts)
        for name, part in (("interference", Interference), ("racks", Racks)):
            if not isinstance(getattr(self, name), part | None):
                raise TypeError(f"{name}: expected {part.__name__} or None, got {getattr(self, name)!r}.")
        check_jobs_instance(self)
        divisor = np.gcd(self.nic_numerator, self.nic_denominator)
        for name in ("nic_numerator", "nic_denominator"):
            lowest = getattr(self, name) // divisor
            object.__setattr__(self, name, frozen_integers(lowest, place="servers", shape=(num_servers,)))
        totals = np.concatenate([[0], np.cumsum(self.replicas)])
        gang_size = totals[self.stage_offsets[1:]] - totals[self.stage_offsets[:-1]]
        object.__setattr__(self, "gang_size", frozen_integers(gang_size, place="jobs", shape=(num_jobs,)))

    @classmethod
    def from_parts(
        cls,
        servers: Sequence[JobsServer],
        jobs: Sequence[Job],
        *,
        name: str = "instance",
        tick_seconds: float = 1.0,
        interference: Interference | None = None,
        racks: Racks | None = None,
    ) -> JobsInstance:
        """Make an instance from servers and jobs.

        Parameters
        ----------
        servers
            At least one.
        jobs
            In any order; their numbers are their positions.
        name, tick_seconds, interference, racks
            As in `JobsInstance`.

        Returns
        -------
        JobsInstance
            The checked instance.

        Raises
        ------
        TypeError, ValueError
            As `JobsInstance`, or if a stage has a time for a kind that no server has.
        """
        kinds = tuple(dict.fromkeys(server.kind for server in servers))
        bandwidths = [_fraction(server.nic_bytes_per_tick, index) for index, server in enumerate(servers)]
        stages = [stage for job in jobs for stage in job.stages]
        rows = []
        for number, job in enumerate(jobs):
            for position, stage in enumerate(job.stages):
                place = f"jobs[{number}].stages[{position}].times"
                rows.append(_times(stage.times, kinds, place))
        return cls(
            name=name,
            tick_seconds=tick_seconds,
            kinds=kinds,
            server_names=tuple(_named(server.name, "s", index) for index, server in enumerate(servers)),
            server_kind=_column([kinds.index(server.kind) for server in servers]),
            num_gpus_of=_column([server.gpus for server in servers]),
            nic_numerator=_column([value.numerator for value in bandwidths]),
            nic_denominator=_column([value.denominator for value in bandwidths]),
            job_names=tuple(_named(job.name, "j", index) for index, job in enumerate(jobs)),
            release=_column([job.release for job in jobs]),
            weight=_column([job.weight for job in jobs]),
            iterations=_column([job.iterations for job in jobs]),
            micro_batches=_column([job.micro_batches for job in jobs]),
            user=tuple(job.user for job in jobs),
            group=tuple(job.group for job in jobs),
            model_tag=tuple(job.model_tag for job in jobs),
            stage_offsets=np.cumsum([0, *(len(job.stages) for job in jobs)]),
            replicas=_column([stage.replicas for stage in stages]),
            time_of=np.array(rows).reshape(len(rows), len(kinds)) if rows else np.zeros((0, len(kinds)), np.int64),
            activation_bytes=_column([stage.activation_bytes for stage in stages]),
            parameter_bytes=_column([stage.parameter_bytes for stage in stages]),
            interference=interference,
            racks=racks,
        )

    @property
    def num_servers(self) -> int:
        """Number of servers."""
        return len(self.server_names)

    @property
    def num_jobs(self) -> int:
        """Number of jobs."""
        return len(self.job_names)

    @property
    def num_kinds(self) -> int:
        """Number of kinds of GPU."""
        return len(self.kinds)

    @property
    def num_gpus(self) -> int:
        """Number of GPUs G of all servers."""
        return int(self.num_gpus_of.sum())

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, the same on every machine; made when it is first asked for."""
        if self._sha256 is None:
            object.__setattr__(self, "_sha256", content_hash(jobs_instance_document(self)))
        return str(self._sha256)

    @property
    def share(self) -> int:
        """Jobs that may hold one GPU at the same time: 1, or 2 with an interference that says so."""
        return 1 if self.interference is None else self.interference.share

    def num_stages_of(self, job: int) -> int:
        """Return the number of stages S of a job."""
        return int(self.stage_offsets[job + 1] - self.stage_offsets[job])

    def stages_of(self, job: int) -> slice:
        """Return the rows of a job in the arrays of stages."""
        return slice(int(self.stage_offsets[job]), int(self.stage_offsets[job + 1]))

    def nic_bytes_per_tick(self, server: int) -> Fraction:
        """Return the bandwidth B of a server's network interface."""
        return Fraction(int(self.nic_numerator[server]), int(self.nic_denominator[server]))

    def __deepcopy__(self, memo: object) -> JobsInstance:
        """Return the instance itself: nothing in it can change."""
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Make a copy from another process through the constructor, so that it is read-only too."""
        return _remade, ({item.name: getattr(self, item.name) for item in fields(self) if item.init},)

    def __str__(self) -> str:
        """Describe the instance in a few aligned lines."""
        return "\n".join(f"{label:>14}: {value}" for label, value in self.summary().items())

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know first, as label and text."""
        gpus_of_kind = np.bincount(self.server_kind, weights=self.num_gpus_of, minlength=self.num_kinds).astype(int)
        counted = ", ".join(f"{count} x {kind}" for count, kind in zip(gpus_of_kind, self.kinds, strict=True))
        arrivals = f"{int(self.release.min())} to {int(self.release.max())}" if self.num_jobs else "none"
        further = {}
        if self.racks is not None:
            further["racks"] = str(self.racks.num_racks)
        if self.interference is not None:
            sharing = f", up to {self.share} jobs per GPU" if self.share > 1 else ""
            further["interference"] = f"{', '.join(self.interference.resources) or 'no resources'}{sharing}"
        return {
            "instance": self.name,
            "jobs": str(self.num_jobs),
            "stages": str(len(self.replicas)),
            "GPUs": f"{self.num_gpus} ({counted}) on {self.num_servers} server(s)",
            **further,
            "largest gang": f"{int(self.gang_size.max(initial=0))} GPUs",
            "arrivals": f"{arrivals} ticks" if self.num_jobs else arrivals,
            "users": str(len({user for user in self.user if user is not None})),
            "tick": f"{self.tick_seconds:g} s",
            "content hash": self.sha256[:16],
        }

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        from instances.html import html_table

        return html_table(self.summary())


def _remade(values: dict[str, Any]) -> JobsInstance:
    """Call the constructor, for `pickle`."""
    return JobsInstance(**values)


def _column(values: Sequence[int]) -> Any:
    """Return the values; an empty list is a list of integers."""
    return values if len(values) else np.zeros(0, dtype=np.int64)


def _named(name: str | None, letter: str, index: int) -> str:
    """Return the name, or a letter and a number."""
    return f"{letter}{index}" if name is None else name


def _fraction(value: Fraction | int, server: int) -> Fraction:
    """Return the bandwidth of a server if it is exact."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer | Fraction):
        raise TypeError(f"servers[{server}].nic_bytes_per_tick: expected an integer or a fraction, got {value!r}.")
    return value if isinstance(value, Fraction) else Fraction(int(value))


def _times(times: Any, kinds: Sequence[str], place: str) -> list[int]:
    """Return the times of a stage, one per kind."""
    if not hasattr(times, "items"):
        return [times] * len(kinds)
    for kind, ticks in times.items():
        if kind not in kinds:
            raise ValueError(f"{place}: expected kinds among {', '.join(kinds)}, got {kind!r}.")
        if ticks is not None and ticks < 1:
            raise ValueError(f"{place}: expected at least 1 tick or none on {kind}, got {ticks}.")
    return [NOT_ALLOWED if times.get(kind) is None else times[kind] for kind in kinds]
