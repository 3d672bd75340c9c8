"""Tests of instances as flat arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from heuristics.dag.arrays import dag_arrays, mean_transfer_delays
from instances.dag.instance import DagInstance
from tests.strategies import dag_instances


@given(instance=dag_instances(max_tasks=6, max_gpus=4))
@settings(max_examples=120, deadline=None)
def test_link_classes_give_the_transfer_delays(instance: DagInstance) -> None:
    """Tests that latency and bandwidth of a link's class give the delay of every edge between every two GPUs."""
    arrays = dag_arrays(instance)
    for edge, data in enumerate(instance.edge_bytes.tolist()):
        if data == 0:
            continue
        expected = instance.transfer_delays(edge)
        for k in range(instance.num_gpus):
            for l in range(instance.num_gpus):
                link = arrays.link_class[k, l]
                assert link < arrays.num_link_classes[k]
                transfer = math.ceil(data / arrays.class_bytes_per_tick[k, link])
                assert arrays.class_latency[k, link] + transfer == expected[k, l]


@given(instance=dag_instances(max_tasks=6, max_gpus=4))
@settings(max_examples=80, deadline=None)
def test_mean_delays_are_means_of_delays(instance: DagInstance) -> None:
    """Tests that the mean delay of an edge is that over all ordered pairs of different GPUs."""
    pairs = ~np.eye(instance.num_gpus, dtype=bool)
    means = mean_transfer_delays(instance)
    for edge in range(instance.num_edges):
        delays = instance.transfer_delays(edge)[pairs]
        assert means[edge] == pytest.approx(delays.mean() if delays.size else 0.0)


def test_mean_delays_by_hand() -> None:
    """Tests means over links of different speeds: 3 bytes take 1 + 2 and 2 + 6 ticks."""
    instance = DagInstance.from_lists(
        [[1, 1]] * 3,
        [(0, 1, 3), (0, 2, 0), (1, 2, 4)],
        latency=[[0, 1], [2, 0]],
        bytes_per_tick=[[1, 2], [0.5, 1]],
    )
    assert mean_transfer_delays(instance).tolist() == [(3 + 8) / 2, 0.0, (3 + 10) / 2]


def test_equal_links_are_one_class() -> None:
    """Tests that one speed for all links makes two classes per GPU: its own memory and the links."""
    arrays = dag_arrays(DagInstance.from_lists([[1] * 4], latency=3, bytes_per_tick=2.0))
    assert arrays.num_link_classes.tolist() == [2, 2, 2, 2]
    assert len({int(arrays.link_class[1, l]) for l in (0, 2, 3)}) == 1
    assert arrays.link_class[1, 1] != arrays.link_class[1, 0]


def test_fast_link_without_latency_is_not_the_diagonal() -> None:
    """Tests that a link of latency 0 stays another class than the GPU itself."""
    instance = DagInstance.from_lists([[1, 1]] * 2, [(0, 1, 7)], latency=0, bytes_per_tick=1e300)
    arrays = dag_arrays(instance)
    assert arrays.num_link_classes.tolist() == [2, 2]
    assert instance.transfer_delays(0).tolist() == [[0, 1], [1, 0]]


def test_allowed_and_only_gpu() -> None:
    """Tests that memory bars pairs, and that a task with one allowed GPU knows it."""
    instance = DagInstance.from_lists(
        [[2, 4], [3, None], [5, 7]], task_memory=[0, 1, 9], gpu_memory=[4, None], release=[6]
    )
    arrays = dag_arrays(instance)
    assert arrays.allowed.tolist() == [[True, True], [True, False], [False, True]]
    assert arrays.only_gpu.tolist() == [-1, 0, 1]
    assert arrays.mean_duration.tolist() == [3.0, 3.0, 7.0]
    assert arrays.release.tolist() == [6, 6, 6]


def test_made_once_per_instance(example_e: DagInstance) -> None:
    """Tests that the arrays of an instance are remembered."""
    assert dag_arrays(example_e) is dag_arrays(example_e)
