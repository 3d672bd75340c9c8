"""Tests of the objectives."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from instances.dag.instance import DagInstance
from instances.dag.objective import (
    FINISH_OBJECTIVES,
    Objective,
    completion_times,
    finish_objective,
    finish_times,
    objective_value,
    stage_spans,
)
from instances.dag.schedule import DagSchedule


@pytest.fixture(scope="module")
def instance() -> DagInstance:
    """Three jobs of two, one and no tasks."""
    return DagInstance.from_lists(
        [[3, 4], [5, 6], [2, 9]], job_of_task=[0, 1, 0], release=[0, 2, 30], weight=[2, 3, 10], name="jobs"
    )


def test_both_objectives_by_hand(instance: DagInstance) -> None:
    """Tests that the makespan is the last finish and that a job without tasks completes at its release."""
    schedule = DagSchedule(gpu=[0, 1, 0], start=[0, 2, 7])
    assert finish_times(instance, schedule).tolist() == [3, 8, 9]
    assert completion_times(instance, schedule).tolist() == [9, 8, 30]
    assert objective_value(instance, schedule, Objective.MAKESPAN) == 9
    assert objective_value(instance, schedule, Objective.WEIGHTED_COMPLETION) == 2 * 9 + 3 * 8 + 10 * 30


def test_stage_span_by_hand(instance: DagInstance) -> None:
    """Tests that the span of a GPU runs from its first start to its last finish, and that the largest counts."""
    assert stage_spans(instance, DagSchedule(gpu=[0, 1, 0], start=[4, 2, 9])).tolist() == [7, 6]
    assert stage_spans(instance, DagSchedule(gpu=[1, 1, 1], start=[4, 20, 9])).tolist() == [0, 22]
    assert objective_value(instance, DagSchedule(gpu=[0, 1, 0], start=[4, 2, 9]), "stage_span") == 7


def test_earlier_task_of_a_job_is_no_matter(instance: DagInstance) -> None:
    """Tests that only the last finish of a job counts, whichever task it is."""
    schedule = DagSchedule(gpu=[1, 0, 0], start=[10, 2, 0])
    assert completion_times(instance, schedule).tolist() == [14, 7, 30]
    assert objective_value(instance, schedule, Objective.MAKESPAN) == 14


def test_no_tasks() -> None:
    """Tests that without tasks the makespan is 0 and every job completes at its release."""
    empty = DagInstance.from_lists([], num_gpus=1, release=[4, 5], weight=[1, 2])
    schedule = DagSchedule(gpu=[], start=[])
    assert objective_value(empty, schedule, Objective.MAKESPAN) == 0
    assert objective_value(empty, schedule, Objective.WEIGHTED_COMPLETION) == 14


def test_objective_is_a_python_integer(instance: DagInstance) -> None:
    """Tests that objectives are exact Python integers, also beyond what 53 bits hold."""
    large = DagInstance.from_lists([[2**52]], weight=[2**9])
    schedule = DagSchedule(gpu=[0], start=[1])
    value = objective_value(large, schedule, Objective.WEIGHTED_COMPLETION)
    assert value == 2**9 * (2**52 + 1)
    assert type(value) is int


def test_names() -> None:
    """Tests that objectives are called as on the command line."""
    assert [str(objective) for objective in Objective] == ["makespan", "weighted_completion", "stage_span"]
    with pytest.raises(ValueError, match="objective: expected one of makespan, weighted_completion here, got stage_sp"):
        finish_objective("stage_span")
    assert [finish_objective(str(objective)) for objective in FINISH_OBJECTIVES] == list(FINISH_OBJECTIVES)
    with pytest.raises(
        ValueError, match="objective: expected one of makespan, weighted_completion, stage_span, got 'cost'"
    ):
        Objective("cost")


@pytest.mark.parametrize(("objective", "value"), [("makespan", 9), ("weighted_completion", 2 * 9 + 3 * 8 + 10 * 30)])
def test_name_means_the_objective(instance: DagInstance, objective: str, value: int) -> None:
    """Tests that the name of an objective means the same as the member of the enumeration."""
    assert objective_value(instance, DagSchedule(gpu=[0, 1, 0], start=[0, 2, 7]), objective) == value


def test_misspelt_name_is_refused(instance: DagInstance) -> None:
    """Tests that no other name is taken for an objective."""
    with pytest.raises(
        ValueError, match="objective: expected one of makespan, weighted_completion, stage_span, got 'makespam'"
    ):
        objective_value(instance, DagSchedule(gpu=[0, 1, 0], start=[0, 2, 7]), "makespam")


def test_members_are_compared_after_conversion() -> None:
    """Tests that no code compares with a member by identity unless it converts first: a name would be another one."""
    strays = []
    for path in sorted(path for room in ROOMS for path in (Path(__file__).parents[3] / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not re.search(rf"\bis\s+(not\s+)?({'|'.join(NAMES)})\.", text):
            continue  # parsing all code takes two seconds
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.IsNot):
                continue
            if not isinstance(node.comparators[0], ast.Attribute):  # None, mostly
                continue
            member, compared = ast.unparse(node.comparators[0]).split("."), ast.unparse(node.left)
            converted = compared.startswith(f"{member[0]}(") or compared in CONVERTED
            if len(member) == 2 and member[0] in NAMES and not converted:
                strays.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert strays == []


ROOMS = ("instances", "formulations", "heuristics", "solvers", "studies", "optgap")
NAMES = ("Objective", "JobsObjective", "Contention", "Variant")
CONVERTED = ("chosen", "variant", "rule", "self.contention", "self._objective")
"""Converted by the function or the constructor that they stand in."""
