"""Tests of random placement."""

from __future__ import annotations

import numpy as np

from heuristics.dag.random_placement import random_placement
from instances import DagInstance, verify_dag_schedule


def test_allowed_gpus_are_equally_likely() -> None:
    """Tests that counts per GPU stay within five standard deviations, and that forbidden GPUs are never taken."""
    free = DagInstance.from_lists([[1, 1, 1]] * 3000)
    counts = np.bincount(random_placement(free, np.random.default_rng(0)).gpu, minlength=3)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(3000 * (1 / 3) * (2 / 3))
    barred = DagInstance.from_lists([[1, None, 1]] * 2000)
    counts = np.bincount(random_placement(barred, np.random.default_rng(0)).gpu, minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] - 1000) < 5 * np.sqrt(2000 * 0.25)


def test_seed_decides() -> None:
    """Tests that one seed gives one placement and another seed another."""
    instance = DagInstance.from_lists([[1, 1]] * 50)
    first, same, other = (random_placement(instance, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.gpu.tolist() == same.gpu.tolist() != other.gpu.tolist()


def test_tasks_start_as_early_as_they_can(example_e: DagInstance) -> None:
    """Tests that every schedule is right and no task can start one tick earlier."""
    for seed in range(20):
        schedule = random_placement(example_e, np.random.default_rng(seed))
        assert verify_dag_schedule(example_e, schedule) == []
        assert schedule.start[0] == 0
        assert schedule.gpu[4] == 0


def test_full_gpu_is_never_taken() -> None:
    """Tests that with room for one task on GPU 0 every draw keeps the limit."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2] * 3, gpu_memory=[2, None])
    on_first = {int((random_placement(instance, np.random.default_rng(seed)).gpu == 0).sum()) for seed in range(30)}
    assert on_first == {0, 1}
