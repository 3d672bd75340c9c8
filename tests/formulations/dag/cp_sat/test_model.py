"""Tests of the CP-SAT model: complete hints, both kinds of links, and nothing beyond the windows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.interchangeable import interchangeable, normal_form
from formulations.dag.probing.windows import windows
from heuristics.dag.list_scheduling import heft, random_placement
from instances.clusters.cluster import parse_cluster
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from tests.brute_force import optimum
from tests.strategies import changed, dag_instances

OBJECTIVES = st.sampled_from(FINISH_OBJECTIVES)
some = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def build(
    instance: DagInstance, objective: Objective, at_most: int | None = None, *, is_proof: bool = True
) -> CpSatModel:
    """Return a model within the windows of an upper bound, by default with an order for each pair of tasks."""
    within = windows(instance, objective, lower_bound=0, objective_at_most=at_most)
    return CpSatModel(instance, objective, within, is_proof=is_proof)


def solved(model: CpSatModel, *, fix_to_hint: bool = False) -> tuple[cp_model.CpSolverStatus, cp_model.CpSolver]:
    """Solve with one thread."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.fix_variables_to_their_hinted_value = fix_to_hint
    return solver.solve(model.proto_model), solver


def assert_hint_is_complete(
    instance: DagInstance, schedule: DagSchedule, objective: Objective, *, is_proof: bool = True
) -> None:
    """Check that a hint covers every variable, fulfils every row, and means exactly the schedule's objective."""
    value = objective_value(instance, schedule, objective)
    model = build(instance, objective, value, is_proof=is_proof)
    model.hint(schedule)
    proto = model.proto_model.proto
    assert sorted(proto.solution_hint.vars) == list(range(len(proto.variables)))
    status, solver = solved(model, fix_to_hint=True)
    assert status == cp_model.OPTIMAL
    assert round(solver.objective_value) == value
    again = model.schedule(solver.value)
    assert again.gpu.tolist() == normal_form(instance, interchangeable(instance), schedule).gpu.tolist()
    assert verify_dag_schedule(instance, again) == []


@given(instance=dag_instances(max_tasks=7), objective=OBJECTIVES, is_proof=st.booleans())
@some
def test_optimal_schedule_is_a_complete_hint(instance: DagInstance, objective: Objective, is_proof: bool) -> None:
    """Tests that an optimal schedule, hinted and fixed, is feasible with exactly the optimum."""
    best = optimum(instance, objective)
    if best is None:
        return
    model = build(instance, objective, is_proof=is_proof)
    status, solver = solved(model)
    assert (status, round(solver.objective_value)) == (cp_model.OPTIMAL, best)
    schedule = model.schedule(solver.value)
    assert objective_value(instance, schedule, objective) == best
    assert_hint_is_complete(instance, schedule, objective, is_proof=is_proof)


@given(instance=dag_instances(max_tasks=8), objective=OBJECTIVES, seed=st.integers(0, 99), is_proof=st.booleans())
@some
def test_any_schedule_is_a_complete_hint(
    instance: DagInstance, objective: Objective, seed: int, is_proof: bool
) -> None:
    """Tests the same for schedules of HEFT and at random, which the solver could improve if a variable were free."""
    for schedule in (heft(instance), random_placement(instance, np.random.default_rng(seed))):
        if schedule is not None:
            assert_hint_is_complete(instance, schedule, objective, is_proof=is_proof)


@pytest.mark.parametrize("cluster", ["mixed-8", "dgx-a100-pair", "identical-4"])
@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_hint_is_complete_where_much_can_be_swapped(cluster: str, objective: Objective, seed: int) -> None:
    """Tests hints with like GPUs and like servers, which are renamed into the order that the model wants."""
    instance = generate("fork-join", tasks=14, seed=seed, cluster=parse_cluster(cluster))
    for schedule in (heft(instance), random_placement(instance, np.random.default_rng(seed))):
        assert schedule is not None
        assert_hint_is_complete(instance, schedule, objective)


