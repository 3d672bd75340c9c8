"""Tests of heads and tails of single tasks as certificates have them: by hand, against schedules and the checker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from formulations.dag import ancestor_balls
from formulations.dag.bounds.ancestor_steps import AncestorSteps
from formulations.dag.bounds.certificates import bound_certificate
from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.join import INFINITE
from formulations.dag.probing.network import network
from formulations.dag.probing.tighten import State, new_state
from instances.dag.json import write_dag_instance
from instances.dag.objective import Objective
from optgap.check_certificate import Instance, Known, check
from tests.drawn_schedules import drawn_schedule
from tests.formulations.dag.test_ancestor_balls import chain

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance


def state_and_steps(instance: DagInstance, makespan: int) -> tuple[State, AncestorSteps]:
    """Return what join-aware heads and tails say, and the steps."""
    around = heads_and_tails(instance, makespan_at_most=makespan)
    steps = AncestorSteps(instance, network(instance), makespan)
    return new_state(around.heads, around.tails, around.allowed), steps


def test_a_chain_that_memory_cuts() -> None:
    """Tests that every two tasks cost a transfer: the last head is 45 where join-aware heads say 25."""
    state, steps = state_and_steps(chain(6, 3, 2), 100)
    assert steps.tasks == [0, 1, 2, 3, 4, 5]
    assert state.heads[:, 0].tolist() == [0, 5, 10, 15, 20, 25]
    for task in steps.tasks:
        state.heads[task] = steps.row(task, state, is_tail=False)
    for task in steps.tasks[::-1]:
        state.tails[task] = steps.row(task, state, is_tail=True)
    assert state.heads[:, 0].tolist() == [0, 5, 20, 25, 40, 45]
    assert state.tails[:, 1].tolist() == [45, 40, 25, 20, 5, 0]


def test_the_certificate_of_a_chain_needs_its_ancestors(tmp_path: Path) -> None:
    """Tests that the optimum is proved by heads from ancestors alone, and that the checker refuses it without one."""
    made = bound_certificate(chain(6, 3, 2), Objective.MAKESPAN, most_cases=0)
    assert made.bound == 50
    assert {line.split()[0] for line in made.lines} <= {"deadline", "ancestors", "descendants", "contradiction"}
    write_dag_instance(chain(6, 3, 2), tmp_path / "instance.json")
    paths = str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt")
    (tmp_path / "certificate.txt").write_text(made.text(Objective.MAKESPAN))
    assert check(*paths) == ("makespan", 50)
    shorter = made._replace(lines=[made.lines[0], *made.lines[2:]])
    (tmp_path / "certificate.txt").write_text(shorter.text(Objective.MAKESPAN))
    with pytest.raises(ValueError, match="more work than there is time"):
        check(*paths)


@pytest.mark.parametrize("numbers", [range(12), pytest.param(range(12, 400), marks=pytest.mark.slow)])
def test_rows_hold_for_schedules_and_are_those_of_the_checker(numbers: range, tmp_path: Path) -> None:
    """Tests drawn schedules of up to 40 tasks under tight memory, with all steps in both directions."""
    path, raised = tmp_path / "instance.json", 0
    for number in numbers:
        instance, schedule = drawn_schedule(number)
        if schedule is None:
            continue
        tasks = np.arange(instance.num_tasks)
        finish = schedule.start + instance.durations[tasks, schedule.gpu]
        makespan = int(finish.max())
        state, steps = state_and_steps(instance, makespan)
        write_dag_instance(instance, path)
        known = Known(Instance(path.read_text(encoding="utf-8")), "makespan", makespan)
        for is_tail in (False, True):
            for task in steps.tasks[:: -1 if is_tail else 1]:
                rows = state.tails if is_tail else state.heads
                row = steps.row(task, state, is_tail=is_tail)
                raised += int((row > rows[task]).sum())
                rows[task] = row
                known.look_far(task, not is_tail)
        theirs = np.array([[min(tick, INFINITE) for tick in row] for row in known.rows[0]]).astype(np.int64)
        assert (np.where(state.allowed, state.heads, 0) <= theirs).all()
        theirs = np.array([[min(tick, INFINITE) for tick in row] for row in known.rows[1]]).astype(np.int64)
        assert (np.where(state.allowed, state.tails, 0) <= theirs).all()
        for heads, tails in ((state.heads, state.tails), (np.array(known.rows[0]), np.array(known.rows[1]))):
            assert (heads[tasks, schedule.gpu] <= schedule.start).all()
            assert (tails[tasks, schedule.gpu] <= makespan - finish).all()
    assert raised > 0


def test_too_many_distances_leave_no_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the limit of memory."""
    monkeypatch.setattr(ancestor_balls, "MOST_DISTANCES", 6 * 6 * 9 - 1)
    assert state_and_steps(chain(6, 3, 2), 100)[1].tasks == []
