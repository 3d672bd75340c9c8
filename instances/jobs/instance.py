"""Distributed training jobs that arrive at a cluster of servers with GPUs of several kinds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.frozen_array import MAX_INTEGER, ReadOnly, free_text, frozen_integers, optional_texts, positive_tick
from instances.jobs.interference import FULL_SPEED, Interference
from instances.jobs.iteration_time import gpus_of_kind, largest_durations
from instances.jobs.replicas_fit import replicas_fit
from instances.jobs.servers import Racks
from instances.json_document import content_hash
from instances.units import duration_text, ticks_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from instances.jobs.servers import JobsServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of a pipeline; input of `JobsInstance.from_parts`, checked there.

    Parameters
    ----------
    times
        Forward plus backward time of one replica for its share of one micro-batch in ticks, by name of the kind of GPU;
        a kind that is absent, or None, is not allowed. A single integer holds for all kinds.
    replicas
        Replicas k_s, one GPU each.
    activation_bytes
        Data to the next stage per iteration, all replicas together; 0 at the last stage.
    parameter_bytes
        Parameters of one replica.
    """

    times: Mapping[str, int | None] | int
    replicas: int = 1
    activation_bytes: int = 0
    parameter_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job; input of `JobsInstance.from_parts`, checked there.

    Parameters
    ----------
    stages
        The pipeline, first stage first.
    iterations
        True number of iterations n.
    release
        Arrival in ticks.
    micro_batches
        Micro-batches Q per iteration.
    name
        Free text; None stands for j0, j1, ...
    user, group, model_tag
        Who submitted it, which recurring job it is a run of, and what it trains; None where unknown.
    """

    stages: Sequence[Stage]
    iterations: int = 1
    release: int = 0
    weight: int = 1
    micro_batches: int = 1
    name: str | None = None
    user: str | None = None
    group: str | None = None
    model_tag: str | None = None


NOT_ALLOWED = -1
"""Time of a stage on a kind of GPU where it may not run."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, weakref_slot=True)
class JobsInstance(ReadOnly):
    """Servers, jobs and their stages: an instance of the jobs problem, checked when it is made and read-only.

    A job is a rigid gang: all its replicas hold one GPU each from start to end, without preemption. The stages of all
    jobs stand in one list; those of job i are ``stage_offsets[i]`` to ``stage_offsets[i + 1] - 1``.
    `JobsInstance.from_parts` makes an instance from servers and jobs. Two instances are the same if their `sha256` is
    the same; ``==`` compares identity.

    Parameters
    ----------
    kinds
        Distinct kinds of GPU, in the order of the first server of each.
    server_kind
        Kind of the GPUs of each server, shape (servers,), int64; positions in `kinds`.
    num_gpus_of
        GPUs g of each server, shape (servers,), at least 1.
    nic_numerator, nic_denominator
        Bandwidth B of the network interface of each server in bytes per tick and direction as an exact fraction, shape
        (servers,) each, both at least 1; kept in lowest terms.
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
        How jobs on one server or GPU slow each other; None where they do not, and every job runs for
        ceil(n * alpha(x)) ticks.
    racks
        Servers behind uplinks, which lengthen alpha(x); None where there are no racks.

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
        self._freeze_integers(
            {
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
        )
        object.__setattr__(self, "tick_seconds", positive_tick(self.tick_seconds))
        free_text(self.name, "name")
        self._freeze_texts(
            {
                "kinds": ("kinds[{}]", len(self.kinds)),
                "server_names": ("servers[{}].name", num_servers),
                "job_names": ("jobs[{}].name", num_jobs),
            }
        )
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
        """Make an instance from at least one server and from jobs, whose numbers are their positions.

        Raises
        ------
        TypeError, ValueError
            As `JobsInstance`, or if a stage has a time for a kind that no server has.

        Examples
        --------
        Two jobs on a server with two GPUs; the second job is a pipeline of two stages, one GPU each.

        >>> from instances.jobs.servers import JobsServer
        >>> servers = [JobsServer(kind="T4", gpus=2, nic_bytes_per_tick=1000)]
        >>> whole = Job(stages=[Stage(times=5)], iterations=10)
        >>> pipeline = Job(stages=[Stage(times=3), Stage(times=4)], release=7)
        >>> JobsInstance.from_parts(servers, [whole, pipeline], name="two jobs")
        JobsInstance('two jobs': 2 jobs, 3 stages, 2 GPUs on 1 server(s))
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
            from instances.jobs.json import jobs_instance_document

            object.__setattr__(self, "_sha256", content_hash(jobs_instance_document(self)))
        return str(self._sha256)

    @property
    def share(self) -> int:
        """Jobs that may hold one GPU at the same time: 1, or 2 if the interference allows it."""
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

    def __repr__(self) -> str:
        """Name the instance and its sizes in one line."""
        servers = f"{self.num_gpus} GPUs on {self.num_servers} server(s)"
        return f"JobsInstance({self.name!r}: {self.num_jobs} jobs, {len(self.replicas)} stages, {servers})"

    def __str__(self) -> str:
        """Describe the instance in a few aligned lines."""
        return "\n".join(f"{label:>14}: {value}" for label, value in self.summary().items())

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know first, as label and text."""
        gpus_of_kind = np.bincount(self.server_kind, weights=self.num_gpus_of, minlength=self.num_kinds).astype(int)
        counted = ", ".join(f"{count} x {kind}" for count, kind in zip(gpus_of_kind, self.kinds, strict=True))
        last = ticks_text(int(self.release.max(initial=0)), self.tick_seconds)
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
            "arrivals": f"{self.release.min()} to {last}" if self.num_jobs else "none",
            "users": str(len({user for user in self.user if user is not None})),
            "tick": duration_text(self.tick_seconds),
            "content hash": self.sha256[:16],
        }

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        from instances.html import html_table

        return html_table(self.summary())


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


MAX_GPUS_OF_SERVER = 65_536
"""Most GPUs of a server; more is a slip of the finger, and methods that look at single GPUs would not end."""


def check_jobs_instance(instance: JobsInstance) -> None:
    """Check values and references of an instance whose shapes are right.

    Raises a `ValueError` if a value is out of range, a reference dangles, a job fits nowhere, or the times are too
    large for exact arithmetic.
    """
    _check_servers(instance)
    _check_jobs(instance)
    _check_stages(instance)
    _check_fit(instance)
    _check_parts(instance)
    _check_horizon(instance)


def _check_servers(instance: JobsInstance) -> None:
    """Check servers and that the kinds are theirs, in order."""
    if instance.num_servers == 0:
        raise ValueError("servers: expected at least one server, got none.")
    for server in np.flatnonzero((instance.server_kind < 0) | (instance.server_kind >= instance.num_kinds)):
        kind = instance.server_kind[server]
        raise ValueError(f"servers[{server}].kind: expected a kind in 0..{instance.num_kinds - 1}, got {kind}.")
    if len(set(instance.kinds)) < instance.num_kinds:
        raise ValueError(f"kinds: expected each kind once, got {', '.join(instance.kinds)}.")
    seen = list(dict.fromkeys(instance.server_kind.tolist()))
    if seen != list(range(instance.num_kinds)):
        raise ValueError(
            f"kinds: expected the kinds of the servers in the order of the first server of each, got {instance.kinds}."
        )
    for name, place in (
        ("num_gpus_of", "gpus"),
        ("nic_numerator", "nic_bytes_per_tick"),
        ("nic_denominator", "nic_bytes_per_tick"),
    ):
        _check_at_least(getattr(instance, name), 1, f"servers[{{}}].{place}")
    for server in np.flatnonzero(instance.num_gpus_of > MAX_GPUS_OF_SERVER):
        found = instance.num_gpus_of[server]
        raise ValueError(
            f"servers[{server}].gpus: expected at most {MAX_GPUS_OF_SERVER} GPUs on a server, got {found}."
        )


def _check_jobs(instance: JobsInstance) -> None:
    """Check what is said of jobs, and that each has its stages."""
    _check_at_least(instance.release, 0, "jobs[{}].release")
    _check_at_least(instance.weight, 1, "jobs[{}].weight")
    _check_at_least(instance.iterations, 1, "jobs[{}].iterations")
    _check_at_least(instance.micro_batches, 1, "jobs[{}].micro_batches")
    offsets = instance.stage_offsets
    for job in np.flatnonzero(np.diff(offsets) < 1):
        raise ValueError(f"jobs[{job}].stages: expected at least one stage, got {offsets[job + 1] - offsets[job]}.")
    if offsets[0] != 0 or offsets[-1] != len(instance.replicas):
        raise ValueError(f"jobs[].stages: expected offsets from 0 to {len(instance.replicas)}, got {offsets.tolist()}.")


def _check_stages(instance: JobsInstance) -> None:
    """Check what is said of stages."""
    for name, low in (("replicas", 1), ("activation_bytes", 0), ("parameter_bytes", 0)):
        values = getattr(instance, name)
        for stage in np.flatnonzero(values < low):
            raise ValueError(f"{_place(instance, stage)}.{name}: expected at least {low}, got {values[stage]}.")
    for stage, kind in np.argwhere((instance.time_of < -1) | (instance.time_of == 0)):
        ticks = instance.time_of[stage, kind]
        raise ValueError(f"{_place(instance, stage)}.times[{kind}]: expected at least 1 or not allowed, got {ticks}.")
    for stage in np.flatnonzero((instance.time_of < 0).all(axis=1)):
        raise ValueError(f"{_place(instance, stage)}.times: expected at least one allowed kind, got none.")
    lasts = instance.stage_offsets[1:] - 1
    for stage in lasts[instance.activation_bytes[lasts] != 0]:
        data = instance.activation_bytes[stage]
        raise ValueError(f"{_place(instance, stage)}.activation_bytes: expected 0 at the last stage, got {data}.")


def _check_fit(instance: JobsInstance) -> None:
    """Check that every job has a placement on empty servers."""
    total, capacity = instance.num_gpus, gpus_of_kind(instance).tolist()
    replicas, allowed = instance.replicas.tolist(), (instance.time_of > 0).tolist()
    offsets = instance.stage_offsets.tolist()
    for job, (first, last) in enumerate(itertools.pairwise(offsets)):
        gang = sum(replicas[first:last])
        if gang > total:
            raise ValueError(f"jobs[{job}].stages: expected at most {total} replicas, one per GPU, got {gang}.")
        if not replicas_fit(replicas[first:last], allowed[first:last], capacity):
            raise ValueError(
                f"jobs[{job}].stages: expected replicas that fit on GPUs of allowed kinds, got {replicas[first:last]}."
            )


def _check_parts(instance: JobsInstance) -> None:
    """Check that interference and racks speak of these jobs and servers."""
    if instance.interference is not None and instance.interference.num_jobs != instance.num_jobs:
        got = instance.interference.num_jobs
        raise ValueError(f"jobs[].use: expected {instance.num_jobs} entries, one per job, got {got}.")
    if instance.racks is not None and len(instance.racks.rack_of_server) != instance.num_servers:
        got = len(instance.racks.rack_of_server)
        raise ValueError(f"servers[].rack: expected {instance.num_servers} entries, one per server, got {got}.")


def _check_horizon(instance: JobsInstance) -> None:
    """Check that one job after the other ends by 2**53 ticks, wherever they are placed, and as slow as can be."""
    if instance.num_jobs == 0:
        return
    latest, weights = int(instance.release.max()), max(sum(instance.weight.tolist()), 1)
    slowest = 1 if instance.interference is None else FULL_SPEED  # the least speed is 1 per mille
    estimate = latest + slowest * _estimated_work(instance)
    if estimate < MAX_INTEGER / 2 and estimate * weights < 2.0**61:
        return  # far from the limits: the exact value need not be known
    horizon = latest + slowest * sum(largest_durations(instance))
    if horizon > MAX_INTEGER:
        raise ValueError(f"jobs: expected a horizon of at most 2**53 ticks, got {horizon}; use longer ticks.")
    if horizon * weights > 2**62:
        raise ValueError(f"jobs: expected weights whose sum times the horizon of {horizon} ticks is below 2**62.")


def _estimated_work(instance: JobsInstance) -> float:
    """Return the sum of the largest durations in floating point, which is fast and right to many digits."""
    first, replicas = instance.stage_offsets[:-1], instance.replicas.astype(np.float64)
    rings = 2.0 * (replicas - 1.0) / replicas * instance.parameter_bytes
    data = np.add.reduceat(instance.activation_bytes + rings, first)
    slowest = np.maximum.reduceat(instance.time_of.max(axis=1).astype(np.float64), first)
    steps = instance.micro_batches.astype(np.float64) + np.diff(instance.stage_offsets) - 1.0
    bandwidth = (instance.nic_numerator / instance.nic_denominator).min()
    if instance.racks is not None and instance.racks.num_racks:
        bandwidth = min(bandwidth, (instance.racks.uplink_numerator / instance.racks.uplink_denominator).min())
    comm = data / bandwidth
    return float((instance.iterations * (steps * slowest + comm) + 1.0).sum())


def _check_at_least(values: NDArray[np.int64], low: int, place: str) -> None:
    """Check that all values are at least `low`."""
    for index in np.flatnonzero(values < low):
        raise ValueError(f"{place.format(index)}: expected at least {low}, got {values[index]}.")


def _place(instance: JobsInstance, stage: int | np.integer) -> str:
    """Return where a stage stands in the file."""
    job = int(np.searchsorted(instance.stage_offsets, stage, side="right")) - 1
    return f"jobs[{job}].stages[{stage - instance.stage_offsets[job]}]"
