"""What it costs all GPUs together to run a task on one GPU rather than on another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.assignment_lp import AssignmentLp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


MOST_PAIRS = 100_000
"""Above this many pairs of task and GPU the prices come from evenly spread tasks: the LP would take many seconds."""


def waste(instance: DagInstance) -> NDArray[np.float64]:
    """Return reduced costs of the area LP in ticks, shape (n, m); infinite where a task may not run.

    The multipliers u and y of the LP that minimises the largest load, under the memory limits, price a tick on GPU k at
    u[k] and a byte at y[k]. The waste of task i on k is u[k] p[i,k] + y[k] a[i] less the smallest of these sums, times
    m / sum of u: in ticks of an average GPU. All waste together, divided by m, is by how much the bound of the area
    rises with that placement. Lagrangian costs of the load rows are textbook; their use here is ours.
    """
    allowed, m = instance.allowed, instance.num_gpus
    tasks = np.arange(0, instance.num_tasks, max(1, instance.num_tasks * m // MOST_PAIRS))
    lp = AssignmentLp(instance, tasks, allowed[tasks])
    lp.add_area_rows()
    multipliers = lp.solve()[0]
    price = np.zeros(m)
    price[allowed[tasks].any(axis=0)] = multipliers.row  # one row for every GPU on which anything may run
    if not price.sum() > 0:
        return np.where(allowed, 0.0, np.inf)
    cost = price * np.maximum(instance.durations, 0) + multipliers.memory * instance.task_memory[:, None]
    cost = np.where(allowed, cost, np.inf)
    least = cost.min(axis=1, initial=np.inf, keepdims=True)
    return np.where(allowed, (cost - np.where(np.isfinite(least), least, 0.0)) * (m / price.sum()), np.inf)
