"""Tests of contention in the CP-SAT model: optima against brute force, and complete hints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.interchangeable import interchangeable, normal_form
from formulations.dag.probing.windows import windows
from heuristics.dag.list_scheduling import heft, random_placement
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from tests.brute_force import optimum
from tests.brute_force_contention import optimum_with_nics
from tests.contended_instances import contended_instance
from tests.strategies import changed, dag_instances

if TYPE_CHECKING:
    from instances.dag.schedule import DagSchedule

OBJECTIVES = st.sampled_from(FINISH_OBJECTIVES)
some = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def build(instance: DagInstance, objective: Objective, at_most: int | None = None) -> CpSatModel | None:
    """Return a model under contention within the windows of an upper bound, None where they are empty."""
    within = windows(instance, objective, lower_bound=0, objective_at_most=at_most, contention=Contention.NIC)
    return None if within.is_empty else CpSatModel(instance, objective, within, contention=Contention.NIC)


def solved(model: CpSatModel, *, fix_to_hint: bool = False) -> tuple[cp_model.CpSolverStatus, cp_model.CpSolver]:
    """Solve with one thread."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.fix_variables_to_their_hinted_value = fix_to_hint
    return solver.solve(model.proto_model), solver


def assert_optimum(instance: DagInstance, objective: Objective) -> DagSchedule | None:
    """Check that the model proves what brute force finds; return the schedule."""
    best, model = optimum_with_nics(instance, objective), build(instance, objective)
    if model is None:
        assert best is None
        return None
    status, solver = solved(model)
    if best is None:
        assert status == cp_model.INFEASIBLE
        return None
    assert (status, round(solver.objective_value)) == (cp_model.OPTIMAL, best)
    schedule = model.schedule(solver.value)
    assert verify_dag_schedule(instance, schedule, Contention.NIC) == []
    assert objective_value(instance, schedule, objective) == best
    return schedule


def assert_hint_is_complete(instance: DagInstance, schedule: DagSchedule, objective: Objective) -> None:
    """Check that a hint covers every variable, fulfils every row, and means exactly the schedule's objective."""
    value = objective_value(instance, schedule, objective)
    model = build(instance, objective, value)
    assert model is not None
    model.hint(schedule)
    proto = model.proto_model.proto
    assert sorted(proto.solution_hint.vars) == list(range(len(proto.variables)))
    status, solver = solved(model, fix_to_hint=True)
    assert (status, round(solver.objective_value)) == (cp_model.OPTIMAL, value)
    again = model.schedule(solver.value)
    assert verify_dag_schedule(instance, again, Contention.NIC) == []
    assert objective_value(instance, again, objective) == value


def check_sample(seeds: range) -> int:
    """Check optima and hints on seeded instances; return how often contention raises the optimum."""
    raised = 0
    for seed in seeds:
        instance = contended_instance(seed)
        for objective in FINISH_OBJECTIVES:
            schedule = assert_optimum(instance, objective)
            if schedule is not None:
                assert_hint_is_complete(instance, schedule, objective)
                best = optimum(instance, objective)
                assert best is not None
                assert objective_value(instance, schedule, objective) >= best
                raised += objective_value(instance, schedule, objective) > best
    return raised


def test_optimum_on_a_sample() -> None:
    """Tests optima, hints and that contention never lowers an optimum on 40 instances, both objectives."""
    assert check_sample(range(40)) >= 15


@pytest.mark.slow
def test_optimum_on_many() -> None:
    """Tests the same on 400 further instances."""
    assert check_sample(range(1000, 1400)) >= 120


@given(instance=dag_instances(max_tasks=5, servers=True), objective=OBJECTIVES)
@some
def test_optimum_on_drawn_instances(instance: DagInstance, objective: Objective) -> None:
    """Tests the optimum on instances of Hypothesis with drawn servers."""
    assert_optimum(instance, objective)


