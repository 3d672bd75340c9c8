"""Tests that published special cases, run through the same models, give their known optima."""

from __future__ import annotations

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from solvers.methods import METHODS
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.shop_instances import FT06, FT10, LA01, MK01, flexible_job_shop, job_shop

EXACT = [name for name, method in METHODS.items() if method.kind == "exact"]


def assert_proves(instance: DagInstance, method: str, optimum: int) -> None:
    """Check that a method that is given no bounds proves the optimum."""
    result = solve(instance, method, bounds=[], seed=1, threads=2)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, optimum, optimum)


@pytest.mark.parametrize(
    ("instance", "optimum"),
    [(job_shop("ft06", FT06), 55), (job_shop("la01", LA01), 666), (flexible_job_shop("mk01", MK01), 40)],
    ids=["ft06", "la01", "mk01"],
)
def test_cp_sat_proves_shops(instance: DagInstance, optimum: int) -> None:
    """Tests ft06 = 55, la01 = 666 and mk01 = 40."""
    assert_proves(instance, "cp-sat", optimum)


@pytest.mark.slow
def test_cp_sat_proves_ft10() -> None:
    """Tests ft10 = 930, open for a quarter of a century."""
    assert_proves(job_shop("ft10", FT10), "cp-sat", 930)


@pytest.mark.parametrize("method", ["milp-disjunctive", "milp-gdp"])
def test_milps_prove_ft06(method: str) -> None:
    """Tests ft06 = 55 through MILPs."""
    assert_proves(job_shop("ft06", FT06), method, 55)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_two_identical_gpus_without_edges_are_a_partition(method: str, seed: int) -> None:
    """Tests P2||Cmax against the subset sums of the durations."""
    durations = np.random.default_rng(seed).integers(3, 20, size=6).tolist()
    sums = {0}
    for ticks in durations:
        sums |= {ticks + one for one in sums}
    optimum = min(max(one, sum(durations) - one) for one in sums)
    assert_proves(DagInstance.from_lists([[ticks, ticks] for ticks in durations]), method, optimum)


@pytest.mark.parametrize("gpus", [2, 3])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_unit_tasks_of_an_in_tree_meet_the_level_rule(gpus: int, seed: int) -> None:
    """Tests P|in-tree, p = 1|Cmax, 14 tasks without data, against Hu's level rule (1961), which is optimal there."""
    rng = np.random.default_rng(seed)
    successor = [int(rng.integers(task + 1, 14)) for task in range(13)]
    level = [0] * 14
    for task in range(12, -1, -1):
        level[task] = level[successor[task]] + 1
    waiting, ticks = set(range(14)), 0
    while waiting:
        ready = [task for task in waiting if all(successor[other] != task for other in waiting if other < 13)]
        waiting -= set(sorted(ready, key=lambda task: -level[task])[:gpus])
        ticks += 1
    edges = [(task, after, 0) for task, after in enumerate(successor)]
    assert_proves(DagInstance.from_lists([[1] * gpus] * 14, edges), "cp-sat", ticks)
