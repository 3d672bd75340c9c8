"""Tiny seeded instances in which transfers between servers matter: many edges, tasks that may run in few places.

They have everything the DAG problem has: memory limits, releases, forbidden GPUs, zero durations, several jobs, and
links of one or of several speeds; each GPU is a server of its own, or several share one.
"""

from __future__ import annotations

import numpy as np

from instances.dag.instance import DagInstance


def contended_instance(seed: int, max_edges: int = 6) -> DagInstance:
    """Return an instance of 3 to 5 tasks on 2 or 3 servers, most of them with one task that all others need or feed."""
    rng = np.random.default_rng(seed)
    n, num_servers = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    servers = list(range(num_servers))
    if num_servers == 2 and rng.random() < 0.5:
        servers.insert(1, int(rng.integers(2)))
    m = len(servers)
    durations: list[list[int | None]] = [[int(ticks) for ticks in row] for row in rng.integers(0, 8, size=(n, m))]
    for row in durations:
        lonely, one = rng.random() < 0.5, int(rng.integers(m))
        if lonely or rng.random() < 0.3:
            row[:] = [ticks if (k == one) == lonely else None for k, ticks in enumerate(row)]
    pairs = [(tail, head) for head in range(n) for tail in range(head)]
    hub = int(rng.integers(n))
    if rng.random() < 0.7:
        pairs.sort(key=lambda pair: hub not in pair)
    else:
        rng.shuffle(pairs)
    edges = [(*map(int, pair), int(rng.integers(0, 12))) for pair in pairs[:max_edges]]
    jobs, memory = int(rng.integers(1, 3)), rng.integers(0, 5, size=n)
    uniform = seed % 3 == 0
    return DagInstance.from_lists(
        durations,
        edges,
        latency=1 if uniform else rng.integers(0, 3, size=(m, m)).tolist(),
        bytes_per_tick=2.0 if uniform else rng.choice([1.0, 2.0, 3.0], size=(m, m)).tolist(),
        gpu_servers=[f"s{server}" for server in servers],
        job_of_task=rng.integers(jobs, size=n).tolist(),
        release=rng.integers(0, 5, size=jobs).tolist(),
        weight=rng.integers(0, 4, size=jobs).tolist(),
        task_memory=memory.tolist(),
        gpu_memory=[None, *(int(memory.max() + extra) for extra in rng.integers(0, 8, size=m - 1))],
        name=f"contended-{seed}",
    )