@given(instance=dag_instances(max_tasks=8, max_gpus=5, servers=True), objective=OBJECTIVES, seed=st.integers(0, 99))
@some
def test_any_schedule_is_a_complete_hint(instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that schedules of HEFT and at random are complete hints; with gaps the solver could do better."""
    rng = np.random.default_rng(seed)
    for schedule in (
        heft(instance, contention=Contention.NIC),
        random_placement(instance, rng, contention=Contention.NIC),
    ):
        if schedule is not None:
            assert_hint_is_complete(instance, schedule, objective)


def like_tasks(gpu_servers: list[str]) -> DagInstance:
    """Return two sources, three like tasks that need both, and one like pair that needs all three; links alike."""
    rows = [[2, 3, 3, 3], [3, 2, 2, 2], *[[4] * 4] * 3, *[[1] * 4] * 2]
    edges = [(0, task, 4) for task in (2, 3, 4)] + [(1, task, 3) for task in (2, 3, 4)]
    edges += [(task, end, 5) for task in (2, 3, 4) for end in (5, 6)]
    return DagInstance.from_lists(rows, edges, bytes_per_tick=2.0, gpu_servers=gpu_servers)


@pytest.mark.parametrize("gpu_servers", ["abc", "aab", "aabb", "abbc", "abcd"])
@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_optimum_where_much_is_alike(gpu_servers: str, objective: Objective) -> None:
    """Tests that symmetry breaking keeps an optimum: like GPUs, like servers and like tasks, all at once."""
    m = len(gpu_servers)
    for durations, data in (((1, 3, 3, 3, 1), 3), ((2, 4, 4, 4, 0), 5), ((0, 2, 2, 2, 3), 2)):
        edges = [(0, task, data) for task in (1, 2, 3)] + [(task, 4, data) for task in (1, 2, 3)]
        instance = DagInstance.from_lists(
            [[ticks] * m for ticks in durations],
            edges,
            bytes_per_tick=2.0,
            gpu_servers=list(gpu_servers),
            task_memory=[1] * 5,
            gpu_memory=[2] * m,
            job_of_task=[0, 1, 1, 1, 0],
            release=[0, 1],
            weight=[2, 1],
        )
        classes = interchangeable(instance)
        assert classes.tasks
        assert classes.gpus or classes.servers
        schedule = assert_optimum(instance, objective)
        assert schedule is not None
        assert_hint_is_complete(instance, schedule, objective)


@pytest.mark.parametrize("gpu_servers", [["a", "a", "b", "b"], ["a", "b", "b", "c"]])
def test_transfers_follow_their_tasks_into_the_normal_form(gpu_servers: list[str]) -> None:
    """Tests that swaps of like tasks, GPUs and servers take the transfers along, so that hints stay right."""
    instance = like_tasks(gpu_servers)
    classes = interchangeable(instance)
    assert [len(tasks) for tasks in classes.tasks] == [3, 2]
    moved = 0
    for seed in range(24):
        schedule = random_placement(instance, np.random.default_rng(seed), contention=Contention.NIC)
        assert schedule is not None
        assert schedule.transfer_start is not None
        again = normal_form(instance, classes, schedule)
        assert verify_dag_schedule(instance, again, Contention.NIC) == []
        for objective in FINISH_OBJECTIVES:
            assert objective_value(instance, again, objective) == objective_value(instance, schedule, objective)
        moved += (again.transfer_start != schedule.transfer_start).any()
        assert_hint_is_complete(instance, schedule, Objective.MAKESPAN)
    assert moved >= 6


def test_one_server_adds_nothing() -> None:
    """Tests that on one server the model has no transfers of its own, and its schedules no starts of transfers."""
    instance = changed(contended_instance(1), gpu_servers=("s",) * contended_instance(1).num_gpus)
    model = build(instance, Objective.MAKESPAN)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    plain = CpSatModel(instance, Objective.MAKESPAN, within)
    assert model is not None
    assert len(model.proto_model.proto.variables) == len(plain.proto_model.proto.variables)
    assert model.num_literals == plain.num_literals
    schedule = assert_optimum(instance, Objective.MAKESPAN)
    assert schedule is not None
    assert schedule.transfer_start.tolist() == [-1] * instance.num_edges


def test_few_literals_per_edge() -> None:
    """Tests that an edge takes two literals per server none per pair of GPUs, and equal links no more."""
    instance = DagInstance.from_lists([[1] * 6] * 2, [(0, 1, 4)], latency=2, gpu_servers=["a", "a", "b", "b", "c", "c"])
    model = build(instance, Objective.MAKESPAN)
    assert model is not None
    # 2 x 6 for GPUs, 1 for the delay, 2 x 3 for servers, 3 + 3 for leaving and entering.
    assert model.num_literals == 12 + 1 + 6 + 6
    names = [variable.name for variable in model.proto_model.proto.variables]
    assert [name for name in names if name.startswith(("transfer", "delay[0]", "arrival"))] == [
        "delay[0]>=6",
        "transfer[0]",
    ]


def test_hint_without_starts_of_transfers_is_left_out() -> None:
    """Tests that a schedule that lacks what contention needs gives no hint at all, not part of one."""
    instance = like_tasks(["a", "b", "c", "d"])
    model, schedule = build(instance, Objective.MAKESPAN), heft(instance)
    assert model is not None
    assert schedule is not None
    assert verify_dag_schedule(instance, schedule, Contention.NIC) != []
    model.hint(schedule)
    assert list(model.proto_model.proto.solution_hint.vars) == []
