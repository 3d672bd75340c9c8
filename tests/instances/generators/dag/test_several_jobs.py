"""Tests of task graphs of several jobs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from instances.generators.dag.several_jobs import hyperparameter_sweep, multi_tenant


@pytest.mark.parametrize("tasks", [1, 2, 5, 100])
def test_sweep_size_is_exact(tasks: int) -> None:
    """Tests that trials are cut so that the number of tasks is exact, and every job has tasks."""
    graph = hyperparameter_sweep(np.random.default_rng(1), tasks=tasks)
    assert len(graph.task_names) == len(graph.job_of_task) == tasks
    assert set(graph.job_of_task) == set(range(len(graph.job_names)))


def test_sweep_halves_successively() -> None:
    """Tests that about half of the trials go on from each rung and train twice as long."""
    graph = hyperparameter_sweep(np.random.default_rng(1), tasks=4000, max_rungs=3)
    rung = Counter(name.split("/")[1] for name in graph.task_names)
    assert set(rung) == {"T0", "E0", "T1", "E1", "T2", "E2"}
    assert rung["T1"] / rung["T0"] == pytest.approx(0.5, abs=0.05)
    assert rung["T2"] / rung["T1"] == pytest.approx(0.5, abs=0.06)
    flops = dict(zip(graph.task_names, graph.flops, strict=True))
    job = next(name.split("/")[0] for name in graph.task_names if name.endswith("T2"))
    assert flops[f"{job}/T2"] == 2 * flops[f"{job}/T1"] == 4 * flops[f"{job}/T0"]


def test_jobs_do_not_touch_and_arrive_in_order() -> None:
    """Tests that edges stay within jobs, the first job is released at 0, and releases and weights are as documented."""
    for graph in (
        hyperparameter_sweep(np.random.default_rng(2), tasks=300),
        multi_tenant(np.random.default_rng(2), tasks=300),
    ):
        job = graph.job_of_task
        assert graph.edges
        assert all(job[tail] == job[head] for tail, head, _ in graph.edges)
        assert graph.release_seconds[0] == 0.0
        assert list(graph.release_seconds) == sorted(graph.release_seconds)
        assert set(graph.weight) <= set(range(1, 11))
        assert len(set(graph.weight)) > 3


def test_load_is_the_inverse_of_the_mean_gap() -> None:
    """Tests that twice the load halves all gaps, and load 0 releases all jobs at once."""
    once, twice, zero = (
        np.array(hyperparameter_sweep(np.random.default_rng(3), tasks=50, load=load).release_seconds)
        for load in (1.0, 2.0, 0.0)
    )
    assert once.tolist() == pytest.approx((2 * twice).tolist())
    assert once[-1] > 0
    assert zero.sum() == 0


@pytest.mark.parametrize(("tasks", "jobs"), [(1, None), (14, 14), (40, 3), (200, None)])
def test_multi_tenant_size_is_exact(tasks: int, jobs: int | None) -> None:
    """Tests that the numbers of tasks and jobs are exact."""
    graph = multi_tenant(np.random.default_rng(1), tasks=tasks, jobs=jobs)
    assert len(graph.task_names) == tasks
    expected = jobs or max(round(tasks / 15), 1)
    assert set(graph.job_of_task) == set(range(expected))
    assert len(graph.job_names) == expected


def test_multi_tenant_mixes_the_named_families() -> None:
    """Tests that jobs come from the named families, and the last one is layered."""
    graph = multi_tenant(np.random.default_rng(1), tasks=200, jobs=12, families=("fft", "cholesky"))
    families = [name.split("-", 1)[1] for name in graph.job_names]
    assert set(families) == {"fft", "cholesky", "layered"}
    assert families[-1] == "layered"


@pytest.mark.parametrize(
    ("families", "message"),
    [
        (("fft", "nope"), r"families\[1\]: expected one of layered, .*, got 'nope'"),
        (("multi-tenant",), r"families\[0\]: expected one of layered"),
        ((), "families: expected at least one family, got none"),
    ],
)
def test_families_of_one_job_each(families: tuple[str, ...], message: str) -> None:
    """Tests that unknown families, families of several jobs, and none are refused."""
    with pytest.raises(ValueError, match=message):
        multi_tenant(np.random.default_rng(1), tasks=20, families=families)
