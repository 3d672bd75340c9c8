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
    )
