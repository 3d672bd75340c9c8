"""A workload in physical units, before it is put on GPUs, and the instance in ticks that it becomes on a cluster."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.instance import NO_LIMIT, NOT_ALLOWED, DagInstance
from instances.rounding import RoundingWarning, ticks_from_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from instances.clusters.cluster import Cluster
    from instances.clusters.cost_model import CostModel


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskGraph:
    """A workload in physical units; `dag_instance_from_graph` puts it on a cluster.

    Parameters
    ----------
    task_names
        One per task.
    flops, moved_bytes
        Work of each task: floating-point operations, and bytes moved between GPU and its memory.
    memory_bytes
        Memory that each task occupies for the whole schedule.
    edges
        ``(from, to, bytes)`` per edge.
    job_of_task
        Job of each task; default one job.
    job_names, release_seconds, weight
        One entry per job.
    drawn_ticks
        Smallest and largest duration of each task in ticks, where durations are uniform random numbers for every GPU by
        itself, whatever the work; empty where they follow from the work.
    efficiency
        By name of a kind of GPU, the share of the roofline that each task reaches there; on other kinds it is that of
        the cost model.
    """

    name: str
    task_names: Sequence[str]
    flops: Sequence[float]
    moved_bytes: Sequence[float]
    memory_bytes: Sequence[int]
    edges: Sequence[tuple[int, int, int]]
    job_of_task: Sequence[int] = ()
    job_names: Sequence[str] = ("j0",)
    release_seconds: Sequence[float] = (0.0,)
    weight: Sequence[int] = field(default=(1,))
    drawn_ticks: Sequence[tuple[int, int]] = ()
    efficiency: Mapping[str, Sequence[float]] = field(default_factory=dict)


def dag_instance_from_graph(
    graph: TaskGraph, cluster: Cluster, cost: CostModel, rng: np.random.Generator
) -> DagInstance:
    """Put a workload on a cluster.

    Parameters
    ----------
    cost
        How durations, bytes and memory follow.

    Returns
    -------
    DagInstance
        Durations are rooflines times noise, rounded to ticks, or drawn in ticks; latencies are rounded up. A tick of
        drawn durations is a second where the cost model names none.

    Raises
    ------
    ValueError
        If the graph is broken or does not fit on the cluster.

    Warns
    -----
    RoundingWarning
        If `cost.tick_seconds` is given and rounding moves a duration by more than 0.1 %.
    """
    tick_seconds = cost.tick_seconds
    if graph.drawn_ticks:
        tick_seconds = tick_seconds or 1.0
        seconds = _drawn_seconds(graph, len(cluster.kinds), cost, rng) * tick_seconds
    else:
        seconds = _noisy_seconds(graph, cluster, cost, rng)
    if tick_seconds is None:
        mean = float(np.nanmean(seconds)) if np.nansum(seconds) > 0 else 1.0
        tick_seconds = float(f"{mean / cost.mean_ticks:.3g}")
    with warnings.catch_warnings():
        if cost.tick_seconds is None:  # a tick that was chosen for its number of ticks is coarse on purpose
            warnings.simplefilter("ignore", RoundingWarning)
        durations = ticks_from_seconds(seconds, tick_seconds, place=lambda index: f"tasks[{index[0]}].durations")
    latency = np.ceil(cluster.latency_seconds() / tick_seconds - 1e-9).astype(np.int64)
    bytes_per_tick = cluster.bytes_per_second() * tick_seconds
    edge_bytes = np.array([data for _, _, data in graph.edges], dtype=np.float64)
    if cost.ccr is not None and len(cluster.kinds) > 1 and edge_bytes.sum() > 0:
        edge_bytes, latency = _scaled_to_ccr(edge_bytes, durations, latency, bytes_per_tick, cost.ccr)
    memory = np.array(graph.memory_bytes, dtype=np.int64)
    return DagInstance(
        name=graph.name,
        tick_seconds=tick_seconds,
        durations=durations.reshape(len(graph.task_names), len(cluster.kinds)),
        task_memory=memory,
        job_of_task=np.array(graph.job_of_task or [0] * len(graph.task_names), dtype=np.int64),
        edges=np.array([edge[:2] for edge in graph.edges], dtype=np.int64).reshape(-1, 2),
        edge_bytes=np.rint(edge_bytes).astype(np.int64),
        gpu_memory=_capacities(memory, durations, cluster, cost),
        latency=latency,
        bytes_per_tick=bytes_per_tick,
        release=np.ceil(np.array(graph.release_seconds) / tick_seconds - 1e-9).astype(np.int64),
        weight=np.array(graph.weight, dtype=np.int64),
        task_names=tuple(graph.task_names),
        gpu_names=tuple(f"g{index}" for index in range(len(cluster.kinds))),
        gpu_kinds=tuple(kind.name for kind in cluster.kinds),
        gpu_servers=tuple(server.name for server in cluster.server_of_gpu),
        job_names=tuple(graph.job_names),
    )


def _noisy_seconds(
    graph: TaskGraph, cluster: Cluster, cost: CostModel, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return seconds per task and GPU, shape (n, m); NaN where not allowed."""
    kinds = list(dict.fromkeys(kind.name for kind in cluster.kinds))
    kind_of_name = {kind.name: kind for kind in cluster.kinds}
    flops, moved = np.array(graph.flops, dtype=np.float64), np.array(graph.moved_bytes, dtype=np.float64)
    roofline = np.column_stack(
        [
            kind_of_name[name].roofline_seconds(
                flops, moved, precision=cost.precision, efficiency=np.array(graph.efficiency.get(name, cost.efficiency))
            )
            for name in kinds
        ]
    )
    noise = np.exp(cost.heterogeneity * rng.standard_normal(roofline.shape))
    seconds = roofline * noise
    consistent = np.flatnonzero(rng.random(len(flops)) < cost.consistency)
    fastest_first = np.argsort(roofline.sum(axis=0), kind="stable")
    seconds[np.ix_(consistent, fastest_first)] = np.sort(seconds[consistent], axis=1)
    seconds[_barred(seconds.shape, cost, rng)] = np.nan
    return seconds[:, [kinds.index(kind.name) for kind in cluster.kinds]]


