"""Schedules of drawn instances that keep to tight memory, for bounds that must hold for every schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.left_shift import left_shift
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


def drawn_schedule(number: int) -> tuple[DagInstance, DagSchedule | None]:
    """Return an instance of up to 40 tasks and a schedule in topological order; None where memory did not suffice."""
    rng = np.random.default_rng([22, number])
    families = ("layered", "fork-join", "series-parallel", "chains", "fft", "lu", "nasnet", "transformer", "in-tree")
    clusters = ("identical-4", "v100-t4-p100-pair", "dgx-a100", "mixed-4", "mixed-2")
    cost = CostModel(
        ccr=float(rng.choice([0.3, 1.0, 3.0, 10.0])),
        memory_tightness=float(rng.choice([0.5, 0.75, 0.9])),
        forbidden=float(rng.choice([0.0, 0.2])),
    )
    instance = generate(
        str(rng.choice(families)),
        tasks=int(rng.integers(8, 40)),
        seed=number,
        cluster=parse_cluster(str(rng.choice(clusters))),
        cost=cost,
    )
    n = instance.num_tasks
    rank, free = np.empty(n), instance.gpu_memory.astype(np.float64)
    rank[instance.topological_order] = np.arange(n)
    gpu, last, stays = np.zeros(n, dtype=np.int64), 0, float(rng.choice([0.5, 0.9, 1.0]))
    for i in instance.topological_order.tolist():
        fits = np.flatnonzero(instance.allowed[i] & (free >= instance.task_memory[i]))
        if not len(fits):
            return instance, None
        if last not in fits or rng.random() > stays:
            last = int(rng.choice(fits))
        gpu[i] = last
        free[last] -= instance.task_memory[i]
    schedule = left_shift(instance, gpu, rank)
    assert verify_dag_schedule(instance, schedule) == []
    return instance, schedule
