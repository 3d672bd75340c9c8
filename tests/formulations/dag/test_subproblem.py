"""Tests of a stretch of a schedule as a problem of its own."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.left_shift import left_shift
from formulations.dag.subproblem import Subproblem, order_of, subproblem
from heuristics.dag.list_scheduling import random_placement
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from tests.brute_force import optimum
from tests.strategies import dag_instances

some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
OBJECTIVES = st.sampled_from(FINISH_OBJECTIVES)


def least_change(instance: DagInstance, schedule: DagSchedule, objective: Objective, first: int, last: int) -> int:
    """Return the best objective over all GPUs and orders of the free tasks, by trying all of them.

    Every order of the free tasks that keeps the edges is put between the tasks before and the tasks after, each on each
    GPU where it may run; starts follow.
    """
    order = order_of(instance, schedule).tolist()
    free = order[first:last]
    limit = np.where(instance.gpu_memory < 0, 2**60, instance.gpu_memory)
    best = None
    for gpus in product(*(np.flatnonzero(instance.allowed[task]).tolist() for task in free)):
        gpu = np.array(schedule.gpu)
        gpu[free] = gpus
        used = np.bincount(gpu, weights=instance.task_memory, minlength=instance.num_gpus)
        if (used > limit).any():
            continue
        for between in permutations(free):
            position = np.empty(instance.num_tasks, dtype=np.int64)
            position[[*order[:first], *between, *order[last:]]] = np.arange(instance.num_tasks)
            if all(position[tail] < position[head] for tail, head in instance.edges.tolist()):
                value = objective_value(instance, left_shift(instance, gpu, position), objective)
                best = value if best is None else min(best, value)
    assert best is not None
    return best


def solved(cut: Subproblem, objective: Objective) -> tuple[int | None, DagSchedule | None]:
    """Return the optimum by CP-SAT and the whole schedule with it, None where there is none."""
    if cut.within.is_empty:
        return None, None
    model = CpSatModel(cut.instance, objective, cut.within, symmetry=False, completion_tails=cut.completion_tails)
    model.hint(cut.schedule)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model.proto_model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    if status == cp_model.INFEASIBLE:
        return None, None
    return round(solver.objective_value), cut.inserted(model.schedule(solver.value))


def drawn(data: st.DataObject, instance: DagInstance, most: int) -> tuple[DagSchedule, int, int] | None:
    """Return a random schedule and a stretch of it, None where there is none."""
    schedule = random_placement(instance, np.random.default_rng(data.draw(st.integers(0, 99))))
    if schedule is None:
        return None
    first = data.draw(st.integers(0, instance.num_tasks - 1))
    last = data.draw(st.integers(first + 1, min(first + most, instance.num_tasks)))
    return left_shift(instance, schedule.gpu, schedule.start), first, last


@given(data=st.data(), instance=dag_instances(max_tasks=8), objective=OBJECTIVES)
@some
def test_optimum_is_that_of_all_changes(data: st.DataObject, instance: DagInstance, objective: Objective) -> None:
    """Tests that CP-SAT on a stretch of up to three tasks finds what trying all changes finds, and that it verifies."""
    found = drawn(data, instance, 3)
    if found is None:
        return
    schedule, first, last = found
    value = objective_value(instance, schedule, objective)
    best = least_change(instance, schedule, objective, first, last)
    assert best <= value
    cut = subproblem(instance, schedule, objective, first=first, last=last, at_most=value)
    assert cut.within.at_least <= best
    answer, whole = solved(cut, objective)
    assert answer == best
    assert whole is not None
    assert verify_dag_schedule(instance, whole) == []
    assert objective_value(instance, whole, objective) == best


@given(data=st.data(), instance=dag_instances(max_tasks=8), objective=OBJECTIVES)
@some
def test_nothing_better_is_said_where_there_is_nothing(
    data: st.DataObject, instance: DagInstance, objective: Objective
) -> None:
    """Tests that below the best change no solution is left, and that at it one is."""
    found = drawn(data, instance, 3)
    if found is None:
        return
    schedule, first, last = found
    best = least_change(instance, schedule, objective, first, last)
    for at_most, expected in ((best - 1, None), (best, best)):
        cut = subproblem(instance, schedule, objective, first=first, last=last, at_most=at_most)
        assert solved(cut, objective)[0] == expected


@given(instance=dag_instances(max_tasks=6), objective=OBJECTIVES, seed=st.integers(0, 99))
@some
def test_stretch_of_everything_is_the_whole_problem(instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that with all tasks free the optimum is that of the instance."""
    schedule = random_placement(instance, np.random.default_rng(seed))
    if schedule is None:
        return
    value = objective_value(instance, schedule, objective)
    cut = subproblem(instance, schedule, objective, first=0, last=instance.num_tasks, at_most=value)
    assert solved(cut, objective)[0] == optimum(instance, objective)


