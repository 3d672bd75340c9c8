"""Three hundred tiny instances with everything the DAG problem has, to compare exact methods with enumeration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.generators.dag.generate import FAMILIES, generate

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

CLUSTERS = ("mixed-2", "mixed-3", "mixed-4", "identical-4", "mixed-4-slow")
WISHED_TASKS = {"mixed-2": (4, 10), "mixed-3": (4, 9), "mixed-4": (4, 8), "identical-4": (4, 8), "mixed-4-slow": (4, 8)}


def tiny_instance(number: int, *, is_tight: bool = False) -> DagInstance:
    """Return an instance of 4 to 10 tasks on 2 to 4 GPUs; the number decides everything.

    Families and clusters rotate. In turn memory is tight, pairs are forbidden, some durations are 0, some edges carry
    nothing, and tasks are dealt out to several jobs with releases and weights. Few tasks where there are many GPUs, so
    that enumeration takes a second at most. With `is_tight` the memory of every instance is 70 to 95 % full, and
    transfers take 1 to 10 mean durations.
    """
    rng = np.random.default_rng(number)
    cluster = CLUSTERS[number % len(CLUSTERS)]
    cost = CostModel(
        mean_ticks=float(rng.choice([4.0, 12.0])),
        ccr=float(rng.choice([0.0, 0.3, 1.0, 3.0])),
        consistency=float(rng.integers(2)),
        memory_tightness=0.9 if number % 3 == 0 else 0.0,
        forbidden=0.3 if number % 4 == 0 else 0.0,
    )
    if is_tight:
        tightness, ccr = float(rng.uniform(0.7, 0.95)), float(rng.choice([1.0, 3.0, 10.0]))
        cost = replace(cost, memory_tightness=tightness, ccr=ccr)
    without = ("unrelated-machines", "independent") if is_tight else ("unrelated-machines",)  # have no transfers
    families = [family for family in FAMILIES if family not in without]
    for attempt in range(number, number + len(families)):
        instance = _of_family(families[attempt % len(families)], cluster, number, cost, rng)
        if instance is not None:
            break
    else:
        raise AssertionError(f"no family makes an instance of {WISHED_TASKS[cluster]} tasks")
    n = instance.num_tasks
    durations, data = instance.durations.copy(), instance.edge_bytes.copy()
    if number % 5 == 0:
        durations[(rng.random(n) < 0.4)[:, None] & (durations > 0)] = 0
    if number % 7 == 0:
        data[rng.random(len(data)) < 0.5] = 0
    jobs = int(rng.integers(2, 4)) if number % 2 else 1
    return replace(
        instance,
        name=f"{number}-{instance.name}",
        durations=durations,
        edge_bytes=data,
        job_of_task=rng.integers(jobs, size=n),
        release=rng.integers(0, 12, size=jobs) * (jobs > 1),
        weight=rng.integers(0, 4, size=jobs),
        job_names=tuple(f"j{job}" for job in range(jobs)),
    )


def _of_family(family: str, cluster: str, seed: int, cost: CostModel, rng: np.random.Generator) -> DagInstance | None:
    """Return an instance that is small enough, None where the family makes none."""
    low, high = WISHED_TASKS[cluster]
    for wished in (int(rng.integers(low, high + 1)), low, 1):
        try:
            instance = generate(family, tasks=wished, seed=seed, cluster=parse_cluster(cluster), cost=cost)
        except ValueError:
            continue
        if low <= instance.num_tasks <= high:
            return instance
    return None
