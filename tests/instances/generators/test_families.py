from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from instances.generators.families import FAMILIES

EXACT = (
    "layered",
    "erdos-renyi",
    "series-parallel",
    "in-tree",
    "out-tree",
    "chains",
    "independent",
    "hyperparameter-sweep",
    "multi-tenant",
)


def test_names() -> None:
    """Tests that the families are the documented ones and each names its file, a description and a source."""
    assert list(FAMILIES) == [
        *("layered", "erdos-renyi", "series-parallel", "fork-join", "in-tree", "out-tree", "chains", "independent"),
        *("fft", "lu", "cholesky", "gaussian-elimination", "stencil"),
        *("pipeline-training", "inception", "nasnet", "transformer", "mixture-of-experts"),
        *("hyperparameter-sweep", "multi-tenant"),
    ]
    for name, family in FAMILIES.items():
        function = name.replace("-", "_")
        assert family.path == f"instances.generators.{function}:{function}"
        assert family.description
        assert family.source


def test_parameters() -> None:
    """Tests that a family tells what its function takes beside the random generator and the number of tasks."""
    assert FAMILIES["layered"].parameters() == ("layers", "in_degree", "jump")


def test_listing_families_imports_none() -> None:
    """Tests that the table of families can be read without importing any of them."""
    code = "import sys, instances.generators; print('instances.generators.nasnet' in sys.modules)"
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
    assert min(graph.memory_bytes) > 0
    assert min(graph.flops) >= 0
    assert min(graph.moved_bytes) > 0
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
