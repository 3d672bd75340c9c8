"""Tests of the linear program of placement, memory, work and all paths, and of its proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds import placed_paths as module
from formulations.dag.bounds.certificates import BoundCertificate, bound_certificate
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.placed_paths import placed_paths, placed_paths_proof
from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.generators.dag.generate import generate
from optgap.check_certificate import check
from tests.brute_force import optimum
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

if TYPE_CHECKING:
    from pathlib import Path

MAKESPAN = Objective.MAKESPAN


def test_memory_lengthens_a_path() -> None:
    """Tests a chain of four tasks of which the fast GPU holds two: two at 1 tick and two at 10."""
    instance = DagInstance.from_lists(
        [[1, 10]] * 4, edges=[(i, i + 1, 0) for i in range(3)], task_memory=[1] * 4, gpu_memory=[2, 4]
    )
    assert join_aware_path(instance, MAKESPAN) == 4
    assert placed_paths(instance, MAKESPAN) == optimum(instance, MAKESPAN) == 22
    assert placed_paths(instance, Objective.WEIGHTED_COMPLETION) == 0


def test_transfers_and_loads_count() -> None:
    """Tests that pinned ends pay their transfer, and that two equal GPUs share the work of a class."""
    apart = DagInstance.from_lists([[1, None], [None, 1]], edges=[(0, 1, 8)], latency=[[0, 3], [3, 0]])
    assert placed_paths(apart, MAKESPAN) == optimum(apart, MAKESPAN) == join_aware_path(apart, MAKESPAN)
    wide = DagInstance.from_lists([[2, 2]] * 4, release=[5], job_of_task=[0] * 4)
    assert placed_paths(wide, MAKESPAN) == optimum(wide, MAKESPAN) == 9


@given(instance=dag_instances(max_tasks=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bound_is_never_above_the_optimum(instance: DagInstance) -> None:
    """Tests against brute force, and that the paths are never above it."""
    best = optimum(instance, MAKESPAN)
    value = placed_paths(instance, MAKESPAN)
    assert best is None or join_aware_path(instance, MAKESPAN) <= value <= best


def test_limits_leave_the_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests no time, too many flows, and no tasks."""
    instance = generate("layered", tasks=20, seed=3)
    paths = join_aware_path(instance, MAKESPAN)
    assert placed_paths(instance, MAKESPAN, seconds_left=lambda: 0.0) == paths
    assert placed_paths(DagInstance.from_lists([], num_gpus=2), MAKESPAN) == 0
    monkeypatch.setattr(module, "MOST_CROSSINGS", 0)
    assert placed_paths(instance, MAKESPAN) == paths


def accepted(instance: DagInstance, folder: Path, at_most: int | None = None) -> int | None:
    """Return the bound of a proof that the checker accepts, None where there is none."""
    proof = placed_paths_proof(instance, at_most=at_most)
    if proof is None:
        return None
    made = BoundCertificate(proof[0], "refuted", proof[1])
    write_dag_instance(instance, folder / "instance.json")
    (folder / "certificate.txt").write_text(made.text(MAKESPAN))
    assert check(str(folder / "instance.json"), str(folder / "certificate.txt")) == (MAKESPAN, made.bound)
    return made.bound


def slow_chain() -> DagInstance:
    """Return a chain of four tasks of which the fast GPU holds two: two at 1 tick and two at 10."""
    edges = [(i, i + 1, 0) for i in range(3)]
    return DagInstance.from_lists([[1, 10]] * 4, edges=edges, task_memory=[1] * 4, gpu_memory=[2, 4])


