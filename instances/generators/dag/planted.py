"""Instances of any size whose optimal makespan is known, because a schedule and its proof are planted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from instances.clusters.cluster import Cluster, Server
from instances.clusters.gpu_kinds import gpu_kind
from instances.dag.instance import NO_LIMIT, NOT_ALLOWED, DagInstance
from instances.dag.schedule import DagSchedule
from instances.frozen_array import MAX_INTEGER, frozen_integers
from instances.generators.dag.random_graphs import log_uniform
from instances.parameters import check_integer, check_number, fields_as_parameters, set_checked

if TYPE_CHECKING:
    from numpy.typing import NDArray


MEAN_TICKS = 100
"""Mean duration on the planted GPU where no horizon is given."""

KINDS = ("A100-40GB", "V100-16GB", "T4", "P100")
"""Kinds of GPU where no cluster is given, one server after the other."""

RECENT = 8
"""Tails of random edges are among so many tasks per GPU that finished last before the head starts."""

MEMORY_BYTES = (2**20, 2**28)
"""Smallest and largest memory of a task; log-uniform between."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlantedOptimum:
    """An instance, an optimal schedule of it, and why it is optimal.

    Parameters
    ----------
    optimum
        Makespan of the schedule in ticks, which no schedule beats.
    certificate
        Kind of proof: ``area`` or ``path``, as in `planted_optimum`.
    gpu_weights
        With ``area``: integer weight v of every GPU, shape (m,), such that the sum over tasks of the smallest
        v[k] p[i,k] is the optimum times the sum of v. None otherwise.
    path
        With ``path``: tasks of a chain whose smallest durations sum to the optimum, in order. None otherwise.
    """

    instance: DagInstance
    schedule: DagSchedule
    optimum: int
    certificate: Literal["area", "path"]
    gpu_weights: NDArray[np.int64] | None
    path: NDArray[np.int64] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedShape:
    """How hard the optimum is to find: edges, transfers, speeds and memory around the planted schedule.

    Parameters
    ----------
    edges_per_task
        Mean number of random edges per task, before double ones are dropped.
    tight_transfers
        Share of edges between GPUs that fill the time between tail and head as far as whole bytes and ticks allow; the
        others fill a random share of it.
    min_speed, max_speed
        Speeds of kinds of GPU are random integers in this range; only their ratios matter. With ratios well below
        `max_slowdown` kinds rank differently from task to task.
    max_slowdown
        A duration on another kind of GPU is the shortest that leaves the proof true, times a random factor up to this.
    forbidden
        Share of pairs of a task and a kind other than the planted one that are not allowed.
    memory_tightness
        Planted memory load of a GPU over its capacity, in (0, 1]; at 1 the planted placement fills every GPU to the
        last byte. None sets no limits.
    utilisation
        Share of the time next to the path in which GPUs are busy; used with ``path`` only.
    buffers
        Share of tasks with successors whose output is a buffer that all of them release. With `memory_tightness`, which
        then is the largest memory in use on a GPU over its capacity, memory is released and taken again in time.
    """

    edges_per_task: float = 2.0
    tight_transfers: float = 0.5
    min_speed: int = 3
    max_speed: int = 6
    max_slowdown: float = 2.0
    forbidden: float = 0.0
    memory_tightness: float | None = None
    utilisation: float = 0.8
    buffers: float = 0.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        tightness = self.memory_tightness
        set_checked(
            self,
            edges_per_task=check_number("edges_per_task", self.edges_per_task, low=0.0),
            tight_transfers=check_number("tight_transfers", self.tight_transfers, low=0.0, high=1.0),
            min_speed=check_integer("min_speed", self.min_speed, low=1),
            max_speed=check_integer("max_speed", self.max_speed, low=self.min_speed),
            max_slowdown=check_number("max_slowdown", self.max_slowdown, low=1.0),
            forbidden=check_number("forbidden", self.forbidden, low=0.0, high=1.0),
            utilisation=check_number("utilisation", self.utilisation, low=0.0, high=1.0),
            buffers=check_number("buffers", self.buffers, low=0.0, high=1.0),
            memory_tightness=None
            if tightness is None
            else check_number("memory_tightness", tightness, low=1e-6, high=1.0),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Plan:
    """Planted GPU, start and duration of every task, shape (n,) each; and the tasks of the path in order."""

    gpu: NDArray[np.int64]
    start: NDArray[np.int64]
    duration: NDArray[np.int64]
    path: NDArray[np.int64]


@fields_as_parameters
def planted_optimum(
    *,
    tasks: int,
    seed: int,
    num_gpus: int | None = None,
    cluster: Cluster | None = None,
    certificate: Literal["area", "path"] = "area",
    horizon: int | None = None,
    shape: PlantedShape = PlantedShape(),
    tick_seconds: float = 1e-5,
    name: str | None = None,
) -> PlantedOptimum:
    """Make an instance around a schedule that is optimal by construction.

    Parameters
    ----------
    tasks
        Number of tasks n, at least one per GPU.
    seed
        At least 0.
    num_gpus
        Number of GPUs m; default 4. The cluster then has servers of up to eight like GPUs of four kinds.
    cluster
        GPUs and links, instead of `num_gpus`.
    certificate
        ``area``: no GPU is ever idle. ``path``: a chain of tasks takes all the time, other GPUs are idle at times.
    horizon
        Makespan T of the planted schedule in ticks; by default the mean planted duration is about 100 ticks.
    tick_seconds
        Length of a tick; with the cluster it gives latencies and bandwidths.
    name
        Name of the instance; the default states certificate, number of tasks, number of GPUs and seed.

    Returns
    -------
    PlantedOptimum
        Instance, schedule, optimum and certificate; one job, released at 0. Memory and edges restrict other schedules
        but not the planted one, so they leave the optimum as it is.

    Raises
    ------
    TypeError
        If a parameter is not of its kind.
    ValueError
        If a parameter is out of range, or the horizon is too short for the tasks.

    Notes
    -----
    *Area.* Kinds have integer speeds; let v[k] be that of GPU k, V the sum of all v[k], and w[k] = v[k] / V. Tasks
    fill [0, T] on every GPU. A task planted on g for p ticks takes p[i,k] >= p v[g] / v[k] on every k, with equality
    for g and GPUs of its kind. Take any schedule with makespan C, and let a(i) be the GPU of task i in it. As no GPU
    k is busy for longer than C and the w[k] sum to 1, ::

        C >= sum_k w[k] load[k] = sum_i w[a(i)] p[i,a(i)] >= sum_i w[g(i)] p[i,g(i)] = sum_k w[k] T = T,

    where the second inequality is w[k] p[i,k] >= v[k] / V * p v[g] / v[k] = w[g] p. So T is optimal, although tasks may
    be shorter elsewhere than where they are planted, by up to the ratio of speeds.

    *Path.* A chain of tasks and edges fills [0, T]; no task of it is shorter on another GPU, and its edges carry data
    only between tasks on one GPU. Its smallest durations sum to T, and no schedule is shorter than that.

    References
    ----------
    Both bounds are textbook ones, here with weights on machines (a feasible dual solution of the assignment relaxation:
    Lenstra, Shmoys and Tardos (1990)). The construction is ours.
    """
    if num_gpus is not None and cluster is not None:
        raise ValueError("num_gpus: expected either num_gpus or cluster, got both.")
    if cluster is None:
        cluster = _default_cluster(check_integer("num_gpus", 4 if num_gpus is None else num_gpus, low=1))
    if certificate not in ("area", "path"):
        raise ValueError(f"certificate: expected area or path, got {certificate!r}.")
    size = len(cluster.kinds)
    tasks = check_integer("tasks", tasks, low=size)
    horizon = check_integer("horizon", MEAN_TICKS * math.ceil(tasks / size) if horizon is None else horizon, low=1)
    if tasks > size * horizon:
        raise ValueError(
            f"horizon: expected at least {-(-tasks // size)} for {tasks} tasks on {size} GPUs, got {horizon}."
        )
    tick_seconds = check_number("tick_seconds", tick_seconds, low=1e-12)
    rng = np.random.default_rng(check_integer("seed", seed, low=0))

    kind_of_gpu = _kind_ids(cluster)
    speeds = rng.integers(shape.min_speed, shape.max_speed + 1, size=int(kind_of_gpu.max()) + 1)[kind_of_gpu]
    if certificate == "area":
        plan = _plan_without_idle_time(rng, tasks, size, horizon)
    else:
        plan = _plan_around_path(rng, tasks, size, horizon, shape.utilisation)
    latency = np.ceil(cluster.latency_seconds() / tick_seconds - 1e-9).astype(np.int64)
    bytes_per_tick = cluster.bytes_per_second() * tick_seconds
    edges = _random_edges(rng, plan, round(shape.edges_per_task * tasks), size)
    edges = np.unique(np.concatenate([np.column_stack([plan.path[:-1], plan.path[1:]]), edges]), axis=0)
    memory = log_uniform(rng, MEMORY_BYTES, tasks).astype(np.int64)
    loads = np.bincount(plan.gpu, weights=memory, minlength=size).astype(np.int64)
    drawn = _durations(rng, plan, speeds, kind_of_gpu, shape)
    drawn_bytes = _edge_bytes(rng, plan, edges, latency, bytes_per_tick, shape.tight_transfers)
    holders, held = _buffers(rng, edges, shape.buffers)
    loads = loads + _peaks(plan, edges, holders, held, size)
    capacities = np.full(size, NO_LIMIT)
    if shape.memory_tightness is not None:
        capacities = np.maximum(np.ceil(loads / shape.memory_tightness).astype(np.int64), loads)
    releases = [(number, head) for number, task in enumerate(holders) for head in edges[edges[:, 0] == task, 1]]
    instance = DagInstance(
        name=f"planted-{certificate}-n{tasks}-m{size}-s{seed}" if name is None else name,
        tick_seconds=tick_seconds,
        durations=drawn,
        task_memory=memory,
        job_of_task=np.zeros(tasks, dtype=np.int64),
        edges=edges,
        edge_bytes=drawn_bytes,
        gpu_memory=capacities,
        latency=latency,
        bytes_per_tick=bytes_per_tick,
        release=np.zeros(1, dtype=np.int64),
        weight=np.ones(1, dtype=np.int64),
        task_names=tuple(f"t{task}" for task in range(tasks)),
        gpu_names=tuple(f"g{gpu}" for gpu in range(size)),
        gpu_kinds=tuple(kind.name for kind in cluster.kinds),
        gpu_servers=tuple(server.name for server in cluster.server_of_gpu),
        job_names=("j0",),
        buffer_task=holders,
        buffer_bytes=held,
        buffer_releases=np.array(releases, dtype=np.int64).reshape(-1, 2),
    )
    return PlantedOptimum(
        instance=instance,
        schedule=DagSchedule(gpu=plan.gpu, start=plan.start, instance=instance),
        optimum=horizon,
        certificate=certificate,
        gpu_weights=frozen_integers(speeds, place="gpu_weights", shape=(size,)) if certificate == "area" else None,
        path=frozen_integers(plan.path, place="path", shape=(None,)) if certificate == "path" else None,
    )


def _buffers(
    rng: np.random.Generator, edges: NDArray[np.int64], share: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw which tasks with successors hold a buffer, and its bytes; nothing is drawn where the share is 0."""
    tails = np.unique(edges[:, 0])
    if share == 0.0:
        return tails[:0], tails[:0]
    holders = tails[rng.random(len(tails)) < share]
    return holders, log_uniform(rng, MEMORY_BYTES, len(holders)).astype(np.int64)


def _peaks(
    plan: _Plan, edges: NDArray[np.int64], holders: NDArray[np.int64], held: NDArray[np.int64], num_gpus: int
) -> NDArray[np.int64]:
    """Return the most bytes of buffers that are held at once on every GPU in the planted schedule."""
    finish, peaks = plan.start + plan.duration, np.zeros(num_gpus, dtype=np.int64)
    released = np.zeros(len(finish), dtype=np.int64)
    np.maximum.at(released, edges[:, 0], finish[edges[:, 1]])
    for gpu in range(num_gpus):
        own = plan.gpu[holders] == gpu
        times = np.concatenate([released[holders[own]], plan.start[holders[own]]])  # what ends comes first in a tick
        changes = np.concatenate([-held[own], held[own]])
        peaks[gpu] = np.cumsum(changes[np.argsort(times, kind="stable")]).max(initial=0)
    return peaks


def _default_cluster(num_gpus: int) -> Cluster:
    """Return servers of like GPUs: about four, then more of eight GPUs each."""
    width = min(math.ceil(num_gpus / 4), 8)
    sizes = [min(width, num_gpus - first) for first in range(0, num_gpus, width)]
    return Cluster(
        servers=tuple(
            Server(name=f"s{number}", kinds=(gpu_kind(KINDS[number % len(KINDS)]),) * size)
            for number, size in enumerate(sizes)
        )
    )


def _kind_ids(cluster: Cluster) -> NDArray[np.int64]:
    """Return an id of the kind of every GPU."""
    names = list(dict.fromkeys(kind.name for kind in cluster.kinds))
    return np.array([names.index(kind.name) for kind in cluster.kinds], dtype=np.int64)


def _plan_without_idle_time(rng: np.random.Generator, num_tasks: int, num_gpus: int, horizon: int) -> _Plan:
    """Cut [0, horizon] on every GPU into tasks."""
    counts = _shares_of_tasks(rng, num_tasks - num_gpus, np.full(num_gpus, horizon - 1)) + 1
    return _plan(rng, [(gpu, *_cut(rng, 0, horizon, count, 1.0)) for gpu, count in enumerate(counts.tolist())], 0)


def _plan_around_path(
    rng: np.random.Generator, num_tasks: int, num_gpus: int, horizon: int, utilisation: float
) -> _Plan:
    """Cut [0, horizon] into a path that changes GPUs at random, and fill the rest with tasks and idle time."""
    length = min(max(num_tasks // num_gpus, 1), horizon) if num_gpus > 1 else num_tasks
    starts, durations = _cut(rng, 0, horizon, length, 1.0)
    gpus = rng.integers(num_gpus, size=length)
    gpus = gpus[np.maximum.accumulate(np.where(rng.random(length) < 0.5, np.arange(length), 0))]
    pieces = [(gpu, starts[gpus == gpu], durations[gpus == gpu]) for gpu in range(num_gpus)]
    gaps: list[tuple[int, int, int]] = []
    for gpu, begins, lengths in pieces:
        gap_starts = np.concatenate([[0], begins + lengths])
        gap_ends = np.concatenate([begins, [horizon]])
        gaps += [(gpu, begin, end - begin) for begin, end in zip(gap_starts.tolist(), gap_ends.tolist(), strict=True)]
    capacity = np.array([length for _, _, length in gaps], dtype=np.int64)
    counts = _shares_of_tasks(rng, num_tasks - length, capacity)
    fillers = [
        (gpu, *_cut(rng, begin, length, count, utilisation))
        for (gpu, begin, length), count in zip(gaps, counts.tolist(), strict=True)
        if count
    ]
    path = [(gpu, starts[[place]], durations[[place]]) for place, gpu in enumerate(gpus.tolist())]
    return _plan(rng, [*path, *fillers], length)


def _plan(
    rng: np.random.Generator, parts: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]], path_length: int
) -> _Plan:
    """Join parts of (GPU, starts, durations) and number the tasks at random; the first ones are the path."""
    gpu = np.concatenate([np.full(len(starts), gpu, dtype=np.int64) for gpu, starts, _ in parts])
    start = np.concatenate([starts for _, starts, _ in parts])
    duration = np.concatenate([durations for _, _, durations in parts])
    order = rng.permutation(len(gpu))
    place = np.argsort(order)
    return _Plan(gpu=gpu[order], start=start[order], duration=duration[order], path=place[:path_length])


def _shares_of_tasks(rng: np.random.Generator, num_tasks: int, capacity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Spread tasks over stretches of time in proportion to their lengths, at most one task per tick."""
    counts = np.zeros_like(capacity)
    while (left := num_tasks - int(counts.sum())) > 0:
        free = capacity - counts
        counts = np.minimum(counts + rng.multinomial(left, free / free.sum()), capacity)
    return counts


def _cut(
    rng: np.random.Generator, begin: int, length: int, count: int, utilisation: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut a stretch of time into tasks of at least one tick, with idle time between; return starts and durations."""
    busy = max(count, round(length * utilisation))
    durations = 1 + rng.multinomial(busy - count, rng.dirichlet(np.full(count, 2.0)))
    idle = rng.multinomial(length - busy, np.full(count + 1, 1.0 / (count + 1)))[:-1]
    return begin + np.cumsum(idle + durations) - durations, durations


def _durations(
    rng: np.random.Generator,
    plan: _Plan,
    speeds: NDArray[np.int64],
    kind_of_gpu: NDArray[np.int64],
    shape: PlantedShape,
) -> NDArray[np.int64]:
    """Return durations on all GPUs, none below what the proof needs; GPUs of one kind are alike."""
    num_tasks, num_kinds = len(plan.gpu), int(kind_of_gpu.max()) + 1
    own_speed = np.repeat(speeds[plan.gpu][:, None], len(speeds), axis=1)
    own_speed[plan.path] = speeds  # a task of the path is nowhere shorter
    exact = plan.duration[:, None] * own_speed
    least = -(-exact // speeds)
    slowdown = rng.uniform(1.0, shape.max_slowdown, (num_tasks, num_kinds))[:, kind_of_gpu]
    durations = np.maximum(np.ceil(exact / speeds * slowdown).astype(np.int64), least)
    durations[(rng.random((num_tasks, num_kinds)) < shape.forbidden)[:, kind_of_gpu]] = NOT_ALLOWED
    own_kind = kind_of_gpu[plan.gpu][:, None] == kind_of_gpu
    return np.where(own_kind, plan.duration[:, None], durations)


def _random_edges(rng: np.random.Generator, plan: _Plan, count: int, num_gpus: int) -> NDArray[np.int64]:
    """Draw edges from tasks that have finished to tasks that start then or later, shape (edges, 2)."""
    finish = plan.start + plan.duration
    by_finish = np.argsort(finish, kind="stable")
    heads = rng.integers(len(finish), size=count)
    num_finished = np.searchsorted(finish[by_finish], plan.start[heads], side="right")
    heads, num_finished = heads[num_finished > 0], num_finished[num_finished > 0]
    back = np.floor(rng.random(len(heads)) * np.minimum(num_finished, RECENT * num_gpus)).astype(np.int64)
    return np.column_stack([by_finish[num_finished - 1 - back], heads])


def _edge_bytes(
    rng: np.random.Generator,
    plan: _Plan,
    edges: NDArray[np.int64],
    latency: NDArray[np.int64],
    bytes_per_tick: NDArray[np.float64],
    tight_transfers: float,
) -> NDArray[np.int64]:
    """Return data that arrives in time in the planted schedule; none where the latency leaves no time for any."""
    tails, heads = edges.T
    source, target = plan.gpu[tails], plan.gpu[heads]
    gap = plan.start[heads] - plan.start[tails] - plan.duration[tails]
    num_gpus = len(latency)
    typical = float(np.median(bytes_per_tick[~np.eye(num_gpus, dtype=bool)])) if num_gpus > 1 else 1.0
    share = np.where(rng.random(len(edges)) < tight_transfers, 1.0, rng.random(len(edges)))
    on_one_gpu = source == target
    bandwidth = np.where(on_one_gpu, typical, bytes_per_tick[source, target])
    ticks = np.where(on_one_gpu, plan.duration[tails], np.maximum(gap - latency[source, target], 0))
    data = np.minimum(np.floor(ticks * bandwidth * share), MAX_INTEGER)
    data[np.ceil(data / bandwidth) > ticks] -= 1.0  # the quotient was rounded up
    rounded: NDArray[np.int64] = np.maximum(data, 0.0).astype(np.int64)
    return rounded
