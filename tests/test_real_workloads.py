"""Tests of all methods on public workloads; they skip where the data are absent."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from heuristics.search.stop_criteria import MaxEvaluations
from instances.clusters.cluster import parse_cluster
from instances.dag.verify import verify_dag_schedule
from instances.readers.dag.alibaba_v2018 import read_alibaba_v2018_jobs
from instances.readers.dag.measured_graph import READER_COST
from instances.readers.dag.read import read_instance
from solvers.lower_bound import lower_bound
from solvers.methods import METHODS
from solvers.solve import solve
from tests.real_data import real_data

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from solvers.run.bound import Bound


def _nasnet(name: str) -> DagInstance:
    """Read a NASNet graph onto V100, T4 and P100 in two servers whose memory only just holds it."""
    return read_instance(
        "pipedream",
        real_data(f"pipedream/{name}.txt"),
        cluster=parse_cluster("v100-t4-p100-pair"),
        cost=replace(READER_COST, memory_tightness=0.8),
    )


def _options(method: str) -> dict[str, object]:
    """Return a small budget."""
    kind = METHODS[method].kind
    budget = {"search": {"stop": MaxEvaluations(20)}, "exact": {"time_limit": 1.0}, "improvement": {"time_limit": 1.0}}
    return budget.get(kind, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nasnetamobile", "nasnetalarge"])
def test_nasnet_on_mixed_servers(name: str) -> None:
    """Tests that memory forces a split and every method returns a verified schedule with a gap to a proven bound."""
    instance = _nasnet(name)
    assert instance.task_memory.sum() > instance.gpu_memory.max()
    bounds = lower_bound(instance)
    for method in METHODS:
        if METHODS[method].needs and find_spec(METHODS[method].needs) is None:
            continue  # an extra that is not installed
        result = solve(instance, method, seed=1, bounds=bounds, **_options(method))
        assert result.schedule is not None, method
        assert verify_dag_schedule(instance, result.schedule) == []
        assert result.gap is not None
        assert result.gap >= 0
        assert len(set(result.schedule.gpu.tolist())) > 1


@pytest.mark.parametrize("count", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_alibaba_jobs_on_mixed_gpus(count: int) -> None:
    """Tests that every method schedules production jobs, none below the best bound, and CP-SAT proves most."""
    jobs = read_alibaba_v2018_jobs(
        real_data("alibaba-v2018-dag/selected_DAGs.csv.gz"),
        cluster=parse_cluster("mixed-4"),
        count=count,
        min_tasks=10,
        max_tasks=50,
        pick="random",
        seed=1,
    )
    assert len(jobs) == count
    num_proved = 0
    for instance in jobs:
        assert 10 <= instance.num_tasks <= 50
        exact = solve(instance, "cp-sat", time_limit=5.0, seed=1)
        assert exact.bound is not None
        num_proved += exact.bound.is_optimum
        bounds: list[Bound] = [exact.bound]
        for method in METHODS:
            if METHODS[method].kind != "exact":
                result = solve(instance, method, seed=1, bounds=bounds, **_options(method))
                assert result.objective is not None
                assert result.objective >= exact.bound.value
    assert num_proved >= count / 2  # all where it was measured; noisy machines may leave some open


def test_heft_paper_example() -> None:
    """Tests the 10-task, 3-GPU example of the HEFT paper: HEFT 80, proven optimum 73, gap 9.59 %."""
    instance = read_instance("heterogeneous-text", real_data("santiago-hetero/Ilavarasan-3-10.txt"))
    optimum = solve(instance, "cp-sat", seed=1)
    heft = solve(instance, "heft", bounds=[] if optimum.bound is None else [optimum.bound])
    assert (optimum.objective, optimum.lower_bound) == (73, 73)
    assert heft.objective == 80
    assert heft.gap is not None
    assert f"{100 * heft.gap:.2f}" == "9.59"
    assert heft.gap_kind == "optimality gap"
