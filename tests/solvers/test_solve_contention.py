"""Tests of solving and bounding under contention: what knows the rule, what is refused, and what a result says."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from heuristics.dag.list_scheduling import heft
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from solvers.bound_table import BoundTable
from solvers.conformance.check_method import check_instances
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN, METHODS, knows_contention
from solvers.problem import DAG
from solvers.result import Result, UnverifiedScheduleError
from solvers.run.bound import Bound
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force import optimum
from tests.brute_force_contention import optimum_with_nics
from tests.contended_instances import contended_instance
from tests.strategies import changed

KNOWING = [name for name, method in METHODS.items() if knows_contention(method.resolve())]
IGNORANT = [name for name in METHODS if name not in KNOWING]


@pytest.fixture(scope="module")
def join() -> DagInstance:
    """Three tasks on GPUs of their own before a fourth: optimum 7 without contention, 15 with it.

    Each takes 3 ticks, their transfers 4 ticks each into one interface: 3 + 3 * 4, and nothing of its own.
    """
    rows = [[None] * k + [3] + [None] * (3 - k) for k in range(3)] + [[None, None, None, 0]]
    return DagInstance.from_lists(
        rows, [(0, 3, 4), (1, 3, 4), (2, 3, 4)], gpu_servers=["a", "b", "c", "d"], name="join of three"
    )


def run(instance: DagInstance, method: str, objective: Objective, **options: object) -> Result:
    """Solve under contention with one thread and a small budget."""
    if METHODS[method].kind == "search":
        options["stop"] = MaxEvaluations(25)
    if METHODS[method].kind == "exact":
        options["threads"] = 1
    return solve(instance, method, objective=objective, contention="nic", seed=3, **options)


FREE_TRANSFERS = ("rtgs", "worl-rtgs", "ddqn-sampling", "ddqn")
"""Heuristics that know nothing of contention."""


def test_list_of_methods() -> None:
    """Tests that CP-SAT, list schedulers, floors and searches on random keys know the rule; all warm starts do.

    Methods that place by loads or by the network do not, whose transfers are free to overlap; they are refused.
    """
    assert {"cp-sat", "heft", "cpop", "peft", "etf", "min-min", "max-min"} <= set(KNOWING)
    assert {"round-robin", "random", "random-search", "woa"} <= set(KNOWING)
    assert set(DAG.warm_starts) <= set(KNOWING)
    assert {name for name in IGNORANT if METHODS[name].kind not in KINDS_WITH_RUN} == set(FREE_TRANSFERS)


@pytest.mark.parametrize("method", KNOWING)
def test_every_method_against_brute_force(method: str) -> None:
    """Tests on 12 seeded instances that schedules verify, none beats the optimum, and exact methods prove it."""
    found = 0
    for seed in range(12):
        instance, objective = contended_instance(seed), FINISH_OBJECTIVES[seed % 2]
        best = optimum_with_nics(instance, objective)
        options = {"bounds": []} if METHODS[method].kind == "exact" else {}
        result = run(instance, method, objective, **options)
        assert result.contention is Contention.NIC
        if METHODS[method].kind == "exact":
            status = Status.INFEASIBLE if best is None else Status.OPTIMAL
            assert (result.status, result.objective, result.lower_bound) == (status, best, best)
        if result.schedule is not None:
            assert verify_dag_schedule(instance, result.schedule, Contention.NIC) == []
            assert best is not None
            assert result.objective is not None
            assert result.objective >= best
            found += 1
    assert found >= 6


def _apart(instance: DagInstance) -> DagInstance:
    """Return an instance with each GPU on a server of its own."""
    return changed(instance, gpu_servers=tuple(f"s{k}" for k in range(instance.num_gpus)))


@functools.cache
def _bounds_apart(name: str, objective: Objective) -> list[Bound]:
    """Return the default bounds of such an instance of the kit, computed once for all heuristics."""
    (instance,) = [instance for instance in check_instances() if instance.name == name]
    return lower_bound(_apart(instance), objective=objective, contention="nic")


@pytest.mark.parametrize("method", KNOWING)
def test_check_instances_with_a_server_per_gpu(method: str) -> None:
    """Tests every method on the degenerate instances of the conformance kit, each GPU on a server of its own."""
    for instance in check_instances():
        apart = _apart(instance)
        for objective in FINISH_OBJECTIVES:
            options = {} if METHODS[method].kind == "exact" else {"bounds": _bounds_apart(instance.name, objective)}
            result = run(apart, method, objective, **options)
            if METHODS[method].kind == "exact":
                assert result.status is Status.OPTIMAL
            if result.schedule is None:
                assert (apart.gpu_memory >= 0).any()
            else:
                assert verify_dag_schedule(apart, result.schedule, Contention.NIC) == []
                assert result.schedule.transfer_start is not None
                assert len(result.schedule.transfer_start) == apart.num_edges


@pytest.mark.parametrize("method", KNOWING)
def test_one_server_is_as_without_contention(method: str) -> None:
    """Tests that on one server every method finds the schedule that it finds without the rule."""
    for seed in range(6):
        instance = contended_instance(seed)
        together = changed(instance, gpu_servers=("s",) * instance.num_gpus)
        options = {"stop": MaxEvaluations(25)} if METHODS[method].kind == "search" else {}
        if METHODS[method].kind == "exact":
            options["threads"] = 1
        with_rule = run(together, method, Objective.MAKESPAN)
        without = solve(together, method, seed=3, **options)
        assert (with_rule.objective, with_rule.lower_bound) == (without.objective, without.lower_bound)
        if METHODS[method].kind != "exact" and with_rule.schedule is not None and without.schedule is not None:
            assert with_rule.schedule.gpu.tolist() == without.schedule.gpu.tolist()
            assert with_rule.schedule.start.tolist() == without.schedule.start.tolist()
            assert with_rule.schedule.transfer_start.tolist() == [-1] * instance.num_edges


def test_optimum_with_and_without(join: DagInstance) -> None:
    """Tests both optima by hand, and that everything a result shows says which rule was kept."""
    assert (optimum(join), optimum_with_nics(join)) == (7, 15)
    without, result = solve(join, "cp-sat"), solve(join, "cp-sat", contention="nic")
    assert (without.objective, without.status) == (7, Status.OPTIMAL)
    assert (result.objective, result.status) == (15, Status.OPTIMAL)
    assert result.schedule is not None
    assert sorted(result.schedule.transfer_start.tolist()) == [3, 7, 11]
    assert (without.to_dict()["contention"], result.to_dict()["contention"]) == ("none", "nic")
    json.dumps(result.to_dict())
    assert "contention" not in without.summary()
    assert result.summary()["contention"] == "nic"
    assert "\n    contention: nic\n" in str(result)


@pytest.mark.parametrize("method", IGNORANT)
def test_methods_without_the_rule_are_refused(method: str, join: DagInstance) -> None:
    """Tests that a method that does not know contention is refused in one line, by both doors, and runs without it."""
    message = f"contention: expected none for {method}, which does not know the rule, got nic."
    doors = [lambda: solve(join, method, contention="nic")]
    if METHODS[method].kind == "exact":
        doors.append(lambda: lower_bound(join, methods=[method], contention="nic"))
    for call in doors:
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value) == message


def test_own_functions(join: DagInstance) -> None:
    """Tests that a function that names contention is given it, one that does not is refused, one that binds it too."""
    given: list[object] = []

    def knows(instance: DagInstance, contention: Contention) -> DagSchedule | None:
        given.append(contention)
        return heft(instance, contention=contention)

    assert solve(join, knows, contention="nic").objective == 15
    assert solve(join, knows).objective == 7
    assert given == [Contention.NIC, Contention.NONE]
    with pytest.raises(ValueError, match="contention: expected none for <lambda>, which does not know the rule"):
        solve(join, lambda instance: heft(instance), contention="nic")
    with pytest.raises(ValueError, match="contention: expected to be left to solve"):
        solve(join, functools.partial(heft, contention=Contention.NIC))


def test_schedule_that_breaks_the_rule_is_refused(join: DagInstance) -> None:
    """Tests that a method whose schedule lacks or overlaps transfers gets no result, though it is right without."""

    def ignores(instance: DagInstance, contention: Contention) -> DagSchedule | None:
        return heft(instance)

    def overlaps(instance: DagInstance, contention: Contention) -> DagSchedule | None:
        return DagSchedule(gpu=[0, 1, 2, 3], start=[0, 0, 0, 20], transfer_start=[3, 5, 12])

    assert solve(join, ignores).objective == 7
    with pytest.raises(UnverifiedScheduleError, match=r"schedule with 3 violations. transfer_start\[0\]: expected"):
        solve(join, ignores, contention="nic")
    with pytest.raises(UnverifiedScheduleError, match="overlap by 2 ticks on the incoming side of server 'd'"):
        solve(join, overlaps, contention="nic")


def test_start_must_keep_the_rule(join: DagInstance) -> None:
    """Tests that a given start is verified under the rule, and is what the method begins with."""
    start = DagSchedule(gpu=[0, 1, 2, 3], start=[0, 0, 0, 15], transfer_start=[7, 3, 11])
    result = solve(join, "cp-sat", contention="nic", start=start)
    assert result.objective == 15
    with pytest.raises(ValueError, match="start: expected a schedule that verifies, got 3 violations"):
        solve(join, "cp-sat", contention="nic", start=DagSchedule(gpu=[0, 1, 2, 3], start=[0, 0, 0, 15]))


def test_bounds_say_what_they_rest_on(join: DagInstance) -> None:
    """Tests values and rules of bounds, and that one that rests on contention is refused where there is none."""
    table = lower_bound(join, contention="nic")
    values = {bound.method: (bound.value, bound.contention) for bound in table}
    assert values["join-aware-path"] == (7, Contention.NONE)
    assert values["nic-aware-path"] == (15, Contention.NIC)
    assert values["probing"] == (15, Contention.NIC)
    assert values["area"][1] is Contention.NONE
    assert "nic-aware-path" not in {bound.method for bound in lower_bound(join)}
    assert "contention nic" in str(table)
    assert table.to_dict()["contention"] == "nic"
    assert table[0].to_dict()["contention"] == "none"
    assert solve(join, "heft", bounds=list(table), contention="nic").gap == 0
    with pytest.raises(ValueError) as caught:
        solve(join, "heft", bounds=list(table))
    assert str(caught.value) == (
        "bounds: expected those that hold without contention, got one of nic-aware-path that rests on contention nic."
    )
    proven = lower_bound(join, methods=["cp-sat"], contention="nic")
    assert (proven[0].value, proven[0].is_optimum, proven[0].contention) == (15, True, Contention.NIC)
    assert solve(join, "heft", bounds=lower_bound(join, methods=["cp-sat"]), contention="nic").gap == 8 / 7


def test_bound_that_is_reached_by_area_holds_without_contention() -> None:
    """Tests that an optimum under contention whose proof knows nothing of it stays a bound without contention."""
    instance = DagInstance.from_lists([[4, 4]] * 2, gpu_servers=["a", "b"])
    result = solve(instance, "cp-sat", contention="nic")
    assert (result.status, result.objective) == (Status.OPTIMAL, 4)
    assert result.bound is not None
    assert (result.bound.contention, result.bound.is_optimum) == (Contention.NONE, True)


def test_unknown_rule_is_refused(join: DagInstance) -> None:
    """Tests that both doors refuse a rule that does not exist."""
    for call in (lambda: solve(join, contention="links"), lambda: lower_bound(join, contention="links")):
        with pytest.raises(ValueError, match="contention: expected one of none, nic, got 'links'"):
            call()


def test_confirmation_of_what_contention_proves(join: DagInstance) -> None:
    """Tests that CP-SAT with the rule confirms a bound that needs it, and that the MILP without the rule does not.

    The MILP finds schedules below the bound; they lack transfers, so they contradict nothing.
    """
    by_path = solve(join, "cp-sat", contention="nic", confirm=True)
    assert by_path.bound is not None
    assert (by_path.bound.method, by_path.bound.value) == ("nic-aware-path", 15)
    assert str(by_path.bound.confirmed_by).startswith("CP-SAT")
    by_search = solve(contended_instance(7), "cp-sat", contention="nic", threads=1, confirm=True)
    assert by_search.bound is not None
    assert (by_search.bound.method, by_search.bound.value, by_search.bound.confirmed_by) == ("cp-sat", 27, None)
    assert optimum_with_nics(contended_instance(7)) == 27


def test_infeasible_under_contention_is_infeasible() -> None:
    """Tests that an instance without any schedule has none under contention either."""
    instance = DagInstance.from_lists(
        [[1, 1]] * 3, [(0, 1, 3), (1, 2, 3)], task_memory=[2, 2, 2], gpu_memory=[3, 3], gpu_servers=["a", "b"]
    )
    result = solve(instance, "cp-sat", contention="nic", threads=1)
    assert (result.status, result.schedule, result.bound) == (Status.INFEASIBLE, None, None)


def test_result_and_table_default_to_no_contention(join: DagInstance) -> None:
    """Tests that what was made before there was a rule still is: no contention."""
    assert Bound(value=1, method="area", proof="by hand").contention is Contention.NONE
    assert BoundTable(instance=join, objective=Objective.MAKESPAN).contention is Contention.NONE


def test_repeatable_under_contention() -> None:
    """Tests that the same seed gives the same schedule and transfers, bit for bit."""
    instance = contended_instance(4)
    for method in KNOWING:
        first, second = (run(instance, method, Objective.MAKESPAN).schedule for _ in range(2))
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert np.array_equal(first.start, second.start)
            assert np.array_equal(first.gpu, second.gpu)
            assert np.array_equal(first.transfer_start, second.transfer_start)
