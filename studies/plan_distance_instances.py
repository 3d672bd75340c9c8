"""Generated instances on which plan distance is studied."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from instances.cluster import parse_cluster
from instances.dag_from_graph import CostModel
from instances.generators.generate import generate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.dag_instance import DagInstance

PLAN_DISTANCE_FAMILIES = (
    "layered",
    "erdos-renyi",
    "series-parallel",
    "fork-join",
    "fft",
    "cholesky",
    "stencil",
    "pipeline-training",
    "transformer",
    "nasnet",
)
"""Random, regular and machine-learning graphs."""

PLAN_DISTANCE_SIZES = ((20, "mixed-4", 0.1), (40, "mixed-8", 1.0), (70, "mixed-4", 1.0), (100, "mixed-8", 0.1))
"""Wished number of tasks, cluster of 4 or 8 GPUs, ratio of transfers to computing."""

SPREADS = (0.1, 0.3, 0.6)
"""Standard deviations of the logarithm of a duration over GPUs, in turn."""

GPUS = ("clusters", "unrelated")
"""Durations by the cost model on clusters of four kinds of GPUs, or drawn for each pair of task and GPU."""


def plan_distance_instances(gpus: str = "clusters", seed: int = 0) -> Iterator[DagInstance]:
    """Make 40 instances one by one: every family in four sizes, about 15 to 100 tasks on 4 or 8 GPUs.

    Parameters
    ----------
    gpus
        "clusters": GPUs of four kinds, the slowest several times as slow as the fastest on nearly all tasks.
        "unrelated": the same graphs and transfers, but every duration is the task's mean times a log-normal number of
        its own, whose spread is one of `SPREADS` in turn; no GPU is faster than another in general.
    seed
        Of all of them.

    Raises
    ------
    ValueError
        If `gpus` is neither.
    """
    if gpus not in GPUS:
        raise ValueError(f"gpus: expected {' or '.join(GPUS)}, got {gpus!r}.")
    number = 0
    for family in PLAN_DISTANCE_FAMILIES:
        for tasks, cluster, ccr in PLAN_DISTANCE_SIZES:
            instance = generate(family, tasks=tasks, seed=seed, cluster=parse_cluster(cluster), cost=CostModel(ccr=ccr))
            if gpus == "unrelated":
                instance = _unrelated(instance, np.random.default_rng([seed, number]), SPREADS[number % len(SPREADS)])
            number += 1
            yield instance


def _unrelated(instance: DagInstance, rng: np.random.Generator, spread: float) -> DagInstance:
    """Draw the durations of every task round their mean."""
    mean = instance.durations.mean(axis=1, keepdims=True)
    durations = np.rint(mean * rng.lognormal(0.0, spread, size=instance.durations.shape))
    name = f"{instance.name}-unrelated-{spread:g}"
    return replace(instance, name=name, durations=np.maximum(durations, 1).astype(np.int64))