def test_a_path_that_memory_slows_down_by_hand(tmp_path: Path) -> None:
    """Tests the chain: a path costs 1 or 10 ticks per task, and each of the two fast bytes is worth 9 ticks."""
    lines = ["deadline 21", "memory 0 9", *(f"edge {i} {i + 1} 0 0 1" for i in range(3)), "contradiction"]
    write_dag_instance(slow_chain(), tmp_path / "instance.json")
    paths = (str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt"))
    for bound, is_proved in ((22, True), (23, False)):
        lines[0] = f"deadline {bound - 1}"
        (tmp_path / "certificate.txt").write_text(BoundCertificate(bound, "refuted", lines).text(MAKESPAN))
        if is_proved:
            assert check(*paths) == (MAKESPAN, bound)
        else:
            with pytest.raises(ValueError, match="expected more work than there is time"):
                check(*paths)
    assert accepted(slow_chain(), tmp_path) == 22
    assert accepted(slow_chain(), tmp_path, at_most=20) == 20
    assert bound_certificate(slow_chain(), MAKESPAN, most_cases=0, seconds_left=lambda: 5.0).bound == 22


def random_multipliers(instance: DagInstance, rng: np.random.Generator) -> list[str]:
    """Return lines with small numbers at random, some of them 0."""
    n, m = instance.num_tasks, instance.num_gpus
    limited = np.flatnonzero(instance.gpu_memory >= 0).tolist()
    lines = [f"memory {k} {rng.integers(0, 3)}" for k in limited]
    lines += [f"window {k} 0 {rng.integers(0, 40)} {rng.integers(0, 2)}" for k in range(m)]
    lines += [f"task {i} {rng.integers(0, 2)}" for i in range(n)]
    for tail, head in instance.edges.tolist() * 2:  # an edge may have several lines
        share = " ".join(map(str, rng.integers(0, 9, size=m).tolist()))
        lines.append(f"edge {tail} {head} {share} {rng.integers(0, 4)}")
    rng.shuffle(lines)
    return lines


def random_multipliers_prove(number: int, folder: Path, attempts: int = 10) -> int:
    """Assert that random multipliers never refute an optimum; return how often they refute something else."""
    instance, rng, found = tight_instance(number), np.random.default_rng([21, number]), 0
    paths = (str(folder / "instance.json"), str(folder / "certificate.txt"))
    write_dag_instance(instance, folder / "instance.json")
    for objective in FINISH_OBJECTIVES:
        best = optimum(instance, objective)
        assert best is not None
        for _ in range(attempts):
            loads = random_multipliers(instance, rng)
            for limit in (best, max(0, best - 1), best // 2):
                lines = [f"deadline {limit}", *loads, "contradiction"]
                (folder / "certificate.txt").write_text(BoundCertificate(limit + 1, "refuted", lines).text(objective))
                try:
                    assert check(*paths)[1] <= best, (number, objective, loads)
                    found += 1
                except ValueError as error:
                    assert "expected more work than there is time" in str(error)
    return found


def test_no_multipliers_refute_the_optimum(tmp_path: Path) -> None:
    """Tests any multipliers on instances with tight memory, releases and several jobs, for both objectives."""
    assert sum(random_multipliers_prove(number, tmp_path) for number in range(15)) >= 20


@pytest.mark.slow
def test_no_multipliers_refute_the_optimum_at_length(tmp_path: Path) -> None:
    """Tests the same on 500 instances."""
    assert sum(random_multipliers_prove(number, tmp_path) for number in range(15, 515)) >= 500


@given(instance=dag_instances(max_tasks=5))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_proofs_are_accepted_and_true(instance: DagInstance, tmp_path: Path) -> None:
    """Tests random instances, also with groups and forbidden GPUs, against brute force."""
    bound, best = accepted(instance, tmp_path), optimum(instance, MAKESPAN)
    assert bound is None or best is None or bound <= best


def reaches(number: int, folder: Path) -> bool:
    """Assert that a proof reaches `placed_paths` where that is above the paths; say whether it is."""
    instance, best = tight_instance(number), optimum(tight_instance(number), MAKESPAN)
    bound, value = accepted(instance, folder), placed_paths(instance, MAKESPAN)
    assert best is not None
    assert bound is not None
    assert bound <= best
    is_above = value > join_aware_path(instance, MAKESPAN)
    assert not is_above or bound == value
    return is_above


def test_proofs_reach_the_bound_where_memory_is_tight(tmp_path: Path) -> None:
    """Tests instances with tight memory, forbidden GPUs and equal GPUs."""
    assert sum(reaches(number, tmp_path) for number in range(60)) >= 2


@pytest.mark.slow
def test_proofs_reach_the_bound_where_memory_is_tight_at_length(tmp_path: Path) -> None:
    """Tests the same on 1,000 instances."""
    assert sum(reaches(number, tmp_path) for number in range(60, 1_060)) >= 20
