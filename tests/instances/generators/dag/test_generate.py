"""Tests of the registry of families and of instances from named families."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.generators.dag.generate import FAMILIES, generate

EXACT = (
    "layered",
    "erdos-renyi",
    "series-parallel",
    "in-tree",
    "out-tree",
    "chains",
    "independent",
    "unrelated-machines",
    "hyperparameter-sweep",
    "multi-tenant",
)


def test_names() -> None:
    """Tests that the families are the documented ones and each names its file, a description and a source."""
    assert list(FAMILIES) == [
        *("layered", "erdos-renyi", "series-parallel", "fork-join", "in-tree", "out-tree", "chains", "independent"),
        "unrelated-machines",
        *("fft", "lu", "cholesky", "gaussian-elimination", "stencil"),
        *("pipeline-training", "inception", "nasnet", "transformer", "mixture-of-experts"),
        *("hyperparameter-sweep", "multi-tenant"),
    ]
    for name, family in FAMILIES.items():
        assert family.path.startswith(".dag.")
        assert family.path.endswith(f":{name.replace('-', '_')}")
        assert family.description
        assert family.source


def test_parameters() -> None:
    """Tests that a family tells what its function takes beside the random generator and the number of tasks."""
    assert FAMILIES["layered"].parameters() == ("layers", "in_degree", "jump")


def test_listing_families_imports_none() -> None:
    """Tests that the table of families can be read without importing any of them."""
    late = "instances.generators.dag.neural_networks"
    code = f"import sys, instances.generators.dag.generate; print('{late}' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("tasks", [1, 2, 25, 150])
def test_graphs_are_sound(name: str, tasks: int) -> None:
    """Tests that every graph is acyclic as numbered, with memory, data and work above 0 and unique short names."""
    graph = FAMILIES[name].load()(np.random.default_rng(1), tasks=tasks)
    num_tasks = len(graph.task_names)
    assert len(graph.flops) == len(graph.moved_bytes) == len(graph.memory_bytes) == num_tasks
    assert len(set(graph.task_names)) == num_tasks
    assert max(len(task) for task in graph.task_names) <= 40
    is_drawn = bool(graph.drawn_ticks)
    assert is_drawn or min(graph.memory_bytes) > 0
    assert min(graph.flops) >= 0
    assert is_drawn or min(graph.moved_bytes) > 0
    assert all(0 <= tail < head < num_tasks and data > 0 for tail, head, data in graph.edges)
    assert all(isinstance(number, int) for edge in graph.edges for number in edge)
    assert len({edge[:2] for edge in graph.edges}) == len(graph.edges)
    if name in EXACT:
        assert num_tasks == tasks
    elif tasks == 150:
        assert num_tasks == pytest.approx(tasks, rel=0.5)


@pytest.mark.parametrize("name", FAMILIES)
def test_tasks_are_at_least_one(name: str) -> None:
    """Tests that every family refuses to make nothing, and half tasks."""
    with pytest.raises(ValueError, match=r"tasks: expected at least 1, got 0\."):
        FAMILIES[name].load()(np.random.default_rng(1), tasks=0)
    with pytest.raises(TypeError, match=r"tasks: expected an integer, got 2\.5\."):
        FAMILIES[name].load()(np.random.default_rng(1), tasks=2.5)


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
        ("colesky", {}, "got 'colesky' \\(did you mean cholesky\\?\\)\\."),
        ("zzz", {}, "family: expected one of layered, erdos-renyi, .*, multi-tenant, pipeline, .*, got 'zzz'."),
        ("lu", {"tile_size": 3}, r"parameters: expected a parameter of lu \(tiles, tile\), got 'tile_size'\."),
        ("lu", {"seed": -1}, r"seed: expected at least 0, got -1\."),
    ],
)
def test_misuse(family: str, arguments: dict[str, int], message: str) -> None:
    """Tests that unknown families and parameters are answered with the choices, and negative seeds refused."""
    with pytest.raises(ValueError, match=message):
        generate(family, **{"tasks": 10, "seed": 1, **arguments})  # type: ignore[arg-type]  # integers by name


@pytest.mark.whole
def test_large() -> None:
    """Tests that 20,000 random tasks fit on the default cluster with datasheet memory."""
    instance = generate("layered", tasks=20_000, seed=1)
    assert instance.num_tasks == 20_000
    assert 0.5 < instance.task_memory.sum() / instance.gpu_memory.sum() < 1.0
