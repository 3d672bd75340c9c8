"""Property tests of what must always hold on the DAG problem (design, section 6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.json import (
    dag_instance_from_json,
    dag_instance_to_json,
    dag_schedule_from_json,
    dag_schedule_to_json,
)
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from solvers.bound_methods import BOUND_METHODS
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN, METHODS
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force import optimum
from tests.method_params import method_params
from tests.strategies import changed, dag_instances, reordered

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

EXACT = [name for name, method in METHODS.items() if method.kind == "exact"]
HEURISTICS = [name for name, method in METHODS.items() if method.kind != "exact"]
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
objectives = st.sampled_from(FINISH_OBJECTIVES)


def budget(method: str, evaluations: int) -> dict[str, object]:
    """Return a small budget for a heuristic; one thread where it could use more, so that runs can be repeated."""
    if METHODS[method].kind == "search":
        return {"stop": MaxEvaluations(evaluations)}
    return {"threads": 1} if METHODS[method].kind in KINDS_WITH_RUN else {}


@pytest.mark.parametrize("bound", BOUND_METHODS)
@given(instance=dag_instances(max_tasks=7), objective=objectives)
@many
def test_no_bound_exceeds_the_optimum(bound: str, instance: DagInstance, objective: Objective) -> None:
    """Tests that a lower bound is never above the optimum that brute force finds."""
    best = optimum(instance, objective)
    value = lower_bound(instance, objective=objective, methods=[bound])[0].value
    assert best is None or value <= best


@given(instance=dag_instances(max_tasks=7), objective=objectives)
@many
def test_path_bounds_are_ordered(instance: DagInstance, objective: Objective) -> None:
    """Tests that the join-aware path is never below the transfer-aware path, nor that below the critical path."""
    assume(optimum(instance, objective) is not None)  # else an excluded pair may leave a path without any GPU
    names = ["critical-path", "transfer-aware-path", "join-aware-path"]
    values = [bound.value for bound in lower_bound(instance, objective=objective, methods=names)]
    assert values == sorted(values)


@pytest.mark.parametrize("method", method_params(EXACT))
@given(data=st.data(), objective=objectives, threads=st.sampled_from([1, 2]))
@many
def test_exact_method_proves_the_optimum(method: str, data: st.DataObject, objective: Objective, threads: int) -> None:
    """Tests that every exact method, given no bounds, proves what brute force finds, or that no schedule exists."""
    instance = data.draw(dag_instances(max_tasks=METHODS[method].tiny_tasks))
    best = optimum(instance, objective)
    result = solve(instance, method, objective=objective, threads=threads, seed=1, bounds=[])
    if best is None:
        assert (result.status, result.objective, result.lower_bound) == (Status.INFEASIBLE, None, None)
    else:
        assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, best, best)


@pytest.mark.parametrize("method", HEURISTICS)
@given(instance=dag_instances(max_tasks=7), objective=objectives, seed=st.integers(0, 99))
@few
def test_no_heuristic_beats_the_optimum(method: str, instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that a heuristic's schedule verifies and its objective is never below the optimum."""
    result = solve(instance, method, objective=objective, seed=seed, **budget(method, 30))
    best = optimum(instance, objective)
    if result.schedule is not None:
        assert verify_dag_schedule(instance, result.schedule) == []
        assert best is not None
        assert result.objective >= best


@pytest.mark.parametrize("method", HEURISTICS)
@given(instance=dag_instances(max_tasks=7, memory=False), seed=st.integers(0, 99))
@few
def test_every_heuristic_schedules_without_memory_limits(method: str, instance: DagInstance, seed: int) -> None:
    """Tests that without memory limits every heuristic returns a schedule."""
    assert solve(instance, method, seed=seed, bounds=[], **budget(method, 5)).schedule is not None


