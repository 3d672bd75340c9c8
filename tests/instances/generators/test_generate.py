from __future__ import annotations

import numpy as np
import pytest

from instances.cluster import parse_cluster
from instances.dag_from_graph import CostModel
from instances.generators import FAMILIES, generate


@pytest.mark.parametrize("family", FAMILIES)
def test_seeds(family: str) -> None:
    """Tests that a seed gives one content hash, and another seed other durations."""
    first, again, other = (generate(family, tasks=20, seed=seed, name="x") for seed in (7, 7, 8))
    assert first.sha256 == again.sha256
    assert first.sha256 != other.sha256
    assert first.durations.shape != other.durations.shape or (first.durations != other.durations).any()


@pytest.mark.parametrize("family", FAMILIES)
def test_costs_leave_the_graph_alone(family: str) -> None:
    """Tests that neither the ratio of communication nor the cluster changes tasks, edges or memory."""
    plain = generate(family, tasks=40, seed=3)
    scaled = generate(family, tasks=40, seed=3, cost=CostModel(ccr=4.0, heterogeneity=1.0))
    elsewhere = generate(family, tasks=40, seed=3, cluster=parse_cluster("mixed-8"))
    for other in (scaled, elsewhere):
        assert other.task_names == plain.task_names
        assert np.array_equal(other.edges, plain.edges)
        assert np.array_equal(other.task_memory, plain.task_memory)
    assert np.array_equal(elsewhere.edge_bytes, plain.edge_bytes)
    assert not np.array_equal(scaled.edge_bytes, plain.edge_bytes) or plain.num_edges == 0


def test_the_ratio_leaves_durations_alone() -> None:
    """Tests that only bytes and latencies follow the ratio of communication."""
    low, high = (generate("layered", tasks=40, seed=3, cost=CostModel(ccr=ccr)) for ccr in (0.1, 10.0))
    assert np.array_equal(low.durations, high.durations)
    assert low.edge_bytes.sum() < high.edge_bytes.sum()


def test_defaults() -> None:
    """Tests the default name and cluster."""
    instance = generate("cholesky", tasks=20, seed=5)
    assert instance.name == "cholesky-n20-s5"
    assert instance.gpu_kinds == ("A100-40GB", "T4", "V100-16GB", "P100")
    assert generate("cholesky", tasks=20, seed=5, name="mine").name == "mine"


def test_parameters_reach_the_family() -> None:
    """Tests that a family's parameter overrides the number of tasks."""
    assert generate("lu", tasks=1000, seed=1, tiles=3).num_tasks == 14


def test_jobs_reach_the_instance() -> None:
    """Tests that jobs have names, releases in ticks and weights."""
    instance = generate("multi-tenant", tasks=60, seed=1, jobs=4)
    assert instance.num_jobs == 4
    assert instance.release[0] == 0 < instance.release[-1]
    assert (instance.job_of_task == np.sort(instance.job_of_task)).all()


@pytest.mark.parametrize(
    ("family", "arguments", "message"),
    [
        ("colesky", {}, "family: expected one of cholesky, got 'colesky'."),
        ("zzz", {}, "family: expected one of layered, erdos-renyi, .*, multi-tenant, got 'zzz'."),
        ("lu", {"tile_size": 3}, r"parameters: expected a parameter of lu \(tiles, tile\), got 'tile_size'\."),
        ("lu", {"seed": -1}, r"seed: expected at least 0, got -1\."),
    ],
)
def test_misuse(family: str, arguments: dict[str, int], message: str) -> None:
    """Tests that unknown families and parameters are answered with the choices, and negative seeds refused."""
    with pytest.raises(ValueError, match=message):
        generate(family, **{"tasks": 10, "seed": 1, **arguments})  # type: ignore[arg-type]  # integers by name


def test_large() -> None:
    """Tests that 20,000 random tasks fit on the default cluster with datasheet memory."""
    instance = generate("layered", tasks=20_000, seed=1)
    assert instance.num_tasks == 20_000
    assert 0.5 < instance.task_memory.sum() / instance.gpu_memory.sum() < 1.0
