"""Tests of the task graphs of pipeline-parallel training."""

from __future__ import annotations

import numpy as np
import pytest

from instances.generators.dag.pipeline_training import pipeline_training


def test_two_stages_two_micro_batches() -> None:
    """Tests all edges of the smallest pipeline: forward, backward and the stash of every stage."""
    graph = pipeline_training(np.random.default_rng(1), tasks=1, stages=2, micro_batches=2)
    ends = {(graph.task_names[tail], graph.task_names[head]) for tail, head, _ in graph.edges}
    assert ends == {
        *(("F0.0", "F1.0"), ("F1.0", "B1.0"), ("B1.0", "B0.0"), ("F0.0", "B0.0")),
        *(("F0.1", "F1.1"), ("F1.1", "B1.1"), ("B1.1", "B0.1"), ("F0.1", "B0.1")),
    }


def test_work_by_hand() -> None:
    """Tests FLOPs, bytes and memory of one layer with hidden size 8 and 4 tokens."""
    graph = pipeline_training(
        np.random.default_rng(1), tasks=1, stages=2, micro_batches=3, max_layers=1, hidden=8, sequence=4
    )
    forward, backward = graph.task_names.index("F0.0"), graph.task_names.index("B0.0")
    assert graph.flops[forward] == 24 * 4 * 64 + 4 * 4 * 4 * 8
    assert graph.flops[backward] == 2 * graph.flops[forward]
    assert graph.memory_bytes[forward] == 34 * 4 * 8
    assert graph.memory_bytes[backward] == 16 * 12 * 64 / 3
    assert graph.moved_bytes[forward] == 2 * 12 * 64 + 34 * 4 * 8
    assert {data for _, _, data in graph.edges} == {2 * 4 * 8, 34 * 4 * 8}


@pytest.mark.parametrize(
    ("options", "num_tasks", "num_edges"),
    [
        ({}, 24, 12 + 8 + 8),  # stashes, forward, backward
        ({"gradient_accumulation": True}, 27, 28 + 12),
        ({"all_reduce": True}, 27, 28 + 12),
        ({"gradient_accumulation": True, "all_reduce": True, "replicas": 2}, 48 + 6 + 3, 56 + 24 + 6),
    ],
)
def test_counts(options: dict[str, int], num_tasks: int, num_edges: int) -> None:
    """Tests the numbers of tasks and edges of three stages and four micro-batches, with and without reductions."""
    graph = pipeline_training(np.random.default_rng(1), tasks=1, stages=3, micro_batches=4, **options)
    assert len(graph.task_names) == len(set(graph.task_names)) == num_tasks
    assert len(graph.edges) == num_edges


def test_nearest_size() -> None:
    """Tests that the number of micro-batches comes as near as it can: about four per stage by default."""
    graph = pipeline_training(np.random.default_rng(1), tasks=128)
    assert len(graph.task_names) == 128
    assert sum(name.startswith("F0.") for name in graph.task_names) == 16
    assert len(pipeline_training(np.random.default_rng(1), tasks=50, stages=4).task_names) == 48
