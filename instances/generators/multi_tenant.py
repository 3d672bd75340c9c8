"""Task graphs of several users' jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.combine_jobs import combine_jobs
from instances.generators.families import FAMILIES
from instances.generators.layered import layered
from instances.generators.parameter_checks import check_integer, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.task_graph import TaskGraph

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

WITH_SEVERAL_JOBS = ("hyperparameter-sweep", "multi-tenant")
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
        if family not in FAMILIES or family in WITH_SEVERAL_JOBS:
            single = ", ".join(name for name in FAMILIES if name not in WITH_SEVERAL_JOBS)
            raise ValueError(f"families[{index}]: expected one of {single}, got {family!r}.")
    if not families:
        raise ValueError("families: expected at least one family, got none.")
    graphs: list[TaskGraph] = []
    left = tasks
    for others in reversed(range(jobs)):
        wished = max(round(left / (others + 1) * rng.uniform(0.5, 1.5)), 1) if others else left
        graph = FAMILIES[families[int(rng.integers(len(families)))]].load()(rng, tasks=wished)
        if others == 0 or len(graph.task_names) > left - others:
            graph = layered(rng, tasks=min(wished, left - others))
        graphs.append(graph)
        left -= len(graph.task_names)
    names = [f"j{job}-{graph.name}" for job, graph in enumerate(graphs)]
    return combine_jobs("multi-tenant", graphs, names, rng, load=load)