@given(data=st.data(), instance=dag_instances(max_tasks=8), objective=OBJECTIVES)
@some
def test_few_gpus(data: st.DataObject, instance: DagInstance, objective: Objective) -> None:
    """Tests that with a limit tasks keep their own GPU and at most so many others, and the schedule stays possible."""
    found = drawn(data, instance, 5)
    if found is None:
        return
    schedule, first, last = found
    value = objective_value(instance, schedule, objective)
    cut = subproblem(instance, schedule, objective, first=first, last=last, at_most=value, most_gpus=1)
    assert (cut.within.around.allowed.sum(axis=1) <= 2).all()
    assert cut.within.around.allowed[np.arange(last - first), cut.schedule.gpu].all()
    assert not cut.within.is_empty
    answer, _ = solved(cut, objective)
    assert answer is not None
    assert answer <= value


def test_by_hand() -> None:
    """Tests heads and tails of the middle one of three tasks in a row, beside a task that keeps GPU 1 busy."""
    instance = DagInstance.from_lists(
        [[2, 2], [3, 3], [4, 4], [6, 6]], [(0, 1, 5), (1, 2, 7)], task_memory=[1, 2, 3, 4], gpu_memory=[7, None]
    )
    schedule = DagSchedule(gpu=[0, 0, 0, 1], start=[0, 2, 5, 0])
    assert order_of(instance, schedule).tolist() == [0, 3, 1, 2]
    cut = subproblem(instance, schedule, Objective.MAKESPAN, first=2, last=3, at_most=99)
    assert cut.tasks.tolist() == [1]
    assert cut.after.tolist() == [False, False, True, False]
    assert cut.within.around.heads.tolist() == [[2, 7]]  # 2 on its GPU; 2 + 5 on the other, which is free from 6 on
    assert cut.within.around.tails.tolist() == [[4, 11]]
    assert cut.within.latest_finish.tolist() == [[95, 88]]
    assert (cut.within.at_least, cut.within.at_most) == (9, 99)
    assert cut.instance.gpu_memory.tolist() == [3, -1]  # 7 less 1 and 3
    tight = subproblem(instance, schedule, Objective.MAKESPAN, first=2, last=3, at_most=9)
    assert tight.within.around.allowed.tolist() == [[True, False]]


@pytest.mark.parametrize(("first", "last"), [(1, 1), (-1, 2), (0, 3), (2, 1)])
def test_stretch_must_be_one(first: int, last: int) -> None:
    """Tests that an empty stretch and one beyond the tasks are refused."""
    instance = DagInstance.from_lists([[1], [1]])
    schedule = DagSchedule(gpu=[0, 0], start=[0, 1])
    with pytest.raises(ValueError) as caught:
        subproblem(instance, schedule, Objective.MAKESPAN, first=first, last=last, at_most=9)
    assert str(caught.value) == f"first, last: expected a stretch within 0..2, got {first} to {last}."
