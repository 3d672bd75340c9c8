"""Tests of writing certificates; the tests of the checker say that they are accepted."""

from __future__ import annotations

import pytest

from formulations.dag.bounds.certificates import bound_certificate
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.refuted_makespans import energetic, probing
from formulations.dag.bounds.smith_columns import smith_columns
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from solvers.solve import solve

MAKESPAN, WEIGHTED = Objective.MAKESPAN, Objective.WEIGHTED_COMPLETION


@pytest.mark.parametrize("family", ["cholesky", "chains", "inception", "independent", "layered"])
def test_certificates_reach_energetic_reasoning(family: str) -> None:
    """Tests that windows, prices of memory and assumptions prove what energetic reasoning does, and never more."""
    instance = generate(family, tasks=9, seed=2, cost=CostModel(memory_tightness=0.8, ccr=1.0))
    made = bound_certificate(instance, MAKESPAN, most_cases=0)
    assert energetic(instance, MAKESPAN) <= made.bound <= probing(instance, MAKESPAN)


@pytest.mark.parametrize(("family", "objective"), [("layered", MAKESPAN), ("hyperparameter-sweep", WEIGHTED)])
def test_cases_reach_the_optimum_and_nothing_above_what_is_asked(family: str, objective: Objective) -> None:
    """Tests that a tree of cases proves the optimum of CP-SAT, and a smaller bound where that is all that is wanted."""
    instance = generate(family, tasks=6, seed=5, cost=CostModel(memory_tightness=0.8, ccr=1.0))
    best = solve(instance, "cp-sat", objective=str(objective), threads=1, seed=1)
    assert best.objective == best.lower_bound is not None
    assert bound_certificate(instance, objective).bound == best.objective
    assert bound_certificate(instance, objective, at_most=best.objective - 1).bound == best.objective - 1
    assert bound_certificate(instance, objective, at_most=best.objective).kind == "refuted"


def test_certificate_of_the_weighted_completion() -> None:
    """Tests that columns are written where they prove more than paths, with weights and prices above zero."""
    instance = generate("unrelated-machines", tasks=20, seed=1)
    made = bound_certificate(instance, WEIGHTED, most_cases=0)
    assert (made.kind, made.bound) == ("columns", smith_columns(instance, WEIGHTED))
    assert made.lines[0] == "fineness 0 32"
    assert all(int(line.split()[2]) > 0 for line in made.lines)
    huge = DagInstance.from_lists([[2**40], [3]], job_of_task=[0, 1], release=[0, 0], weight=[2**20, 1])
    assert bound_certificate(huge, WEIGHTED, most_cases=0).kind != "columns"


def test_without_time_or_tasks_something_is_written() -> None:
    """Tests that no seconds leave paths or the area, and no tasks a bound of 0."""
    instance = generate("layered", tasks=12, seed=1)
    made = bound_certificate(instance, MAKESPAN, seconds_left=lambda: 0.0)
    assert made.bound >= join_aware_path(instance, MAKESPAN)
    assert made.lines[0] == f"deadline {made.bound - 1}"
    for objective in (MAKESPAN, WEIGHTED):
        nothing = bound_certificate(DagInstance.from_lists([], num_gpus=2), objective)
        assert (nothing.bound, nothing.kind, nothing.lines) == (0, "refuted", [])


def test_area_of_even_work_by_hand() -> None:
    """Tests four tasks of 3 ticks on two equal GPUs: work of 12 ticks, so 6 each."""
    made = bound_certificate(DagInstance.from_lists([[3, 3]] * 4), MAKESPAN, seconds_left=lambda: 0.0)
    assert made.bound == 6
    assert [line.split()[:4] for line in made.lines[1:]] == [
        *(["window", str(k), "0", "5"] for k in (0, 1)),
        ["contradiction"],
    ]
