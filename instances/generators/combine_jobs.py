"""Several task graphs as the jobs of one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from instances.gpu_catalogue import gpu_kind
from instances.task_graph import TaskGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

REFERENCE_GPU = "V100-16GB"
"""Kind of GPU whose roofline in half precision tells how long a job would run alone on one GPU."""

MAX_WEIGHT = 10
"""Weights of jobs are uniform integers from 1."""


def combine_jobs(
    name: str, graphs: Sequence[TaskGraph], job_names: Sequence[str], rng: np.random.Generator, *, load: float
) -> TaskGraph:
    """Make one graph of several, with a job, a release and a weight for each.

    Parameters
    ----------
    name, job_names
        Free text; a task's name is put behind its job's.
    graphs
        One per job, of one job each.
    rng
        Source of releases and weights.
    load
        Mean number of jobs that are released while one job runs on the reference GPU; 0 releases all at time 0.

    Returns
    -------
    TaskGraph
        The first job is released at 0, the time between releases is exponential, and weights are uniform.
    """
    kind = gpu_kind(REFERENCE_GPU)
    seconds = [
        float(
            kind.roofline_seconds(
                np.array(graph.flops), np.array(graph.moved_bytes), precision="fp16", efficiency=0.5
            ).sum()
        )
        for graph in graphs
    ]
    gaps = rng.exponential(size=len(graphs)) * (np.mean(seconds) / load if load > 0 else 0.0)
    first_task = [0, *itertools.accumulate(len(graph.task_names) for graph in graphs)]
    return TaskGraph(
        name=name,
        task_names=[f"{job}/{task}" for job, graph in zip(job_names, graphs, strict=True) for task in graph.task_names],
        flops=[flops for graph in graphs for flops in graph.flops],
        moved_bytes=[moved for graph in graphs for moved in graph.moved_bytes],
        memory_bytes=[memory for graph in graphs for memory in graph.memory_bytes],
        edges=[
            (first + tail, first + head, data)
            for first, graph in zip(first_task, graphs, strict=False)
            for tail, head, data in graph.edges
        ],
        job_of_task=[job for job, graph in enumerate(graphs) for _ in graph.task_names],
        job_names=list(job_names),
        release_seconds=(np.cumsum(gaps) - gaps[0]).tolist(),
        weight=rng.integers(1, MAX_WEIGHT + 1, size=len(graphs)).tolist(),
    )