@given(data=st.data(), instance=dag_instances(max_tasks=6), objective=objectives)
@many
def test_order_of_tasks_and_gpus_is_no_matter(data: st.DataObject, instance: DagInstance, objective: Objective) -> None:
    """Tests that reordering tasks and GPUs leaves optimum and bounds as they are."""
    tasks = data.draw(st.permutations(range(instance.num_tasks)))
    gpus = data.draw(st.permutations(range(instance.num_gpus)))
    other = reordered(instance, list(tasks), list(gpus))
    assert optimum(other, objective) == optimum(instance, objective)
    for name in ("critical-path", "transfer-aware-path", "join-aware-path"):
        values = [lower_bound(one, objective=objective, methods=[name])[0].value for one in (instance, other)]
        assert values[0] == values[1]


@given(data=st.data(), instance=dag_instances(max_tasks=6))
@few
def test_exact_optimum_ignores_order(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that CP-SAT proves the same optimum when tasks and GPUs are reordered."""
    tasks = data.draw(st.permutations(range(instance.num_tasks)))
    gpus = data.draw(st.permutations(range(instance.num_gpus)))
    other = reordered(instance, list(tasks), list(gpus))
    results = [solve(one, "cp-sat", threads=1, bounds=[]) for one in (instance, other)]
    assert results[0].objective == results[1].objective
    assert results[0].status == results[1].status


@given(instance=dag_instances(max_tasks=6))
@settings(few, max_examples=6)
def test_names_are_no_matter(instance: DagInstance) -> None:
    """Tests that renaming everything leaves the schedules of all methods as they are."""
    other = changed(
        instance,
        name="another",
        task_names=tuple(f"x{task}" for task in range(instance.num_tasks)),
        gpu_names=tuple(f"y{gpu}" for gpu in range(instance.num_gpus)),
    )
    for method in HEURISTICS:
        first, second = (
            solve(one, method, seed=3, bounds=[], **budget(method, 10)).schedule for one in (instance, other)
        )
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert first.gpu.tolist() == second.gpu.tolist()
            assert first.start.tolist() == second.start.tolist()


@given(instance=dag_instances(max_tasks=6, unit_bandwidth=True), factor=st.integers(2, 9), objective=objectives)
@many
def test_longer_times_scale_the_optimum(instance: DagInstance, factor: int, objective: Objective) -> None:
    """Tests that multiplying all times by an integer multiplies the optimum and the path bounds by it."""
    durations = np.where(instance.durations < 0, -1, instance.durations * factor)
    longer = changed(
        instance,
        durations=durations,
        edge_bytes=instance.edge_bytes * factor,  # bandwidth is 1 byte per tick
        latency=instance.latency * factor,
        release=instance.release * factor,
    )
    best = optimum(instance, objective)
    assert optimum(longer, objective) == (None if best is None else best * factor)
    result = solve(longer, "cp-sat", objective=objective, threads=1, bounds=[])
    assert result.objective == (None if best is None else best * factor)


@given(instance=dag_instances(max_tasks=6), extra=st.integers(0, 9), objective=objectives)
@many
def test_one_more_gpu_never_hurts(instance: DagInstance, extra: int, objective: Objective) -> None:
    """Tests that adding a GPU never raises the optimum."""
    m = instance.num_gpus
    links = np.pad(instance.latency, (0, 1), constant_values=1)
    speeds = np.pad(instance.bytes_per_tick, (0, 1), constant_values=2.0)
    wider = changed(
        instance,
        durations=np.column_stack([instance.durations, np.full(instance.num_tasks, extra)]),
        gpu_memory=np.append(instance.gpu_memory, -1),
        latency=links,
        bytes_per_tick=speeds,
        gpu_names=(*instance.gpu_names, f"g{m}"),
        gpu_kinds=(*instance.gpu_kinds, "GPU"),
        gpu_servers=(*instance.gpu_servers, "s0"),
    )
    before, after = optimum(instance, objective), optimum(wider, objective)
    assert after is not None
    assert before is None or after <= before


@given(data=st.data(), instance=dag_instances(max_tasks=6), objective=objectives)
@many
def test_relaxing_never_hurts(data: st.DataObject, instance: DagInstance, objective: Objective) -> None:
    """Tests that more bandwidth, less latency, more memory or one edge less never raises the optimum."""
    kind = data.draw(st.sampled_from(["bandwidth", "latency", "memory", "edge"]))
    if kind == "bandwidth":
        easier = changed(instance, bytes_per_tick=instance.bytes_per_tick * 2)
    elif kind == "latency":
        easier = changed(instance, latency=instance.latency // 2)
    elif kind == "memory":
        easier = changed(instance, gpu_memory=np.where(instance.gpu_memory < 0, -1, instance.gpu_memory + 3))
    elif instance.num_edges:
        gone = data.draw(st.integers(0, instance.num_edges - 1))
        kept = np.delete(np.arange(instance.num_edges), gone)
        easier = changed(instance, edges=instance.edges[kept], edge_bytes=instance.edge_bytes[kept])
    else:
        return
    before, after = optimum(instance, objective), optimum(easier, objective)
    assert before is None or (after is not None and after <= before)


@given(instance=dag_instances(max_tasks=7))
@many
def test_json_round_trips_are_exact(instance: DagInstance) -> None:
    """Tests that writing and reading an instance, with keys in any order, keeps its hash and its text."""
    text = dag_instance_to_json(instance)
    again = dag_instance_from_json(text)
    assert again.sha256 == instance.sha256
    assert dag_instance_to_json(again) == text
    shuffled = json.dumps(dict(reversed(json.loads(text).items())))
    assert dag_instance_from_json(shuffled).sha256 == instance.sha256


@given(instance=dag_instances(max_tasks=7, memory=False))
@few
def test_schedule_round_trips_are_exact(instance: DagInstance) -> None:
    """Tests that writing and reading a schedule keeps every start and GPU."""
    schedule = solve(instance, "heft").schedule
    assert schedule is not None
    again = dag_schedule_from_json(dag_schedule_to_json(instance, schedule), instance)
    assert again.gpu.tolist() == schedule.gpu.tolist()
    assert again.start.tolist() == schedule.start.tolist()


@given(data=st.data(), instance=dag_instances(max_tasks=6))
@many
def test_verifier_agrees_with_the_constraints_one_by_one(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that any schedule, right or wrong, is accepted exactly if a naive reading of the constraints accepts it."""
    n, m = instance.num_tasks, instance.num_gpus
    gpu = [data.draw(st.integers(0, m - 1)) for _ in range(n)]
    start = [data.draw(st.integers(0, 30)) for _ in range(n)]
    schedule = DagSchedule(gpu=np.array(gpu), start=np.array(start))
    assert (verify_dag_schedule(instance, schedule) == []) == _naively_right(instance, gpu, start)


@given(data=st.data(), instance=dag_instances(max_tasks=6, memory=False))
@many
def test_starting_earlier_breaks_a_tight_schedule(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that pulling one task of a list schedule forward is either still right or reported, never missed."""
    result = solve(instance, "heft")
    assert result.schedule is not None
    task = data.draw(st.integers(0, instance.num_tasks - 1))
    start = result.schedule.start.copy()
    start[task] -= data.draw(st.integers(1, 5))
    moved = DagSchedule(gpu=result.schedule.gpu, start=start)
    right = _naively_right(instance, moved.gpu.tolist(), start.tolist())
    assert (verify_dag_schedule(instance, moved) == []) == right
    if right:
        assert objective_value(instance, moved, Objective.MAKESPAN) >= optimum(instance)


def _naively_right(instance: DagInstance, gpu: list[int], start: list[int]) -> bool:
    """Check a schedule tick by tick."""
    durations = instance.durations
    if any(durations[task, k] < 0 for task, k in enumerate(gpu)):
        return False
    busy: set[tuple[int, int]] = set()
    for task, k in enumerate(gpu):
        if start[task] < instance.release[instance.job_of_task[task]]:
            return False
        for tick in range(start[task], start[task] + int(durations[task, k])):
            if (k, tick) in busy:
                return False
            busy.add((k, tick))
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        arrival = start[tail] + durations[tail, gpu[tail]] + instance.transfer_delays(edge)[gpu[tail], gpu[head]]
        if start[head] < arrival:
            return False
    used = np.bincount(gpu, weights=instance.task_memory, minlength=instance.num_gpus)
    return bool(((instance.gpu_memory < 0) | (used <= instance.gpu_memory)).all())
