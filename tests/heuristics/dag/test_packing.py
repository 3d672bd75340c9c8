"""Tests of the assignment that memory holds, and of the list schedules that are repaired with it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.dynamic_list_scheduling import etf, max_min, min_min
from heuristics.dag.list_scheduling import cpop, heft, peft, random_placement, round_robin
from heuristics.dag.packing import Packing, pack
from heuristics.dag.worl_rtgs.ddqn import ddqn
from heuristics.dag.wspt import wspt
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.verify import verify_dag_schedule
from solvers.run.outcome import Status
from solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.schedule import DagSchedule

METHODS: list[Callable[..., DagSchedule | None]] = [cpop, etf, heft, max_min, min_min, peft, round_robin]


@st.composite
def tight_instances(draw: st.DrawFn, *, max_tasks: int) -> DagInstance:
    """Draw instances whose memory all tasks together fill to the last bytes, with forbidden GPUs; few are feasible."""
    n, m = draw(st.integers(2, max_tasks)), draw(st.integers(2, 3))
    memory = [draw(st.integers(1, 6)) for _ in range(n)]
    spare, cuts = draw(st.integers(0, 3)), sorted(draw(st.integers(0, sum(memory))) for _ in range(m - 1))
    limits = [high - low + spare // m for low, high in zip([0, *cuts], [*cuts, sum(memory) + spare], strict=True)]
    limits[0] = max(*memory, *limits[:1])
    ticks = st.one_of(st.integers(1, 9), st.just(None))
    rows = [[draw(st.integers(1, 9)), *(draw(ticks) for _ in range(m - 1))] for _ in range(n)]
    pairs = [(tail, head) for head in range(n) for tail in range(head)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6))
    jobs = draw(st.integers(1, 2))
    return DagInstance.from_lists(
        rows,
        [(*pair, draw(st.integers(0, 12))) for pair in edges],
        task_memory=memory,
        gpu_memory=[None if draw(st.integers(0, 19)) == 0 else limit for limit in limits],
        job_of_task=[draw(st.integers(0, jobs - 1)) for _ in range(n)],
        release=[0, 3][:jobs],
        weight=[1, 2][:jobs],
        gpu_servers=[draw(st.sampled_from(["a", "b"])) for _ in range(m)],
    )


def fits_at_all(instance: DagInstance) -> bool:
    """Say whether memory holds all tasks under any assignment, by trying all of them."""
    limits = np.where(instance.gpu_memory < 0, instance.task_memory.sum(), instance.gpu_memory)
    for gpus in product(*(np.flatnonzero(row) for row in instance.allowed)):
        used = np.bincount(gpus, weights=instance.task_memory, minlength=instance.num_gpus)
        if (used <= limits).all():
            return True
    return False


def check_constructions(instance: DagInstance, seed: int) -> None:
    """Check that constructions have no schedule only where memory holds none, and that the packing proves that."""
    is_feasible, packing = fits_at_all(instance), pack(instance)
    assert packing.is_infeasible == (not is_feasible)
    assert (packing.home is None) == packing.is_infeasible
    rng = np.random.default_rng(seed)
    for rule in Contention:
        schedules = [method(instance, contention=rule) for method in METHODS]
        schedules += [method(instance, rng, contention=rule) for method in (random_placement, wspt)]
        for schedule in [*schedules, *([ddqn(instance)] if rule is Contention.NONE else [])]:
            assert (schedule is not None) == is_feasible
            assert schedule is None or verify_dag_schedule(instance, schedule, rule) == []


@given(instance=tight_instances(max_tasks=7), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_constructions_fail_only_where_memory_holds_no_assignment(instance: DagInstance, seed: int) -> None:
    """Tests all list schedulers, with and without contention, against an enumeration of all assignments."""
    check_constructions(instance, seed)


@pytest.mark.slow
@given(instance=tight_instances(max_tasks=10), seed=st.integers(0, 99))
@settings(max_examples=2_000, deadline=None)
def test_constructions_fail_only_where_memory_holds_no_assignment_at_length(instance: DagInstance, seed: int) -> None:
    """Tests the same on many more and larger instances."""
    check_constructions(instance, seed)


def test_equal_tasks_and_gpus_are_proved_in_few_states() -> None:
    """Tests that 17 tasks of which eight GPUs hold two each are refuted without all 8 to the power of 17 cases."""
    instance = DagInstance.from_lists([[1] * 8] * 17, task_memory=[3] * 17, gpu_memory=[8] * 8)
    assert pack(instance, most_states=1_000) == Packing(None, is_infeasible=True)
    result = solve(instance, "peft", bounds=[])
    assert (result.status, result.lower_bound) == (Status.INFEASIBLE, None)


def test_a_search_that_is_cut_off_proves_nothing() -> None:
    """Tests that too few states give neither an assignment nor a proof."""
    sizes = [7, 7, 6, 6, 5, 5, 4, 4]
    instance = DagInstance.from_lists([[1] * 4] * 8, task_memory=sizes, gpu_memory=[11] * 4)
    assert pack(instance, most_states=2) == Packing(None, is_infeasible=False)
    home = pack(instance).home
    assert home is not None
    assert np.bincount(home, weights=sizes).tolist() == [11] * 4
