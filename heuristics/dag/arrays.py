"""A DAG instance as flat arrays for Numba kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from instances.dag.graph import predecessors, successors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


class DagArrays(NamedTuple):
    """All data of an instance that a kernel needs; n tasks, m GPUs, ticks and bytes as in `DagInstance`."""

    durations: NDArray[np.int64]  # (n, m), -1 where not allowed
    allowed: NDArray[np.bool_]  # (n, m), the task may run there, and the memory holds it alone
    only_gpu: NDArray[np.int64]  # (n,), the one allowed GPU, or -1 where there are several
    mean_duration: NDArray[np.float64]  # (n,), over allowed GPUs
    task_memory: NDArray[np.int64]  # (n,)
    gpu_memory: NDArray[np.int64]  # (m,), -1 where there is no limit
    release: NDArray[np.int64]  # (n,), release of the task's job
    job_of_task: NDArray[np.int64]  # (n,)
    job_release: NDArray[np.int64]  # (jobs,)
    weight: NDArray[np.int64]  # (jobs,)
    pred_offsets: NDArray[np.int64]  # (n + 1,)
    pred_tasks: NDArray[np.int64]  # (edges,)
    pred_bytes: NDArray[np.int64]  # (edges,)
    pred_mean_delay: NDArray[np.float64]  # (edges,), mean transfer delay over pairs of different GPUs
    succ_offsets: NDArray[np.int64]  # (n + 1,)
    succ_tasks: NDArray[np.int64]  # (edges,)
    succ_mean_delay: NDArray[np.float64]  # (edges,)
    num_link_classes: NDArray[np.int64]  # (m,), different links from each GPU, including that to its own memory
    link_class: NDArray[np.int64]  # (m, m), class of the link from k to l among those from k
    class_latency: NDArray[np.int64]  # (m, classes)
    class_bytes_per_tick: NDArray[np.float64]  # (m, classes), infinite for GPU k itself
    topological_order: NDArray[np.int64]  # (n,)
    home: NDArray[np.int64]  # (n,), a GPU for every task so that memory holds all of them, or (0,) where not needed


NO_HOME = np.empty(0, dtype=np.int64)

_KNOWN: WeakKeyDictionary[DagInstance, DagArrays] = WeakKeyDictionary()


def dag_arrays(instance: DagInstance) -> DagArrays:
    """Return the arrays of an instance; made once per instance, because instances never change."""
    arrays = _KNOWN.get(instance)
    if arrays is None:
        instance.refuse_buffers("a method that keeps memory for the whole schedule")
        arrays = _KNOWN[instance] = _flattened(instance)
    return arrays


def _flattened(instance: DagInstance) -> DagArrays:
    """Return new arrays of an instance."""
    before, after = predecessors(instance), successors(instance)
    allowed = instance.allowed
    mean_delay = mean_transfer_delays(instance)
    counts = allowed.sum(axis=1)
    return DagArrays(
        durations=instance.durations,
        allowed=allowed,
        only_gpu=np.where(counts == 1, allowed.argmax(axis=1), -1).astype(np.int64),
        mean_duration=np.where(allowed, instance.durations, 0).sum(axis=1) / np.maximum(counts, 1),
        task_memory=instance.task_memory,
        gpu_memory=instance.gpu_memory,
        release=instance.release[instance.job_of_task],
        job_of_task=instance.job_of_task,
        job_release=instance.release,
        weight=instance.weight,
        pred_offsets=before.offsets,
        pred_tasks=before.tasks,
        pred_bytes=instance.edge_bytes[before.edges],
        pred_mean_delay=mean_delay[before.edges],
        succ_offsets=after.offsets,
        succ_tasks=after.tasks,
        succ_mean_delay=mean_delay[after.edges],
        **_link_classes(instance),
        topological_order=instance.topological_order,
        home=NO_HOME,
    )


def _link_classes(instance: DagInstance) -> dict[str, NDArray[Any]]:
    """Group the links from every GPU by latency and bandwidth: a kernel computes one delay per group, not per GPU."""
    m = instance.num_gpus
    bandwidth = np.array(instance.bytes_per_tick)
    np.fill_diagonal(bandwidth, np.inf)  # with latency 0: no delay
    link_class = np.empty((m, m), dtype=np.int64)
    groups = []
    for k in range(m):
        links = np.column_stack([instance.latency[k], bandwidth[k]])
        different, classes = np.unique(links, axis=0, return_inverse=True)
        link_class[k] = classes.reshape(m)
        groups.append(different)
    most = max(len(different) for different in groups)
    latency, bytes_per_tick = np.zeros((m, most), dtype=np.int64), np.full((m, most), np.inf)
    for k, different in enumerate(groups):
        latency[k, : len(different)] = different[:, 0].astype(np.int64)
        bytes_per_tick[k, : len(different)] = different[:, 1]
    return {
        "num_link_classes": np.array([len(different) for different in groups], dtype=np.int64),
        "link_class": link_class,
        "class_latency": latency,
        "class_bytes_per_tick": bytes_per_tick,
    }


def mean_transfer_delays(instance: DagInstance) -> NDArray[np.float64]:
    """Return the mean transfer delay of every edge over all pairs of different GPUs in ticks, shape (edges,)."""
    off_diagonal = ~np.eye(instance.num_gpus, dtype=bool)
    if instance.num_gpus == 1:
        return np.zeros(instance.num_edges)
    links = np.column_stack([instance.latency[off_diagonal], instance.bytes_per_tick[off_diagonal]])
    classes, counts = np.unique(links, axis=0, return_counts=True)  # few: links of one speed count together
    total = np.zeros(instance.num_edges)
    for (latency, bandwidth), count in zip(classes, counts, strict=True):
        total += count * (latency + np.ceil(instance.edge_bytes / bandwidth))
    return np.where(instance.edge_bytes > 0, total / counts.sum(), 0.0)
