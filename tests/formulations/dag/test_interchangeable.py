"""Tests of what may be swapped."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.interchangeable import first_use, first_use_order, interchangeable, normal_form
from instances.clusters.cluster import parse_cluster
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.solve import solve
from tests.brute_force import optimum
from tests.strategies import changed


def _with_servers(durations: list[list[int]], servers: list[str], **fields: object) -> DagInstance:
    """Make an instance whose GPUs stand on servers: latency 1 within one, 3 between two."""
    latency = [[0 if k == l else 1 if a == b else 3 for l, b in enumerate(servers)] for k, a in enumerate(servers)]
    instance = DagInstance.from_lists(durations, latency=latency, **fields)  # type: ignore[arg-type]
    return changed(instance, gpu_servers=tuple(servers))


def test_like_gpus_of_a_cluster_are_found() -> None:
    """Tests that the four pairs of like GPUs of a cluster are classes, and that unlike servers are none."""
    classes = interchangeable(generate("layered", tasks=12, seed=1, cluster=parse_cluster("mixed-8")))
    assert classes.gpus == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert classes.servers == ()


def test_like_servers_are_found() -> None:
    """Tests that two servers of eight like GPUs are one class of servers, and the GPUs of each one class."""
    classes = interchangeable(generate("layered", tasks=12, seed=1, cluster=parse_cluster("dgx-a100-pair")))
    assert classes.gpus == (tuple(range(8)), tuple(range(8, 16)))
    assert classes.servers == ((tuple(range(8)), tuple(range(8, 16))),)


def test_data_decide_and_not_names() -> None:
    """Tests that GPUs with another duration, memory or link are no class, and like ones on servers of their own are."""
    assert interchangeable(_with_servers([[2, 2]], ["a", "b"])).gpus == ((0, 1),)
    assert interchangeable(_with_servers([[2, 3]], ["a", "b"])).gpus == ()
    assert interchangeable(_with_servers([[2, 2]], ["a", "b"], gpu_memory=[4, 5])).gpus == ()
    three = _with_servers([[2, 2, 2]], ["a", "a", "b"])
    assert interchangeable(three).gpus == ((0, 1),)
    latency = three.latency.copy()
    latency[0, 2] = 9
    assert interchangeable(changed(three, latency=latency)).gpus == ()
    latency = np.array(_with_servers([[2, 2]], ["a", "b"]).latency)
    latency[0, 1] += 1  # one way only
    assert interchangeable(changed(_with_servers([[2, 2]], ["a", "b"]), latency=latency)).gpus == ()


def test_like_tasks_have_the_same_data_and_neighbours() -> None:
    """Tests that tasks are alike only with equal durations, memory, job, neighbours and bytes."""
    durations = [[1, 2], [3, 3], [3, 3], [3, 3], [3, 4]]
    edges = [(0, 1, 5), (0, 2, 5), (0, 3, 6), (0, 4, 5)]
    assert interchangeable(DagInstance.from_lists(durations, edges)).tasks == ((1, 2),)


def test_order_of_first_use_starts_at_the_narrow_end() -> None:
    """Tests that a fork is taken from its source and a join from its sink."""
    fork = DagInstance.from_lists([[1]] * 4, [(0, 1, 0), (0, 2, 0), (0, 3, 0)])
    join = DagInstance.from_lists([[1]] * 4, [(0, 3, 0), (1, 3, 0), (2, 3, 0)])
    assert first_use_order(fork)[0] == 0
    assert first_use_order(join)[0] == 3


@st.composite
def _symmetric_instances(draw: st.DrawFn) -> DagInstance:
    """Draw small instances with like GPUs, like servers and like tasks."""
    n = draw(st.integers(1, 5))
    kinds = draw(st.integers(1, 2))
    per_kind = draw(st.integers(1, 2 if kinds > 1 else 3))
    columns = [draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)) for _ in range(kinds)]
    if draw(st.booleans()):
        columns = [columns[0]] * kinds  # like servers
    rows = [[columns[kind][task] for kind in range(kinds) for _ in range(per_kind)] for task in range(n)]
    if n > 1 and draw(st.booleans()):
        rows[1] = rows[0]
    alone = draw(st.booleans())
    servers = [f"s{gpu}" if alone else f"s{gpu // per_kind}" for gpu in range(kinds * per_kind)]
    pairs = [(tail, head) for head in range(n) for tail in range(head)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=5)) if pairs else []
    room = draw(st.one_of(st.none(), st.integers(5, 8)))
    return _with_servers(
        rows,
        servers,
        edges=[(*pair, draw(st.integers(0, 3))) for pair in edges],
        task_memory=[1] * n,
        gpu_memory=[room] * len(servers),
    )


@given(instance=_symmetric_instances(), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=120, deadline=None)
def test_symmetry_breaking_keeps_an_optimum(instance: DagInstance, objective: Objective) -> None:
    """Tests that CP-SAT with symmetry breaking proves what brute force finds where much can be swapped."""
    result = solve(instance, "cp-sat", objective=objective, threads=1, bounds=[])
    assert (result.objective, result.lower_bound) == (optimum(instance, objective),) * 2


@given(data=st.data(), instance=_symmetric_instances())
@settings(max_examples=120, deadline=None)
def test_normal_form_is_right_and_as_good(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that the normal form of a schedule verifies, costs the same, uses classes in order and stays as it is."""
    classes = interchangeable(instance)
    start = solve(instance, "random", seed=data.draw(st.integers(0, 99))).schedule
    assert start is not None
    normal = normal_form(instance, classes, start)
    assert verify_dag_schedule(instance, normal) == []
    for objective in FINISH_OBJECTIVES:
        assert objective_value(instance, normal, objective) == objective_value(instance, start, objective)
    in_order = normal.gpu[first_use_order(instance)]
    for gpus in classes.gpus:
        uses = [first_use(in_order, [k]) for k in gpus]
        assert uses == sorted(uses)
    for servers in classes.servers:
        uses = [first_use(in_order, gpus) for gpus in servers]
        assert uses == sorted(uses)
    for tasks in classes.tasks:
        assert (np.diff(normal.start[list(tasks)]) >= 0).all()
    again = normal_form(instance, classes, normal)
    assert again.gpu.tolist() == normal.gpu.tolist()


def test_normal_form_of_a_schedule_by_hand() -> None:
    """Tests that the second GPU becomes the first one where it is used first."""
    instance = _with_servers([[2, 2], [2, 2]], ["a", "a"], edges=[(0, 1, 1)])
    schedule = DagSchedule(gpu=np.array([1, 0]), start=np.array([0, 4]), instance=instance)
    assert normal_form(instance, interchangeable(instance), schedule).gpu.tolist() == [0, 1]
