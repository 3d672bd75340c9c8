"""Tests of proven lower bounds."""

from __future__ import annotations

import pytest

from instances import DagInstance, Objective
from solvers import Bound, lower_bound
from solvers import lower_bound as front_door
from solvers.lower_bound import BOUND_METHODS, best_bound
from solvers.versions import version_of


def test_published_example(heft_example: DagInstance) -> None:
    """Tests the published values by name, in the order in which they were asked for, with who helped."""
    names = ["area", "critical-path", "join-aware-path", "transfer-aware-path"]
    bounds = lower_bound(heft_example, methods=names)
    assert [(bound.method, bound.value) for bound in bounds] == list(zip(names, [31, 41, 63, 54], strict=True))
    assert bounds[0].solver == f"highspy {version_of('highspy')}"
    assert [bound.solver for bound in bounds[1:]] == [None] * 3
    assert [bound.proof for bound in bounds] == [BOUND_METHODS[name].proof for name in names]
    assert not any(bound.is_optimum for bound in bounds)
    assert all(bound.seconds > 0 for bound in bounds)


@pytest.mark.parametrize("objective", ["makespan", Objective.WEIGHTED_COMPLETION])
def test_default_contains_the_best_without_search(window_example: DagInstance, objective: str) -> None:
    """Tests that no registered bound, but those that take a second, is above the default ones, listed in order."""
    default = lower_bound(window_example, objective=objective)
    quick = [name for name in BOUND_METHODS if name != "time-indexed"]
    everything = lower_bound(window_example, objective=objective, methods=quick)
    assert best_bound(default).value == best_bound(everything).value
    names = [bound.method for bound in default]
    assert names == [name for name in BOUND_METHODS if name in names]


def test_costly_bounds_are_left_out_of_large_instances() -> None:
    """Tests that above the limit of pairs the costly bounds are computed only when named."""
    small, large = (DagInstance.from_lists([[1] * 10] * count) for count in (100, 101))
    costly = {name for name, method in BOUND_METHODS.items() if method.is_costly and method.is_default}
    assert costly
    assert costly <= {bound.method for bound in lower_bound(small)}
    assert not costly & {bound.method for bound in lower_bound(large)}


def test_exact_method_as_bound(example_e: DagInstance) -> None:
    """Tests that an exact method gives its proof as a bound that is known to be the optimum."""
    bounds = lower_bound(example_e, methods=["critical-path", "cp-sat"], threads=1)
    assert [(bound.method, bound.value) for bound in bounds] == [("critical-path", 13), ("cp-sat", 15)]
    assert bounds[1].is_optimum


def test_infeasible_instance_has_no_exact_bound() -> None:
    """Tests that an exact method that proves infeasibility is left out."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    assert lower_bound(instance, methods=["cp-sat"], threads=1) == []


@pytest.mark.parametrize("name", ["heft", "woa", "area2"])
def test_heuristics_are_no_bounds(example_e: DagInstance, name: str) -> None:
    """Tests that a method that proves nothing, and an unknown one, list what there is."""
    with pytest.raises(ValueError, match=rf"^methods: expected some of critical-path, .*, cp-sat.*, got '{name}'\.$"):
        front_door(example_e, methods=[name])


def test_unknown_objective(example_e: DagInstance) -> None:
    """Tests that an unknown objective is refused."""
    with pytest.raises(ValueError, match="objective: expected one of makespan, weighted_completion, got 'cost'"):
        lower_bound(example_e, objective="cost")


def test_best_bound() -> None:
    """Tests that the largest bound wins, ties go to an optimum, then to the first, and none has none."""
    weak, first, second = (Bound(value=value, method=name, proof="") for value, name in ((3, "a"), (5, "b"), (5, "c")))
    proof = Bound(value=5, method="d", proof="", is_optimum=True)
    assert best_bound([weak, first, second]) is first
    assert best_bound([weak, first, proof]) is proof
    assert best_bound([]) is None
