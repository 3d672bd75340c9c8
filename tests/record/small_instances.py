"""Forty small instances with everything that the two problems have; most come from the generators, with edits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tests.record.product import (
    CostModel,
    DagInstance,
    Job,
    JobsInstance,
    JobsServer,
    Stage,
    generate,
    generate_jobs,
    parse_cluster,
)

TINY_DAGS: dict[str, dict[str, Any]] = {
    "layered": {"tasks": 6, "gpus": "mixed-2", "mean": 4.0, "ccr": 1.0},
    "erdos-renyi": {"tasks": 5, "gpus": "mixed-3", "mean": 6.0, "ccr": 3.0, "memory": 0.8},
    "series-parallel": {"tasks": 6, "gpus": "mixed-2", "mean": 4.0, "ccr": 0.3, "forbidden": 0.3},
    "fork-join": {"tasks": 5, "gpus": "identical-4", "mean": 4.0, "ccr": 1.0, "jobs": 2},
    "in-tree": {"tasks": 6, "gpus": "mixed-3", "mean": 4.0, "ccr": 1.0, "zero": 0.4},
    "out-tree": {"tasks": 5, "gpus": "mixed-4-slow", "mean": 4.0, "ccr": 3.0, "jobs": 3, "silent": 0.5},
    "chains": {"tasks": 6, "gpus": "mixed-2", "mean": 4.0, "ccr": 0.0, "jobs": 2, "memory": 0.9},
    "independent": {"tasks": 6, "gpus": "mixed-3", "mean": 5.0, "forbidden": 0.3, "jobs": 3},
}
"""Instances that every exact method solves in a moment."""

MIDDLE_DAGS: dict[str, dict[str, Any]] = {
    "layered": {"tasks": 20, "gpus": "mixed-4", "ccr": 1.0, "memory": 0.7},
    "erdos-renyi": {"tasks": 16, "gpus": "mixed-4-slow", "ccr": 3.0, "forbidden": 0.2},
    "fft": {"tasks": 15, "gpus": "mixed-3", "ccr": 0.3, "zero": 0.2},
    "lu": {"tasks": 14, "gpus": "mixed-8", "ccr": 1.0},
    "cholesky": {"tasks": 20, "gpus": "v100-t4-p100-pair", "ccr": 3.0, "silent": 0.3},
    "gaussian-elimination": {"tasks": 14, "gpus": "mixed-3", "ccr": 1.0, "consistent": 0.0},
    "stencil": {"tasks": 16, "gpus": "inference-l4-t4-a10", "ccr": 1.0, "jobs": 3},
    "pipeline-training": {"tasks": 24, "gpus": "mixed-4", "ccr": 0.5, "memory": 0.6},
    "nasnet": {"tasks": 18, "gpus": "mixed-8", "ccr": 10.0, "consistent": 0.0},
    "transformer": {"tasks": 19, "gpus": "mixed-4", "ccr": 1.0, "forbidden": 0.3, "memory": 0.8},
    "mixture-of-experts": {"tasks": 22, "gpus": "mixed-4-slow", "ccr": 0.3},
    "hyperparameter-sweep": {"tasks": 16, "gpus": "mixed-4", "ccr": 0.1},
    "multi-tenant": {"tasks": 24, "gpus": "mixed-8", "ccr": 1.0, "memory": 0.5},
    "chains": {"tasks": 30, "gpus": "mixed-2", "ccr": 0.3, "jobs": 4, "zero": 0.1},
}
"""Instances for heuristics and for bounds."""


@cache
def dag_instances() -> dict[str, DagInstance]:
    """Return the DAG instances by name, those for exact methods first."""
    made = {f"tiny {family}": _dag(family, 10 + n, **row) for n, (family, row) in enumerate(TINY_DAGS.items())}
    made |= {family: _dag(family, 50 + n, **row) for n, (family, row) in enumerate(MIDDLE_DAGS.items())}
    made["stuck"] = DagInstance.from_lists(  # list schedules run into the memory limits
        [[1, 1]] * 4,
        [(0, 1, 0), (1, 2, 0), (2, 3, 0)],
        task_memory=[2, 3, 2, 3],
        gpu_memory=[5, 5],
        name="stuck",
    )
    made["infeasible"] = DagInstance.from_lists(  # each task fits, but not three of them on two GPUs
        [[2, 3]] * 3, [(0, 1, 4)], task_memory=[3, 3, 3], gpu_memory=[5, 5], latency=1, name="infeasible"
    )
    made["uneven links"] = DagInstance.from_lists(
        [[3, 5, None], [4, 4, 9], [7, None, 2], [3, 3, 3], [0, 0, 0], [6, 2, 5]],
        [(0, 2, 7), (1, 2, 3), (1, 3, 12), (2, 4, 5), (3, 4, 1), (3, 5, 9)],
        latency=[[0, 1, 2], [2, 0, 1], [0, 3, 0]],
        bytes_per_tick=[[1.0, 2.5, 3.0], [1.5, 1.0, 4.0], [2.0, 0.75, 1.0]],
        gpu_servers=["a", "a", "b"],
        job_of_task=[0, 1, 0, 1, 0, 1],
        release=[0, 3],
        weight=[2, 5],
        task_memory=[4, 1, 6, 2, 0, 3],
        gpu_memory=[9, None, 12],
        name="uneven links",
    )
    return made


def exact_dags() -> dict[str, DagInstance]:
    """Return the DAG instances that are small enough for every exact method."""
    few = ("stuck", "infeasible", "uneven links")
    return {name: instance for name, instance in dag_instances().items() if name.startswith("tiny") or name in few}


@cache
def jobs_instances() -> dict[str, JobsInstance]:
    """Return the jobs instances by name, those for exact methods first."""
    pair = "2xV100-32GB,2xT4"
    made = {
        "tiny worked": _worked_jobs(),
        "tiny small": _jobs("jobs-small", 4, 1, load=0.8),
        "tiny burst": _jobs("jobs-small", 4, 2, load=0.0, forbidden=0.4),
        "tiny co-located": _jobs("jobs-small-co-located", 4, 3, load=1.1, gpus=pair),
        "tiny shared": _jobs("jobs-small-co-located", 3, 4, load=1.1, gpus=pair, share=2),
        "tiny racks": _jobs("jobs-small-co-located", 4, 5, load=0.9, gpus=pair, servers_per_rack=1),
    }
    made |= {
        "small": _jobs("jobs-small", 12, 6, load=0.9),
        "poisson": _jobs("jobs-poisson", 24, 7, load=0.9),
        "poisson weighted": _weighted(_jobs("jobs-poisson", 20, 8, load=1.1, tail="pareto")),
        "bursty": _jobs("jobs-bursty", 30, 9, load=0.7, gpus="2*4xV100-16GB,3*4xT4"),
        "recurrent": _weighted(_jobs("jobs-recurrent", 60, 10, load=1.0, users=4, groups_per_user=2)),
        "co-located": _jobs("jobs-co-located", 24, 11, load=1.0, strength=1.5),
        "co-located weighted": _weighted(_jobs("jobs-co-located", 16, 12, load=0.9, servers_per_rack=1)),
        "shared": _jobs("jobs-shared-gpus", 20, 13, load=1.2),
        "shared racks": _weighted(_jobs("jobs-shared-gpus", 16, 14, load=1.2, servers_per_rack=2)),
    }
    return made


def exact_jobs() -> dict[str, JobsInstance]:
    """Return the jobs instances that are small enough for every exact method."""
    return {name: instance for name, instance in jobs_instances().items() if name.startswith("tiny")}


def _dag(
    family: str,
    seed: int,
    *,
    tasks: int,
    gpus: str,
    mean: float = 20.0,
    ccr: float | None = None,
    memory: float = 0.0,
    forbidden: float = 0.0,
    consistent: float = 1.0,
    zero: float = 0.0,
    silent: float = 0.0,
    jobs: int = 0,
) -> DagInstance:
    """Return a generated instance, with durations and bytes set to 0 and tasks dealt out to jobs as asked."""
    cost = CostModel(
        mean_ticks=mean, ccr=ccr, consistency=consistent, memory_tightness=memory or None, forbidden=forbidden
    )
    instance = generate(family, tasks=tasks, seed=seed, cluster=parse_cluster(gpus), cost=cost)
    rng = np.random.default_rng(seed)
    durations, data = instance.durations.copy(), instance.edge_bytes.copy()
    durations[(rng.random(len(durations)) < zero)[:, None] & (durations > 0)] = 0
    data[rng.random(len(data)) < silent] = 0
    dealt: dict[str, Any] = {}
    if jobs:
        dealt = {
            "job_of_task": rng.integers(jobs, size=instance.num_tasks),
            "release": rng.integers(0, 12, size=jobs),
            "weight": rng.integers(0, 4, size=jobs),
            "job_names": tuple(f"j{job}" for job in range(jobs)),
        }
    return replace(instance, durations=durations, edge_bytes=data, **dealt)


def _jobs(family: str, jobs: int, seed: int, *, gpus: str | None = None, **parameters: Any) -> JobsInstance:
    """Return a generated instance."""
    cluster = None if gpus is None else parse_cluster(gpus)
    return generate_jobs(family, jobs=jobs, seed=seed, cluster=cluster, **parameters)


def _weighted(instance: JobsInstance) -> JobsInstance:
    """Return the same instance with weights from 1 to 5."""
    rng = np.random.default_rng(instance.num_jobs)
    return replace(instance, weight=rng.integers(1, 6, size=instance.num_jobs))


def _worked_jobs() -> JobsInstance:
    """Return three jobs on two servers whose optimum is known by hand."""
    servers = [JobsServer(kind=kind, gpus=2, nic_bytes_per_tick=10) for kind in "FS"]
    jobs = [
        Job(stages=[Stage(times={"F": 2, "S": 5}, replicas=2, parameter_bytes=50)], micro_batches=4, iterations=3),
        Job(
            release=2,
            stages=[
                Stage(times={"F": 2, "S": 3}, replicas=2, activation_bytes=20, parameter_bytes=10),
                Stage(times={"F": 4, "S": 6}),
            ],
            micro_batches=2,
            iterations=2,
        ),
        Job(release=4, stages=[Stage(times={"F": 1, "S": 2}, parameter_bytes=5)], micro_batches=2, iterations=5),
    ]
    return JobsInstance.from_parts(servers, jobs, name="worked")
