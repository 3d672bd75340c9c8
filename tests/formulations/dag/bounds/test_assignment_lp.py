"""Tests of linear programs over the placement, and of what multipliers prove."""

from __future__ import annotations

import numpy as np
import pytest

from formulations.dag.bounds.assignment_lp import AssignmentLp, LoadRow, Multipliers
from instances.dag.instance import DagInstance


@pytest.fixture
def lp() -> AssignmentLp:
    """Two tasks on two GPUs, one pair not allowed; work rows only."""
    instance = DagInstance.from_lists([[3, 5], [4, None]])
    lp = AssignmentLp(instance, np.arange(2), instance.allowed)
    lp.add_area_rows()
    return lp


def proved(lp: AssignmentLp, *row: float) -> int:
    """Return what multipliers of the load rows prove."""
    return lp.prove(Multipliers(row=np.array(row), memory=np.zeros(2)))


def test_pairs_and_rows(lp: AssignmentLp) -> None:
    """Tests that pairs stand by task, and that GPU rows hold the durations."""
    assert (lp.task_of_pair.tolist(), lp.gpu_of_pair.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert lp.durations.tolist() == [3, 5, 4]
    assert [(row.base, row.pairs.tolist(), row.ticks.tolist()) for row in lp.rows] == [
        (0, [0, 2], [3, 4]),
        (0, [1], [5]),
    ]


def test_proofs_by_hand(lp: AssignmentLp) -> None:
    """Tests (min(3 u0, 5 u1) + 4 u0) / (u0 + u1), rounded up, for several prices."""
    assert proved(lp, 1, 1) == 4  # 7 / 2
    assert proved(lp, 1, 0) == 4
    assert proved(lp, 5, 3) == 5  # 35 / 8
    assert proved(lp, 0, 1) == 0
    assert proved(lp, 0, 0) == 0
    assert proved(lp, -7, 1) == 0
    assert proved(lp, 5e-9, 3e-9) == 5
    assert proved(lp, 5e12, 3e12) == 5


@pytest.mark.parametrize("num_tasks", [1, 3])
def test_products_beyond_64_bits_are_exact(num_tasks: int) -> None:
    """Tests tasks of 2**50 + 1 ticks on one GPU, whose products with multipliers of 30 bits do not fit 64 bits."""
    instance = DagInstance.from_lists([[2**50 + 1]] * num_tasks)
    lp = AssignmentLp(instance, np.arange(num_tasks), instance.allowed)
    lp.add_area_rows()
    assert lp.prove(Multipliers(row=np.ones(1), memory=np.zeros(1))) == num_tasks * (2**50 + 1)


def test_solution_and_its_proof(lp: AssignmentLp) -> None:
    """Tests that HiGHS finds 35 / 8 with three eighths of task 0 moved away from GPU 0, and that it proves 5."""
    multipliers, placement, value = lp.solve()
    assert value == pytest.approx(35 / 8)
    assert placement == pytest.approx([1 / 8, 7 / 8, 1.0])
    assert lp.prove(multipliers) == 5


def test_bases_of_rows_count(lp: AssignmentLp) -> None:
    """Tests that a row of base 10 with 4 ticks for one pair proves 14 where that pair is the only choice."""
    lp.rows.append(LoadRow(base=10, pairs=np.array([2]), ticks=np.array([4])))
    assert proved(lp, 0, 0, 1) == 14
    assert proved(lp, 1, 0, 1) == 9  # (10 + 4 + 4) / 2; task 0 costs nothing on GPU 1
    assert lp.solve()[2] == pytest.approx(14)


def test_task_rows(lp: AssignmentLp) -> None:
    """Tests that a task row holds what is given per pair."""
    lp.add_task_rows(np.array([30, 50, 40]))
    assert [row.ticks.tolist() for row in lp.rows[2:]] == [[30, 50], [40]]
    assert proved(lp, 0, 0, 1, 0) == 30
    assert proved(lp, 0, 0, 0, 1) == 40


def test_memory_rows() -> None:
    """Tests that a price on memory proves what is left over: (min(10, 10) x 4 - 10 x 2) / 1."""
    instance = DagInstance.from_lists([[1, 10]] * 4, task_memory=[1] * 4, gpu_memory=[2, None])
    lp = AssignmentLp(instance, np.arange(4), instance.allowed)
    lp.add_area_rows()
    assert lp.prove(Multipliers(row=np.array([0.0, 1.0]), memory=np.array([10.0, 99.0]))) == 20
    multipliers, placement, value = lp.solve()
    assert value == pytest.approx(20)
    assert placement[lp.gpu_of_pair == 0].sum() == pytest.approx(2)
    assert lp.prove(multipliers) == 20


def test_some_tasks_only() -> None:
    """Tests that only the chosen tasks count, whatever their numbers."""
    instance = DagInstance.from_lists([[100], [3], [100], [4]])
    lp = AssignmentLp(instance, np.array([1, 3]), instance.allowed[[1, 3]])
    lp.add_area_rows()
    assert lp.task_of_pair.tolist() == [0, 1]
    assert lp.prove(Multipliers(row=np.ones(1), memory=np.zeros(1))) == 7
