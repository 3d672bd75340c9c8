"""Property tests of what must always hold under contention (design, section 6), with servers that are drawn too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.contention import Contention
from instances.dag.json import dag_schedule_from_json, dag_schedule_to_json
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from solvers.methods import METHODS, knows_contention
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force import optimum
from tests.brute_force_contention import optimum_with_nics
from tests.strategies import changed, dag_instances, reordered

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

KNOWING = [name for name, method in METHODS.items() if knows_contention(method.resolve())]
HEURISTICS = [name for name in KNOWING if METHODS[name].kind != "exact"]
few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
objectives = st.sampled_from(FINISH_OBJECTIVES)


@given(instance=dag_instances(max_tasks=5, servers=True), objective=objectives)
@many
def test_contention_never_lowers_the_optimum(instance: DagInstance, objective: Objective) -> None:
    """Tests that the optimum with contention is never below the one without, and the same on one server."""
    without, with_rule = optimum(instance, objective), optimum_with_nics(instance, objective)
    assert (without is None) == (with_rule is None)
    if without is not None and with_rule is not None:
        assert with_rule >= without
    together = changed(instance, gpu_servers=("s",) * instance.num_gpus)
    assert optimum_with_nics(together, objective) == without


@given(instance=dag_instances(max_tasks=5, servers=True), objective=objectives)
@few
def test_cp_sat_proves_the_optimum(instance: DagInstance, objective: Objective) -> None:
    """Tests that CP-SAT, given no bounds, proves what brute force finds, or that no schedule exists."""
    best = optimum_with_nics(instance, objective)
    result = solve(instance, "cp-sat", objective=objective, threads=1, seed=1, bounds=[], contention="nic")
    status = Status.INFEASIBLE if best is None else Status.OPTIMAL
    assert (result.status, result.objective, result.lower_bound) == (status, best, best)


@pytest.mark.parametrize("method", HEURISTICS)
@given(instance=dag_instances(max_tasks=5, servers=True), objective=objectives, seed=st.integers(0, 99))
@few
def test_no_heuristic_beats_the_optimum(method: str, instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that a heuristic's schedule verifies under contention and is never below the optimum."""
    stop = MaxEvaluations(15) if METHODS[method].kind == "search" else None
    result = solve(instance, method, objective=objective, seed=seed, stop=stop, contention="nic")
    if result.schedule is not None:
        assert verify_dag_schedule(instance, result.schedule, Contention.NIC) == []
        best = optimum_with_nics(instance, objective)
        assert best is not None
        assert result.objective is not None
        assert result.objective >= best


@pytest.mark.parametrize("method", HEURISTICS)
@given(instance=dag_instances(max_tasks=7, max_gpus=4, memory=False, servers=True), seed=st.integers(0, 99))
@few
def test_every_heuristic_schedules_without_memory_limits(method: str, instance: DagInstance, seed: int) -> None:
    """Tests that without memory limits every heuristic returns a schedule, which survives a file."""
    stop = MaxEvaluations(5) if METHODS[method].kind == "search" else None
    schedule = solve(instance, method, seed=seed, stop=stop, contention="nic", bounds=[]).schedule
    assert schedule is not None
    assert schedule.transfer_start is not None
    again = dag_schedule_from_json(dag_schedule_to_json(instance, schedule), instance)
    assert again.transfer_start is not None
    assert again.transfer_start.tolist() == schedule.transfer_start.tolist()


@given(data=st.data(), instance=dag_instances(max_tasks=5, servers=True), objective=objectives)
@few
def test_order_of_tasks_and_gpus_is_no_matter(data: st.DataObject, instance: DagInstance, objective: Objective) -> None:
    """Tests that reordering tasks and GPUs, with their servers, leaves the optimum and what CP-SAT proves as it is."""
    tasks = data.draw(st.permutations(range(instance.num_tasks)))
    gpus = data.draw(st.permutations(range(instance.num_gpus)))
    other = reordered(instance, list(tasks), list(gpus))
    best = optimum_with_nics(instance, objective)
    assert optimum_with_nics(other, objective) == best
    assert solve(other, "cp-sat", objective=objective, threads=1, bounds=[], contention="nic").objective == best


