"""Tests of which windows are repaired."""

from __future__ import annotations

import numpy as np

from instances import DagInstance
from instances.generators import planted_optimum
from solvers.lns.window_choice import FIRST, LARGEST, SMALLEST, WindowChoice
from solvers.lns.window_repair import Repair


def test_a_round_covers_everything() -> None:
    """Tests that the windows of one round overlap and cover all tasks, for both kinds."""
    instance = planted_optimum(tasks=200, num_gpus=8, seed=1).instance
    windows = WindowChoice(instance, np.random.default_rng(3))
    covered: dict[int | None, set[int]] = {None: set(), 3: set()}
    for _ in range(60):
        first, last, most_gpus = windows.next()
        assert 0 <= first < last <= 200
        covered[most_gpus] |= set(range(first, last))
        windows.learn(Repair.NONE)
    assert all(tasks == set(range(200)) for tasks in covered.values())


def test_sizes_follow_what_can_be_decided() -> None:
    """Tests that windows grow while they are decided and shrink where they are not, within their limits."""
    instance = planted_optimum(tasks=300, num_gpus=4, seed=1).instance
    windows = WindowChoice(instance, np.random.default_rng(3))
    first, last, most_gpus = windows.next()
    assert (last - first, most_gpus) == (FIRST, None)
    for ended, limit in ((Repair.NONE, LARGEST), (Repair.GAVE_UP, SMALLEST)):
        for _ in range(40):
            windows.learn(ended)
        first, last, _ = windows.next()
        assert last - first == limit


def test_small_instances_are_one_window() -> None:
    """Tests that up to the first size the window is the whole schedule on all GPUs, until CP-SAT gives up."""
    instance = DagInstance.from_lists([[1, 2]] * FIRST)
    windows = WindowChoice(instance, np.random.default_rng(3))
    assert windows.covers_everything
    assert windows.next() == (0, FIRST, None)
    windows.learn(Repair.GAVE_UP)
    assert not windows.covers_everything
