"""The checks that every DAG instance passes when it is made; messages name places as in the JSON file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import MAX_INTEGER

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


def check_dag_instance(instance: DagInstance) -> None:
    """Check values and references of an instance whose shapes are right.

    Raises
    ------
    ValueError
        If a value is out of range, a reference dangles, an edge is there twice, a task can run nowhere, or the
        times are too large for exact arithmetic.
    """
    _check_header(instance)
    _check_gpus(instance)
    _check_jobs(instance)
    _check_tasks(instance)
    _check_edges(instance)
    _check_memory(instance)
    _check_horizon(instance)


def _check_header(instance: DagInstance) -> None:
    """Check name and tick."""
    if not np.isfinite(instance.tick_seconds) or instance.tick_seconds <= 0:
        raise ValueError(f"tick_seconds: expected a positive number, got {instance.tick_seconds}.")


def _check_gpus(instance: DagInstance) -> None:
    """Check GPUs and links; the diagonal of the links is ignored."""
    if instance.num_gpus == 0:
        raise ValueError("gpus: expected at least one GPU, got none.")
    for gpu in np.flatnonzero(instance.gpu_memory < -1):
        memory = instance.gpu_memory[gpu]
        raise ValueError(f"gpus[{gpu}].memory_bytes: expected at least 0 or no limit, got {memory}.")
    for k, l in np.argwhere(instance.latency < 0):
        raise ValueError(f"links.latency_ticks[{k}][{l}]: expected at least 0, got {instance.latency[k, l]}.")
    for k, l in np.argwhere(instance.bytes_per_tick <= 0):
        raise ValueError(f"links.bytes_per_tick[{k}][{l}]: expected above 0, got {instance.bytes_per_tick[k, l]}.")


def _check_jobs(instance: DagInstance) -> None:
    """Check releases and weights."""
    for job in np.flatnonzero(instance.release < 0):
        raise ValueError(f"jobs[{job}].release: expected at least 0, got {instance.release[job]}.")
    for job in np.flatnonzero(instance.weight < 0):
        raise ValueError(f"jobs[{job}].weight: expected at least 0, got {instance.weight[job]}.")


def _check_tasks(instance: DagInstance) -> None:
    """Check job, durations and memory of every task."""
    num_jobs = instance.num_jobs
    for task in np.flatnonzero((instance.job_of_task < 0) | (instance.job_of_task >= num_jobs)):
        job = instance.job_of_task[task]
        raise ValueError(f"tasks[{task}].job: expected a job in 0..{num_jobs - 1}, got {job}.")
    for task, gpu in np.argwhere(instance.durations < -1):
        ticks = instance.durations[task, gpu]
        raise ValueError(f"tasks[{task}].durations[{gpu}]: expected at least 0 or not allowed, got {ticks}.")
    for task in np.flatnonzero((instance.durations < 0).all(axis=1)):
        raise ValueError(f"tasks[{task}].durations: expected at least one allowed GPU, got none.")
    for task in np.flatnonzero(instance.task_memory < 0):
        raise ValueError(f"tasks[{task}].memory_bytes: expected at least 0, got {instance.task_memory[task]}.")


def _check_edges(instance: DagInstance) -> None:
    """Check ends and bytes of every edge, and that no edge is there twice."""
    last = instance.num_tasks - 1
    edges = instance.edges
    for edge in np.flatnonzero(((edges < 0) | (edges > last)).any(axis=1)):
        tail, head = edges[edge]
        expected = f"tasks in 0..{last}" if last >= 0 else "no edge, as there are no tasks"
        raise ValueError(f"edges[{edge}]: expected {expected}, got {tail} -> {head}.")
    for edge in np.flatnonzero(edges[:, 0] == edges[:, 1]):
        raise ValueError(f"edges[{edge}]: expected two different tasks, got {edges[edge, 0]} -> {edges[edge, 1]}.")
    for edge in np.flatnonzero(instance.edge_bytes < 0):
        raise ValueError(f"edges[{edge}]: expected at least 0 bytes, got {instance.edge_bytes[edge]}.")
    keys = edges[:, 0] * max(instance.num_tasks, 1) + edges[:, 1]
    first_seen: dict[int, int] = {}
    if len(np.unique(keys)) < len(keys):
        for position, key in enumerate(keys.tolist()):
            if key in first_seen:
                tail, head = edges[position]
                first = first_seen[key]
                raise ValueError(
                    f"edges[{position}]: expected each edge once, got {tail} -> {head} as in edges[{first}]."
                )
            first_seen[key] = position


def _check_memory(instance: DagInstance) -> None:
    """Check that every task fits on an allowed GPU by itself and all tasks fit on all GPUs together."""
    unlimited = instance.gpu_memory < 0
    fits = (instance.durations >= 0) & (unlimited | (instance.task_memory[:, None] <= instance.gpu_memory))
    for task in np.flatnonzero(~fits.any(axis=1)):
        largest = instance.gpu_memory[instance.durations[task] >= 0].max()
        raise ValueError(
            f"tasks[{task}].memory_bytes: expected at most {largest}, the largest memory of an allowed GPU, "
            f"got {instance.task_memory[task]}."
        )
    needed, available = sum(instance.task_memory.tolist()), sum(instance.gpu_memory.tolist())
    if needed > MAX_INTEGER:
        raise ValueError(f"tasks: expected at most 2**53 bytes of memory together, got {needed}.")
    if not unlimited.any() and needed > available:
        raise ValueError(f"tasks: expected at most {available} bytes, the memory of all GPUs together, got {needed}.")


def _check_horizon(instance: DagInstance) -> None:
    """Check that a schedule without needless waiting ends by 2**53 ticks."""
    off_diagonal = ~np.eye(instance.num_gpus, dtype=bool)
    delays = 0
    if instance.num_gpus > 1 and len(instance.edges):
        slowest = float(instance.bytes_per_tick[off_diagonal].min())
        longest_latency = int(instance.latency[off_diagonal].max())
        data = instance.edge_bytes[instance.edge_bytes > 0]
        with np.errstate(over="ignore"):  # a bandwidth near 0: no finite time
            delays = longest_latency * len(data) + int(min(float(np.ceil(data / slowest).sum()), 2.0**60))
    work = sum(instance.durations.max(axis=1, initial=0).tolist())
    horizon = int(instance.release.max(initial=0)) + work + delays
    if horizon > MAX_INTEGER:
        raise ValueError(f"tasks: expected a horizon of at most 2**53 ticks, got {horizon}; use longer ticks.")
    if horizon * max(sum(instance.weight.tolist()), 1) > 2**62:
        raise ValueError(f"jobs: expected weights whose sum times the horizon of {horizon} ticks is below 2**62.")