@given(instance=dag_instances(max_tasks=5, servers=True, unit_bandwidth=True), factor=st.integers(2, 5))
@few
def test_longer_times_scale_the_optimum(instance: DagInstance, factor: int) -> None:
    """Tests that multiplying all times by an integer multiplies the optimum."""
    longer = changed(
        instance,
        durations=np.where(instance.durations < 0, -1, instance.durations * factor),
        latency=instance.latency * factor,
        edge_bytes=instance.edge_bytes * factor,
        release=instance.release * factor,
    )
    best = optimum_with_nics(instance)
    assert optimum_with_nics(longer) == (None if best is None else best * factor)


@given(data=st.data(), instance=dag_instances(max_tasks=5, servers=True))
@many
def test_relaxing_never_hurts(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that more bandwidth or one edge less never raises the optimum."""
    best = optimum_with_nics(instance)
    easier = changed(instance, bytes_per_tick=instance.bytes_per_tick * 2)
    if instance.num_edges and data.draw(st.booleans()):
        gone = data.draw(st.integers(0, instance.num_edges - 1))
        kept = np.delete(np.arange(instance.num_edges), gone)
        easier = changed(instance, edges=instance.edges[kept], edge_bytes=instance.edge_bytes[kept])
    relaxed = optimum_with_nics(easier)
    assert best is None or (relaxed is not None and relaxed <= best)


@given(data=st.data(), instance=dag_instances(max_tasks=5, servers=True))
@many
def test_verifier_agrees_with_the_rule_tick_by_tick(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that any schedule, right or wrong, is accepted exactly if a naive reading of all constraints accepts it."""
    gpu = [data.draw(st.integers(0, instance.num_gpus - 1)) for _ in range(instance.num_tasks)]
    if any(instance.durations[task, k] < 0 for task, k in enumerate(gpu)):
        return
    # Right by construction without contention, then shaken: so that right schedules are among them.
    start, finish = [0] * instance.num_tasks, [0] * instance.num_tasks
    transfer_start = [data.draw(st.integers(-1, 3)) for _ in range(instance.num_edges)]
    free = [0] * instance.num_gpus
    for task in instance.topological_order.tolist():
        start[task] = max(int(instance.release[instance.job_of_task[task]]), free[gpu[task]])
        for edge in np.flatnonzero(instance.edges[:, 1] == task).tolist():
            tail = int(instance.edges[edge, 0])
            transfer_start[edge] = finish[tail] + data.draw(st.integers(0, 3))
            delay = int(instance.transfer_delays(edge)[gpu[tail], gpu[task]])
            start[task] = max(start[task], transfer_start[edge] + delay)
        start[task] += data.draw(st.sampled_from([0, 0, 0, 1, -1]))
        finish[task] = free[gpu[task]] = start[task] + int(instance.durations[task, gpu[task]])
    schedule = DagSchedule(gpu=gpu, start=start, transfer_start=transfer_start)
    accepted = verify_dag_schedule(instance, schedule, Contention.NIC) == []
    without = verify_dag_schedule(instance, schedule) == []
    assert accepted == (without and _transfers_are_right(instance, gpu, start, transfer_start))


def _transfers_are_right(instance: DagInstance, gpu: list[int], start: list[int], transfer_start: list[int]) -> bool:
    """Check the transfers between servers tick by tick."""
    busy: set[tuple[str, str, int]] = set()
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        source, target = instance.gpu_servers[gpu[tail]], instance.gpu_servers[gpu[head]]
        delay = int(instance.transfer_delays(edge)[gpu[tail], gpu[head]])
        if source == target or delay == 0:
            continue
        begin = transfer_start[edge]
        if begin == -1 or begin < start[tail] + instance.durations[tail, gpu[tail]] or begin + delay > start[head]:
            return False
        for tick in range(begin, begin + delay):
            sides = {(source, "out", tick), (target, "in", tick)}
            if busy & sides:
                return False
            busy |= sides
    return True
