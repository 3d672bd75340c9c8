"""The endless instances on which the network learns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from instances.cluster import Cluster, Server
from instances.dag_from_graph import CostModel
from instances.generators.generate import generate
from instances.gpu_catalogue import gpu_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.dag_instance import DagInstance

FAMILIES = ("layered", "erdos-renyi", "series-parallel", "fork-join", "in-tree", "out-tree", "chains")
"""Families of random structure; those of real workloads are left to studies, which so show what carries over."""

KINDS = ("P100", "T4", "RTX-2080-Ti", "L4", "V100-16GB", "A10", "A40", "A100-40GB")
"""Kinds of GPU that clusters are drawn from."""

TASKS, GPUS = (10, 60), (2, 8)
"""Fewest and most tasks and GPUs of an instance."""

TRANSFER_RATIOS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Mean transfer delay over mean duration."""

SPREADS = (0.1, 0.3, 0.6)
"""Standard deviation of the logarithm of the noise on each (task, kind)."""

FORBIDDEN = 0.05
"""Share of (task, kind) pairs that are not allowed."""

TIGHTNESS = (0.6, 0.95)
"""Memory of all tasks over that of all GPUs, in one third of the instances; the others have no limits."""


def training_stream(rng: np.random.Generator) -> Iterator[DagInstance]:
    """Generate instances without end; ours.

    Parameters
    ----------
    rng
        Source of all random numbers: family, cluster, costs and the seed of the generator.

    Yields
    ------
    DagInstance
        One job; sizes and costs in the ranges above, uniformly.
    """
    while True:
        is_tight = rng.random() < 1 / 3
        instance = generate(
            str(rng.choice(FAMILIES)),
            tasks=int(rng.integers(TASKS[0], TASKS[1] + 1)),
            seed=int(rng.integers(2**62)),
            cluster=_cluster(rng),
            cost=CostModel(
                ccr=float(rng.choice(TRANSFER_RATIOS)),
                heterogeneity=float(rng.choice(SPREADS)),
                forbidden=FORBIDDEN,
                memory_tightness=float(rng.uniform(*TIGHTNESS)) if is_tight else 0.0,
            ),
            name="generated",
        )
        if TASKS[0] <= instance.num_tasks <= TASKS[1]:  # families of fixed shape come only near the wished number
            yield instance


def _cluster(rng: np.random.Generator) -> Cluster:
    """Draw two or more kinds, give every GPU one of them, and put the GPUs on up to four servers."""
    gpus = int(rng.integers(GPUS[0], GPUS[1] + 1))
    kinds = rng.choice(KINDS, size=int(rng.integers(2, gpus + 1)), replace=False)
    names = rng.permutation(np.concatenate([kinds, rng.choice(kinds, size=gpus - len(kinds))]))
    chosen = [gpu_kind(str(name)) for name in names]
    first = np.sort(rng.choice(np.arange(1, gpus), size=int(rng.integers(0, min(gpus, 4))), replace=False)).tolist()
    bounds = [0, *first, gpus]
    return Cluster(
        servers=tuple(
            Server(name=f"s{number}", kinds=tuple(chosen[begin:end]))
            for number, (begin, end) in enumerate(pairwise(bounds))
        )
    )
