"""Task graphs of several jobs: hyper-parameter sweeps, and the jobs of several users."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.gpu_kinds import gpu_kind
from instances.dag.task_graph import TaskGraph
from instances.fields import one_of
from instances.generators.dag.generate import FAMILIES
from instances.generators.dag.graph_builder import GraphBuilder
from instances.generators.dag.random_graphs import layered, log_uniform
from instances.parameters import check_integer, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence


REFERENCE_GPU = "V100-16GB"
"""Kind of GPU whose roofline in half precision gives the duration of a job alone on one GPU."""

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


PARAMETERS_RANGE = (1e6, 2e7)
"""Smallest and largest model; log-uniform between."""

BATCH_SIZES = (256, 512, 1024, 2048, 4096, 8192)
"""Tokens per training step that a trial chooses from."""

HALF = 2
"""Bytes of a number in half precision."""

STATE_BYTES = 16
"""Bytes per parameter for weights, gradients and optimiser state in mixed-precision training with Adam."""


def hyperparameter_sweep(
    rng: np.random.Generator,
    *,
    tasks: int,
    max_rungs: int = 4,
    reduction: int = 2,
    tokens: int = 2**20,
    load: float = 2.0,
) -> TaskGraph:
    """Make a sweep by successive halving: every trial is a job that trains and is evaluated, rung by rung.

    Rung r of a trial is a task ``T<r>``, which goes on from the state of the rung before once that is evaluated, and an
    evaluation ``E<r>``.

    Parameters
    ----------
    rng
        Source of the trials, their releases and weights.
    tasks
        Number of tasks n over all jobs; hit exactly, if need be by a last trial that is cut short.
    max_rungs
        Largest number of rungs.
    reduction
        Of so many trials in a rung one goes on, and trains so many times longer.
    tokens
        Training tokens in the first rung.
    load
        Mean number of jobs that are released while one job runs on the reference GPU; 0 releases all at time 0.

    Returns
    -------
    TaskGraph
        With N parameters, log-uniform, and steps of b tokens: training takes 6 N FLOPs per token and moves the 16 N
        bytes of state three times per step; an evaluation, on a tenth of the tokens of the first rung, takes 2 N per
        token and moves the weights once per step. Training keeps its state, an evaluation the weights.

    References
    ----------
    Jamieson and Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization: successive
    halving; Kaplan and others (2020), Scaling laws for neural language models: 6 N and 2 N; Rajbhandari and others
    (2020), ZeRO: 16 bytes per parameter. Who survives is random, and moved bytes, releases and weights are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    max_rungs, reduction = check_integer("max_rungs", max_rungs, low=1), check_integer("reduction", reduction, low=2)
    tokens, load = check_integer("tokens", tokens, low=1), check_number("load", load, low=0.0)
    graphs: list[TaskGraph] = []
    left = tasks
    while left > 0:
        rungs = min(int(rng.geometric(1.0 - 1.0 / reduction)), max_rungs)
        graphs.append(_trial(rng, min(2 * rungs, left), reduction, tokens))
        left -= 2 * rungs
    names = [f"trial{trial}" for trial in range(len(graphs))]
    return combine_jobs("hyperparameter-sweep", graphs, names, rng, load=load)


def _trial(rng: np.random.Generator, num_tasks: int, reduction: int, tokens: int) -> TaskGraph:
    """Return a trial: training and evaluation in turn."""
    parameters = float(log_uniform(rng, PARAMETERS_RANGE, 1)[0])
    step = BATCH_SIZES[int(rng.integers(len(BATCH_SIZES)))]
    builder = GraphBuilder()
    inputs: list[tuple[int, float]] = []
    for rung in range((num_tasks + 1) // 2):
        trained = tokens * reduction**rung
        training = builder.add(
            f"T{rung}",
            flops=6 * parameters * trained,
            moved_bytes=3 * STATE_BYTES * parameters * max(trained / step, 1),
            memory_bytes=STATE_BYTES * parameters,
            inputs=inputs,
        )
        if 2 * rung + 1 < num_tasks:
            evaluated = 0.1 * tokens
            evaluation = builder.add(
                f"E{rung}",
                flops=2 * parameters * evaluated,
                moved_bytes=HALF * parameters * max(evaluated / step, 1),
                memory_bytes=HALF * parameters,
                inputs=[(training, HALF * parameters)],
            )
            inputs = [(training, STATE_BYTES * parameters), (evaluation, 8)]
    return builder.graph("trial")


DEFAULT_FAMILIES = (
    "inception",
    "nasnet",
    "transformer",
    "mixture-of-experts",
    "pipeline-training",
    "layered",
    "chains",
)
"""Families that jobs are drawn from where none are named."""

WITH_SEVERAL_JOBS = ("unrelated-machines", "hyperparameter-sweep", "multi-tenant")
"""Families that are no single job."""


def multi_tenant(
    rng: np.random.Generator,
    *,
    tasks: int,
    jobs: int | None = None,
    families: Sequence[str] = DEFAULT_FAMILIES,
    load: float = 2.0,
) -> TaskGraph:
    """Make jobs of different families that share a cluster.

    Parameters
    ----------
    rng
        Source of families, sizes, graphs, releases and weights.
    tasks
        Number of tasks n over all jobs; hit exactly.
    jobs
        Number of jobs; default one per 15 tasks.
    families
        Names of families of one job each; every job draws one. The last job, and every job whose graph would be too
        large, is layered.
    load
        Mean number of jobs that are released while one job runs on the reference GPU; 0 releases all at time 0.

    Returns
    -------
    TaskGraph
        Sizes of jobs vary by half around the mean; releases and weights as in `combine_jobs`.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range, or a family is unknown or has several jobs.
    """
    tasks = check_integer("tasks", tasks, low=1)
    jobs = check_integer("jobs", max(round(tasks / 15), 1) if jobs is None else jobs, low=1, high=tasks)
    load = check_number("load", load, low=0.0)
    for index, family in enumerate(families):
        one_of(family, [name for name in FAMILIES if name not in WITH_SEVERAL_JOBS], f"families[{index}]")
    if not families:
        raise ValueError("families: expected at least one family, got none.")
    graphs: list[TaskGraph] = []
    left = tasks
    for others in reversed(range(jobs)):
        requested = max(round(left / (others + 1) * rng.uniform(0.5, 1.5)), 1) if others else left
        graph = FAMILIES[families[int(rng.integers(len(families)))]].load()(rng, tasks=requested)
        if others == 0 or len(graph.task_names) > left - others:
            graph = layered(rng, tasks=min(requested, left - others))
        graphs.append(graph)
        left -= len(graph.task_names)
    names = [f"j{job}-{graph.name}" for job, graph in enumerate(graphs)]
    return combine_jobs("multi-tenant", graphs, names, rng, load=load)
