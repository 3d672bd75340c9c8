"""Hypothesis strategies for instances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from instances.dag.instance import DagInstance


@st.composite
def dag_instances(
    draw: st.DrawFn,
    *,
    max_tasks: int = 6,
    max_gpus: int = 3,
    max_jobs: int = 2,
    memory: bool = True,
    unit_bandwidth: bool = False,
    servers: bool = False,
) -> DagInstance:
    """Draw small instances with everything the DAG problem has: zero durations, forbidden pairs, slow links, memory.

    With `servers` the GPUs stand on servers that are drawn too, else all on one.
    """
    n = draw(st.integers(1, max_tasks))
    m = draw(st.integers(1, max_gpus))
    jobs = draw(st.integers(1, max_jobs))
    ticks = st.one_of(st.integers(0, 9), st.none())
    row = st.lists(ticks, min_size=m, max_size=m).filter(lambda entries: any(entry is not None for entry in entries))
    pairs = [(tail, head) for head in range(n) for tail in range(head)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=8)) if pairs else []
    links = st.lists(st.integers(0, 3), min_size=m * m, max_size=m * m)
    speeds = st.just(1.0) if unit_bandwidth else st.sampled_from([0.3, 0.5, 1.0, 2.0, 7.0])
    task_memory = [draw(st.integers(0, 4)) for _ in range(n)] if memory else [0] * n
    smallest = max(task_memory)
    capacity = st.one_of(st.none(), st.integers(smallest, smallest + 8))
    gpu_memory = [draw(capacity) for _ in range(m)] if memory else [None] * m
    if all(entry is not None for entry in gpu_memory) and sum(gpu_memory) < sum(task_memory):
        gpu_memory[0] = None
    return DagInstance.from_lists(
        [draw(row) for _ in range(n)],
        [(*pair, draw(st.integers(0, 12))) for pair in edges],
        latency=np.reshape(draw(links), (m, m)).tolist(),
        bytes_per_tick=[[draw(speeds) for _ in range(m)] for _ in range(m)],
        task_memory=task_memory,
        gpu_memory=gpu_memory,
        job_of_task=[draw(st.integers(0, jobs - 1)) for _ in range(n)],
        release=[draw(st.integers(0, 6)) for _ in range(jobs)],
        weight=[draw(st.integers(0, 3)) for _ in range(jobs)],
        gpu_servers=[draw(st.sampled_from(["s0", "s1", "s2"])) for _ in range(m)] if servers else None,
    )


@st.composite
def buffered_dags(
    draw: st.DrawFn, *, max_tasks: int = 5, max_gpus: int = 3, max_jobs: int = 2, max_bytes: int = 4
) -> DagInstance:
    """Draw small instances with buffers and groups; tasks that own a buffer take at least one tick on every GPU.

    The owner of a buffer of positive size that takes no time can hold memory for no time at all, which only a search
    over all starts would find.
    """
    plain = draw(dag_instances(max_tasks=max_tasks, max_gpus=max_gpus, max_jobs=max_jobs))
    n, after = plain.num_tasks, np.eye(plain.num_tasks, dtype=bool)
    for task in plain.topological_order[::-1].tolist():
        for tail, head in plain.edges.tolist():
            if tail == task:
                after[task] |= after[head]
    durations, buffers = np.array(plain.durations), []
    for task in range(n):
        for _ in range(draw(st.integers(0, 2))):
            following = np.flatnonzero(after[task]).tolist()
            releasing = draw(st.lists(st.sampled_from(following), min_size=1, max_size=2, unique=True))
            buffers.append((task, draw(st.integers(0, max_bytes)), sorted(releasing)))
            durations[task] = np.where(durations[task] == 0, 1, durations[task])
    wanted = [draw(st.integers(0, 3)) for _ in range(n)]  # 3: no group
    groups = [-1] * n
    for group in range(3):
        members = [task for task in range(n) if wanted[task] == group]
        needed = int(plain.task_memory[members].sum())
        fits = (plain.gpu_memory < 0) | (plain.gpu_memory >= needed)
        if members and ((durations[members] >= 0).all(axis=0) & fits).any():
            for task in members:
                groups[task] = group
    numbered = [(number, task) for number, (_, _, releasing) in enumerate(buffers) for task in releasing]
    fields: dict[str, Any] = {
        "durations": durations,
        "buffer_task": np.array([task for task, _, _ in buffers], dtype=np.int64),
        "buffer_bytes": np.array([size for _, size, _ in buffers], dtype=np.int64),
        "buffer_releases": np.array(numbered, dtype=np.int64).reshape(-1, 2),
        "group_of_task": np.array(groups),
    }
    try:
        return changed(plain, **fields)
    except ValueError:  # a task and what is held with it are larger than every GPU
        return changed(plain, **fields, gpu_memory=np.full(plain.num_gpus, -1))


def changed(instance: DagInstance, **fields: Any) -> DagInstance:
    """Return a copy with other fields, checked again."""
    return replace(instance, **fields)


def reordered(instance: DagInstance, tasks: list[int], gpus: list[int]) -> DagInstance:
    """Return the instance with task ``tasks[i]`` at place i and GPU ``gpus[k]`` at place k."""
    place = np.argsort(tasks)
    return changed(
        instance,
        durations=instance.durations[tasks][:, gpus],
        task_memory=instance.task_memory[tasks],
        job_of_task=instance.job_of_task[tasks],
        edges=place[instance.edges].reshape(-1, 2),
        gpu_memory=instance.gpu_memory[gpus],
        latency=instance.latency[np.ix_(gpus, gpus)],
        bytes_per_tick=instance.bytes_per_tick[np.ix_(gpus, gpus)],
        task_names=tuple(instance.task_names[task] for task in tasks),
        gpu_names=tuple(instance.gpu_names[gpu] for gpu in gpus),
        gpu_kinds=tuple(instance.gpu_kinds[gpu] for gpu in gpus),
        gpu_servers=tuple(instance.gpu_servers[gpu] for gpu in gpus),
        buffer_task=place[instance.buffer_task],
        buffer_releases=np.column_stack([instance.buffer_releases[:, 0], place[instance.buffer_releases[:, 1]]]),
        group_of_task=instance.group_of_task[tasks],
    )
