"""Tests of refuting makespans by placement, memory and transfers: exact where instances are tiny, silent elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.refuted_makespans import probing
from heuristics.dag.list_scheduling import heft
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.backends import cp_sat as cp_sat_module
from solvers.backends import memory_refutation as module
from solvers.backends.cp_sat import cp_sat
from solvers.backends.memory_refutation import MemoryRefutation, is_memory_binding, memory_refutation
from tests.brute_force import optimum
from tests.runs import run_with
from tests.tiny_instances import tiny_instance

if TYPE_CHECKING:
    from instances.dag.schedule import DagSchedule


def climbed(instance: DagInstance, schedule: DagSchedule | None = None, effort: float = 5.0) -> MemoryRefutation:
    """Return what is known after a climb from nothing, or from a schedule."""
    refutation = MemoryRefutation(instance, schedule, 0, run_with(threads=1, seed=0))
    refutation.climb(effort)
    return refutation


def check_climb(instance: DagInstance) -> None:
    """Check that a climb ends with an optimal schedule that verifies, from nothing and from a schedule of HEFT."""
    best = optimum(instance)
    start = heft(instance)
    for refutation in (climbed(instance), climbed(instance, start)):
        assert refutation.bound <= best
        if not is_memory_binding(instance):
            continue
        assert refutation.bound == best
        if refutation.schedule is not None:  # none where probing alone refuted all that is below the horizon
            assert not verify_dag_schedule(instance, refutation.schedule)
            assert objective_value(instance, refutation.schedule, Objective.MAKESPAN) == best


@pytest.mark.parametrize("number", range(16))
def test_climb_ends_at_the_optimum(number: int) -> None:
    """Tests graphs of 4 to 10 tasks with memory 70 to 95 % full, forbidden pairs, like GPUs and releases."""
    check_climb(tiny_instance(number, is_tight=True))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2_000, 100))
def test_climb_on_2000_instances(first: int) -> None:
    """Tests the same on many more."""
    for number in range(first, first + 100):
        check_climb(tiny_instance(number, is_tight=True))


@pytest.fixture
def split_chain() -> DagInstance:
    """Return a chain of four tasks of which each GPU holds two: one transfer of 7 and one tick is forced."""
    return DagInstance.from_lists(
        [[2, 3]] * 4,
        [(0, 1, 7), (1, 2, 7), (2, 3, 7)],
        latency=[[0, 1], [1, 0]],
        task_memory=[1] * 4,
        gpu_memory=[2, 2],
    )


@pytest.fixture
def needs_search() -> DagInstance:
    """Return six tasks on four GPUs with tight memory, where transfers and loads bind together."""
    return tiny_instance(49, is_tight=True)


def test_split_chain(split_chain: DagInstance) -> None:
    """Tests by hand 2 + 2 + 8 + 3 + 3 = 18."""
    assert memory_refutation(split_chain, Objective.MAKESPAN) == 18 == optimum(split_chain)


def test_proves_more_than_probing(needs_search: DagInstance) -> None:
    """Tests an instance on which no bound without search proves the optimum."""
    assert probing(needs_search, Objective.MAKESPAN) == 36
    assert memory_refutation(needs_search, Objective.MAKESPAN) == 53 == optimum(needs_search)


def test_less_effort_proves_less(split_chain: DagInstance) -> None:
    """Tests that without effort the bound of the beginning remains, and no schedule."""
    refutation = climbed(split_chain, effort=0.0)
    assert (refutation.bound, refutation.schedule) == (0, None)


def test_an_undecided_makespan_is_no_bound(needs_search: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a climb ends where the solver decides nothing, with what probing refutes."""
    monkeypatch.setattr(MemoryRefutation, "_is_refuted", lambda self, *_: setattr(self, "effort", self.effort + 1))
    assert climbed(needs_search).bound <= probing(needs_search, Objective.MAKESPAN) < 53


def test_nothing_happens_where_memory_does_not_bind(example_e: DagInstance) -> None:
    """Tests that without binding memory the join-aware path remains, and that a climb begins nothing."""
    assert not is_memory_binding(example_e)
    assert memory_refutation(example_e, Objective.MAKESPAN) == join_aware_path(example_e, Objective.MAKESPAN)
    assert memory_refutation(example_e, Objective.WEIGHTED_COMPLETION) == 0
    assert (climbed(example_e).bound, climbed(example_e).effort) == (0, 0.0)


def test_infeasible_instance_ends_at_the_horizon() -> None:
    """Tests four tasks with room for three: the climb ends, without a schedule."""
    instance = DagInstance.from_lists([[1, 1]] * 4, task_memory=[2] * 4, gpu_memory=[3, 5])
    assert memory_refutation(instance, Objective.MAKESPAN) <= 4


@pytest.mark.parametrize("threads", [1, 2])
def test_cp_sat_takes_over_what_was_found(
    split_chain: DagInstance, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the phase after the first proof gives bound and schedule where the phases themselves find nothing."""
    nothing = cp_sat_module._Answer(
        schedule=None, lower_bound=None, is_infeasible=False, is_finished=False, seconds=0.0, effort=0.0
    )
    monkeypatch.setattr(cp_sat_module, "_solve_phase", lambda *_: nothing)
    monkeypatch.setattr(cp_sat_module, "MAX_PAIRS_FOR_PROBING", 0)  # no down-sets either
    monkeypatch.setattr(cp_sat_module, "is_narrow", lambda instance: False)  # nor a relaxed diagram
    outcome = cp_sat(split_chain, Objective.MAKESPAN, run_with(threads=threads, seed=0))
    assert outcome.schedule is not None
    assert objective_value(split_chain, outcome.schedule, Objective.MAKESPAN) == 18 == outcome.lower_bound
    monkeypatch.setattr(module, "is_memory_binding", lambda instance: False)
    assert cp_sat(split_chain, Objective.MAKESPAN, run_with(threads=threads, seed=0)).schedule is None
