"""Tests that what is refuted is false, and that what is known of a makespan is true of every schedule within it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.probing.refuter import Refuter
from formulations.dag.windows import horizon
from heuristics.search.stop_criteria import MaxEvaluations
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.generators.dag.generate import generate
from solvers.solve import solve
from tests.brute_force import optimum
from tests.strategies import changed, dag_instances

some = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def refuter(instance: DagInstance) -> Refuter:
    """Return a refuter that begins with join-aware heads and tails."""
    return Refuter(instance, heads_and_tails(instance))


@given(instance=dag_instances(max_tasks=7), slack=st.integers(0, 4), passes=st.integers(0, 3))
@some
def test_optimum_survives(instance: DagInstance, slack: int, passes: int) -> None:
    """Tests that no makespan from the optimum on is refuted, and that it needs none of the pairs that are removed."""
    best = optimum(instance)
    if best is None:
        return
    known = refuter(instance).refute(best + slack, passes=passes)
    assert known is not None
    assert known.allowed.any(axis=1).all()
    assert not (known.allowed & ~instance.allowed).any()
    assert optimum(changed(instance, durations=np.where(known.allowed, instance.durations, -1))) == best


@pytest.mark.parametrize("family", ["layered", "erdos-renyi", "fork-join", "cholesky", "transformer", "multi-tenant"])
@pytest.mark.parametrize("seed", [1, 2])
def test_schedules_lie_within(family: str, seed: int) -> None:
    """Tests that verified schedules of 25 tasks start and finish within the windows of their own makespan."""
    cost = CostModel(ccr=[0.5, 2.0][seed - 1], memory_tightness=[None, 0.8][seed - 1], forbidden=0.1)
    instance = generate(family, tasks=25, seed=seed, cost=cost)
    tests = refuter(instance)
    for method in ("heft", "peft", "min-min", "woa"):
        stop = MaxEvaluations(300) if method == "woa" else None
        result = solve(instance, method, seed=seed, stop=stop, bounds=[])
        if result.schedule is None:
            continue
        known = tests.refute(result.objective, passes=2)
        assert known is not None
        gpu, task = result.schedule.gpu, np.arange(instance.num_tasks)
        assert known.allowed[task, gpu].all()
        assert (result.schedule.start >= known.heads[task, gpu]).all()
        finish = result.schedule.start + instance.durations[task, gpu]
        assert (finish + known.tails[task, gpu] <= result.objective).all()


def test_exclusive_gpu_orders_two_tasks() -> None:
    """Tests by hand: on one GPU within 9 ticks, the task that is released at 3 comes after the one with a long tail."""
    instance = DagInstance.from_lists(
        [[4, None], [3, None], [None, 2]], [(0, 2, 0)], job_of_task=[0, 1, 0], release=[0, 3]
    )
    known = refuter(instance).refute(9)
    assert known is not None
    assert known.heads[:, 0].tolist()[:2] == [0, 4]  # 1 before 0 would end at 3 + 3 + 4 + 2 = 12
    assert known.tails[:, 0].tolist()[:2] == [3, 0]
    assert refuter(instance).refute(6) is None


def test_probing_knows_more() -> None:
    """Tests that probing refutes what loads do not, on a graph of 30 tasks, and never the other way round."""
    instance = generate("cholesky", tasks=35, seed=3, cost=CostModel(ccr=3.0))
    tests, latest = refuter(instance), horizon(instance)
    by_loads = tests.climb(0, horizon=latest)
    by_probing = tests.climb(by_loads, passes=2, horizon=latest)
    assert by_probing > by_loads
    assert tests.refute(by_loads) is None
    assert tests.refute(by_loads + 1) is not None


def test_probing_gpus_and_windows_of_small_instances() -> None:
    """Tests two makespans one tick below the optimum that only probing refutes.

    Within 6 ticks one GPU is left with 1 or 2 ticks beside task 3; the other tasks need 8 of the other GPU, or tasks 1
    and 2 are apart and wait for a transfer. That follows when the GPUs of a task are tried. Without edges, five tasks
    do not fit into 8 ticks, which follows when the halves of a task's window are tried.
    """
    by_gpu = DagInstance.from_lists([[3, 3], [2, 3], [2, 2], [5, 4]], [(1, 2, 3)])
    by_window = DagInstance.from_lists([[5, 3], [5, 3], [4, 4], [4, 5], [1, 3]])
    for instance, best in ((by_gpu, 7), (by_window, 9)):
        assert optimum(instance) == best
        assert refuter(instance).refute(best - 1) is not None
        assert refuter(instance).refute(best - 1, passes=1) is None


def test_work_is_limited_and_repeatable() -> None:
    """Tests that the same limit on work gives the same makespan after the same work, and a smaller one less of both."""
    instance = generate("layered", tasks=40, seed=1, cost=CostModel(ccr=1.0))
    latest, climbs = horizon(instance), []
    for most_work in (10**7, 10**7, 10**5):
        tests = refuter(instance)
        climbs.append((tests.climb(0, passes=2, most_work=most_work, horizon=latest), tests.work))
    assert climbs[0] == climbs[1]
    assert climbs[2][1] < climbs[0][1] < 3 * 10**7
    assert climbs[2][0] <= climbs[0][0]


def test_climb_ends_at_the_horizon() -> None:
    """Tests that an instance without any schedule does not climb for ever: four tasks, room for three."""
    instance = DagInstance.from_lists([[1, 1]] * 4, task_memory=[2] * 4, gpu_memory=[3, 5])
    assert optimum(instance) is None
    assert refuter(instance).climb(0, horizon=horizon(instance)) <= horizon(instance) == 4


def test_memory_is_a_load() -> None:
    """Tests that four tasks, of which two fit on the fast GPU, are known to need the slow one for 20 ticks."""
    instance = DagInstance.from_lists([[1, 10]] * 4, task_memory=[1] * 4, gpu_memory=[2, None])
    assert refuter(instance).refute(19) is None
    assert refuter(instance).refute(20) is not None


def test_very_long_ticks_do_not_overflow(heft_example: DagInstance) -> None:
    """Tests the HEFT example with ticks 2**40 times as many: the bound is the multiple, to within rounding."""
    factor = 2**40
    long = changed(
        heft_example,
        durations=heft_example.durations * factor,
        edge_bytes=heft_example.edge_bytes * factor,
        latency=heft_example.latency * factor,
    )
    climbed = refuter(long).climb(0, horizon=horizon(long))
    assert 72.9 * factor < climbed < 73 * factor
