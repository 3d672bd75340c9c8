"""Small instances on which every method must do right: degenerate, awkward and random ones."""

from __future__ import annotations

import numpy as np

from instances.dag_instance import DagInstance


def check_instances() -> list[DagInstance]:
    """Return the instances of the conformance kit; all have schedules, and each fits into a second of exact solving."""
    return [
        DagInstance.from_lists([], num_gpus=2, name="no tasks"),
        DagInstance.from_lists([[3]], name="one task, one GPU"),
        DagInstance.from_lists([[0, 0], [0, 0], [0, 0]], [(0, 1, 5), (1, 2, 0)], name="all durations 0"),
        DagInstance.from_lists([[2], [3], [4]], [(0, 2, 9)], name="one GPU"),
        DagInstance.from_lists([[2, 2]] * 5, name="all ties, no edges"),
        DagInstance.from_lists(
            [[2, 4], [4, 2], [3, 3], [1, 5]], [(0, 1, 4), (2, 3, 4)], latency=2, name="two components"
        ),
        DagInstance.from_lists(
            [[1, None, 9], [None, 2, 2], [3, None, None], [4, 4, None]], [(0, 3, 7), (1, 3, 7)], name="not allowed"
        ),
        DagInstance.from_lists(
            [[2, 3], [2, 3], [5, 1], [5, 1]],
            [(0, 2, 3), (1, 3, 3)],
            task_memory=[4, 4, 4, 4],
            gpu_memory=[8, 8],
            name="memory exactly full",
        ),
        DagInstance.from_lists(
            [[4, 5], [3, 3], [3, 8], [8, 3], [6, None]],
            [(0, 1, 6), (0, 2, 2), (1, 3, 8), (2, 3, 8), (2, 4, 2)],
            latency=1,
            bytes_per_tick=2.0,
            task_memory=[4] * 5,
            gpu_memory=[12, None],
            name="one GPU without a limit",
        ),
        DagInstance.from_lists(
            [[3, 2], [2, 2], [4, 4], [1, 1]],
            [(0, 1, 2), (2, 3, 2)],
            job_of_task=[0, 0, 1, 2],
            release=[5, 0, 3],
            weight=[1, 3, 0],
            name="jobs with releases and weights",
        ),
        *(_random_instance(seed) for seed in range(4)),
    ]


def _random_instance(seed: int) -> DagInstance:
    """Return a random instance of 5 to 9 tasks on 2 or 3 GPUs with links of several speeds."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 10)), int(rng.integers(2, 4))
    durations: list[list[int | None]] = [[int(ticks) for ticks in row] for row in rng.integers(0, 12, size=(n, m))]
    for task in range(n):
        if rng.random() < 0.3:
            durations[task][int(rng.integers(m))] = None
    edges = [(tail, head, int(rng.integers(0, 20))) for head in range(n) for tail in range(head) if rng.random() < 0.3]
    return DagInstance.from_lists(
        durations,
        edges,
        latency=rng.integers(0, 3, size=(m, m)).tolist(),
        bytes_per_tick=rng.choice([0.5, 2.0, 3.0], size=(m, m)).tolist(),
        job_of_task=rng.integers(2, size=n).tolist(),
        release=[0, int(rng.integers(6))],
        weight=[1, 2],
        name=f"random {seed}",
    )