def _drawn_seconds(graph: TaskGraph, num_gpus: int, cost: CostModel, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return drawn durations of ticks of one second per task and GPU, shape (n, m); NaN where not allowed."""
    low, high = np.array(graph.drawn_ticks, dtype=np.int64).T[:, :, None]
    ticks = rng.integers(low, high + 1, size=(len(graph.drawn_ticks), num_gpus)).astype(np.float64)
    ticks[_barred(ticks.shape, cost, rng)] = np.nan
    return ticks


def _barred(shape: tuple[int, ...], cost: CostModel, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which pairs of a task and a kind of GPU (or GPU) are not allowed; each task keeps at least one."""
    barred = rng.random(shape) < cost.forbidden
    barred[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = False
    return barred


def _scaled_to_ccr(
    edge_bytes: NDArray[np.float64],
    durations: NDArray[np.int64],
    latency: NDArray[np.int64],
    bytes_per_tick: NDArray[np.float64],
    ccr: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scale bytes so that the mean delay over edges with data and links reaches ccr times the mean duration.

    Where latency alone is beyond half of that, it is scaled down too (and to 0 for ccr 0).
    """
    off_diagonal = ~np.eye(len(latency), dtype=bool)
    target_delay = ccr * float(durations[durations != NOT_ALLOWED].mean())
    mean_latency = float(latency[off_diagonal].mean())
    if mean_latency > 0.5 * target_delay:
        latency = np.floor(latency * (0.5 * target_delay / mean_latency)).astype(np.int64)
    if target_delay == 0:
        return np.zeros_like(edge_bytes), latency
    links = np.column_stack([latency[off_diagonal], bytes_per_tick[off_diagonal]])
    kinds_of_link, counts = np.unique(links, axis=0, return_counts=True)
    data = edge_bytes[edge_bytes > 0]

    def mean_delay(factor: float) -> float:
        scaled = np.maximum(np.rint(data * factor), 1.0)
        delays = [ticks + float(np.ceil(scaled / bandwidth).mean()) for ticks, bandwidth in kinds_of_link.tolist()]
        return float(np.average(delays, weights=counts))

    low, high = 0.0, 2.0 * target_delay / float(data.mean() * (1.0 / bytes_per_tick[off_diagonal]).mean())
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean_delay(middle) < target_delay else (low, middle)
    scaled = np.rint(edge_bytes * high)
    scaled[(edge_bytes > 0) & (scaled < 1)] = 1.0
    return scaled, latency


def _capacities(
    memory: NDArray[np.int64], durations: NDArray[np.int64], cluster: Cluster, cost: CostModel
) -> NDArray[np.int64]:
    """Return the memory of every GPU, scaled to the requested tightness and enlarged until the tasks can be packed."""
    capacities = np.array([kind.memory_bytes for kind in cluster.kinds], dtype=np.int64)
    if cost.memory_tightness is None:
        return capacities
    if cost.memory_tightness == 0:
        return np.full(len(capacities), NO_LIMIT, dtype=np.int64)
    factor = int(memory.sum()) / (cost.memory_tightness * float(capacities.sum()))
    while True:
        scaled: NDArray[np.int64] = np.ceil(capacities * factor).astype(np.int64)
        scaled = np.maximum(scaled, memory.max(initial=0))
        if _can_be_packed(memory, durations != NOT_ALLOWED, scaled):
            return scaled
        factor *= 1.02


def _can_be_packed(memory: NDArray[np.int64], allowed: NDArray[np.bool_], capacities: NDArray[np.int64]) -> bool:
    """Say whether the tasks fit if each, largest first, goes to the allowed GPU with the most free memory."""
    free_memory = capacities.copy()
    for task in np.argsort(-memory, kind="stable").tolist():
        gpu = int(np.where(allowed[task], free_memory, -1).argmax())
        free_memory[gpu] -= memory[task]
        if free_memory[gpu] < 0:
            return False
    return True
