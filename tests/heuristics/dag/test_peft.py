"""Tests of PEFT."""

from __future__ import annotations

import pytest

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.peft import peft
from heuristics.dag.ranks import optimistic_costs
from instances import DagInstance, Objective, objective_value


def test_table_and_schedule_of_example_e(example_e: DagInstance) -> None:
    """Tests table and schedule computed by hand: the table sends task 1 away, and PEFT finds the optimum."""
    table = optimistic_costs(dag_arrays(example_e))
    assert table.tolist() == [[11, 13], [8, 3], [8, 8], [0, 0], [0, 0]]
    schedule = peft(example_e)
    assert schedule.gpu.tolist() == [0, 1, 0, 1, 0]
    assert schedule.start.tolist() == [0, 8, 4, 12, 7]
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == 15


def test_published_heft_example(heft_example: DagInstance) -> None:
    """Tests costs at the end of the graph by hand (task 9 takes 21, 7, 16 ticks), and the first steps that follow."""
    table = optimistic_costs(dag_arrays(heft_example))
    assert table[9].tolist() == [0, 0, 0]
    assert table[8].tolist() == [7 + 13, 7, 16]
    assert table[6].tolist() == [21, 7, 16]
    schedule = peft(heft_example)
    assert (schedule.gpu[0], schedule.start[0]) == (1, 0)  # 14 + 48, 16 + 38, 9 + 53
    assert (schedule.gpu[3], schedule.start[3]) == (1, 16)  # highest mean, 31; 38 + 38, 24 + 19, 42 + 36
    assert objective_value(heft_example, schedule, Objective.MAKESPAN) == 85


def test_cost_beats_earliest_finish() -> None:
    """Tests that a slower GPU is taken where the table says that what follows is much faster there."""
    instance = DagInstance.from_lists([[4, 5], [9, 1]], [(0, 1, 20)])
    schedule = peft(instance)
    assert schedule.gpu.tolist() == [1, 1]
    assert schedule.start.tolist() == [0, 5]


@pytest.mark.parametrize("durations", [[], [[3, 2]]])
def test_tiny(durations: list[list[int]]) -> None:
    """Tests that no task and one task are scheduled on the fastest GPU at 0."""
    schedule = peft(DagInstance.from_lists(durations, num_gpus=2))
    assert schedule.gpu.tolist() == [1] * len(durations)
    assert schedule.start.tolist() == [0] * len(durations)
