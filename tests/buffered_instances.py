"""Small instances with buffers and groups from a seed: random ones, and pipelines that fit brute force."""

from __future__ import annotations

import numpy as np

from instances.dag.instance import DagInstance
from instances.dag.pipeline import least_limit, pipeline_instance
from tests.strategies import changed


def random_buffered(seed: int, *, max_tasks: int = 6, max_gpus: int = 3) -> DagInstance:
    """Return a random instance; every owner of a buffer takes a tick at least."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, max_tasks + 1)), int(rng.integers(1, max_gpus + 1))
    edges = [(a, b, int(rng.integers(0, 6))) for b in range(n) for a in range(b) if rng.random() < 0.4]
    after = np.eye(n, dtype=bool)
    for task in reversed(range(n)):
        for tail, head, _ in edges:
            after[task] |= after[head] if tail == task else False
    durations = rng.integers(0, 7, size=(n, m))
    buffers = []
    for task in range(n):
        for _ in range(int(rng.integers(0, 3))):
            following = np.flatnonzero(after[task])
            releasing = rng.choice(following, size=min(len(following), int(rng.integers(1, 3))), replace=False)
            buffers.append((task, int(rng.integers(0, 5)), sorted(releasing.tolist())))
            durations[task] = np.maximum(durations[task], 1)
    memory = rng.integers(0, 3, size=n).tolist()
    loose = DagInstance.from_lists(
        durations.tolist(),
        edges,
        latency=int(rng.integers(0, 3)),
        task_memory=memory,
        buffers=buffers,
        groups=[None if rng.random() < 0.5 else int(rng.integers(0, 2)) for _ in range(n)],
        job_of_task=rng.integers(0, 2, size=n).tolist(),
        release=[0, int(rng.integers(0, 5))],
        weight=[1, 2],
        name=f"buffered {seed}",
    )
    limit = sum(memory) + int(rng.integers(0, 6))
    while True:
        try:
            return changed(loose, gpu_memory=np.where(rng.random(m) < 0.2, -1, limit))
        except ValueError:  # a task and what is held with it need more
            limit += 1


def small_pipeline(seed: int, *, tasks: int = 12) -> DagInstance:
    """Return a pipeline of a few passes, with unequal stages and memory near the least."""
    rng = np.random.default_rng(seed)
    p, fused = int(rng.integers(1, 4)), bool(rng.integers(0, 2))
    gpus = int(rng.integers(1, p + 1))
    m = max(1, min(int(rng.integers(1, 5)), tasks // ((2 if fused else 3) * p)))
    arguments = {
        "micro_batches": m,
        "forward": rng.integers(1, 6, size=p).tolist(),
        "backward": rng.integers(1, 6, size=p).tolist(),
        "weight": rng.integers(0, 6, size=p).tolist(),
        "transfer": int(rng.integers(0, 3)),
        "until_backward": rng.integers(0, 3, size=p).tolist(),
        "until_weight": rng.integers(1, 3, size=p).tolist(),
        "gpus": gpus,
        "layout": str(rng.choice(["loop", "v"])),
        "fused": fused,
        "name": f"pipeline {seed}",
    }
    least = least_limit(pipeline_instance(**arguments))
    return pipeline_instance(**arguments, limits=[least + int(rng.integers(0, 4)) for _ in range(gpus)])