@given(instance=dag_instances(max_tasks=6), objective=OBJECTIVES, uniform=st.booleans())
@some
def test_both_kinds_of_links_give_the_optimum(instance: DagInstance, objective: Objective, uniform: bool) -> None:
    """Tests the optimum where delays depend on the link, and where all links are equal and fewer clauses do."""
    m = instance.num_gpus
    if uniform:
        instance = changed(instance, latency=np.full((m, m), 2), bytes_per_tick=np.full((m, m), 0.5))
    best = optimum(instance, objective)
    within = windows(instance, objective, lower_bound=0, objective_at_most=None)
    if within.is_empty:
        assert best is None
        return
    status, solver = solved(CpSatModel(instance, objective, within))
    if best is None:
        assert status == cp_model.INFEASIBLE
    else:
        assert (status, round(solver.objective_value)) == (cp_model.OPTIMAL, best)


def test_examples(example_e: DagInstance, join_example: DagInstance, window_example: DagInstance) -> None:
    """Tests the optima 15, 10 and 12 of the worked examples, without any start."""
    found = []
    for instance in (example_e, join_example, window_example):
        status, solver = solved(build(instance, Objective.MAKESPAN))
        assert status == cp_model.OPTIMAL
        found.append(round(solver.objective_value))
    assert found == [15, 10, 12]


def test_nothing_below_the_upper_bound(join_example: DagInstance) -> None:
    """Tests that windows for one tick less than the optimum hold no schedule."""
    within = windows(join_example, Objective.MAKESPAN, lower_bound=0, objective_at_most=9)
    assert within.is_empty or solved(CpSatModel(join_example, Objective.MAKESPAN, within))[0] == cp_model.INFEASIBLE


def test_hint_outside_the_windows_is_left_out(example_e: DagInstance) -> None:
    """Tests that a schedule on a removed pair gives no hint at all, not part of one."""
    model = build(example_e, Objective.MAKESPAN, 15)
    model.hint(DagSchedule(gpu=[1, 0, 0, 1, 0], start=[0, 20, 30, 50, 60]))
    assert list(model.proto_model.proto.solution_hint.vars) == []


def test_new_hint_replaces_the_old_one(example_e: DagInstance) -> None:
    """Tests that hinting twice hints no variable twice, which the solver would refuse."""
    model = build(example_e, Objective.MAKESPAN)
    best = DagSchedule(gpu=[0, 1, 0, 1, 0], start=[0, 8, 4, 12, 7])
    for schedule in (heft(example_e), best):
        model.hint(schedule)
    hinted = list(model.proto_model.proto.solution_hint.vars)
    assert len(hinted) == len(set(hinted))
    status, solver = solved(model, fix_to_hint=True)
    assert (status, round(solver.objective_value)) == (cp_model.OPTIMAL, 15)


@pytest.mark.parametrize("is_proof", [True, False])
@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_zero_durations_inside_other_tasks(objective: Objective, is_proof: bool) -> None:
    """Tests that a task of duration 0 may stand inside another one, as it occupies nothing."""
    instance = DagInstance.from_lists(
        [[10], [2], [0], [3]], [(1, 2, 0), (2, 3, 0)], job_of_task=[0, 1, 1, 1], release=[0, 0], weight=[1, 0]
    )
    status, solver = solved(build(instance, objective, is_proof=is_proof))
    assert (status, round(solver.objective_value)) == (cp_model.OPTIMAL, 15 if objective is Objective.MAKESPAN else 10)


def test_order_of_each_pair_where_no_overlap_proves_a_wrong_optimum() -> None:
    """Tests the optimum 572 of a mixture of experts, of which CP-SAT says 573 with NoOverlap (tests/canaries)."""
    cluster = parse_cluster("mixed-3")
    instance = generate("mixture-of-experts", tasks=20, seed=252_923, cluster=cluster)
    model = build(instance, Objective.MAKESPAN)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 0
    assert solver.solve(model.proto_model) == cp_model.OPTIMAL
    assert round(solver.objective_value) == 572
    assert verify_dag_schedule(instance, model.schedule(solver.value)) == []
