"""Tests of the instances that come with the package."""

from __future__ import annotations

import pytest

from instances.clusters.cluster import parse_cluster
from instances.readers.dag.bundled import BUNDLED, bundled_instance, bundled_path


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_instance_is_small_and_mixed(name: str) -> None:
    """Tests that every bundled instance is small, runs on several kinds of GPU and is the same each time."""
    instance = bundled_instance(name)
    assert 1 <= instance.num_tasks <= 18
    assert len(set(instance.gpu_kinds)) >= 2
    assert bundled_instance(name).sha256 == instance.sha256
    assert bundled_instance(name, seed=1).sha256 != instance.sha256
    assert bundled_path(name).read_text(encoding="ascii").count("\n") > instance.num_tasks


def test_inception_block() -> None:
    """Tests that the block has its layers, that GPUs rank differently, and that one GPU alone is not all there is."""
    instance = bundled_instance("inception-block")
    assert (instance.num_tasks, instance.num_edges, instance.num_gpus) == (15, 19, 3)
    assert instance.task_memory[1] == 4 * (32 * 320 * 8 * 8 + 1280 * 320)  # output and weights of the first convolution
    ratios = instance.durations[1:, 1] / instance.durations[1:, 2]
    assert ratios.max() > 1.2 * ratios.min()


def test_cluster_can_be_chosen() -> None:
    """Tests that a bundled file can be put on another cluster."""
    assert bundled_instance("inception-block", cluster=parse_cluster("2xT4")).gpu_kinds == ("T4", "T4")


def test_unknown_name() -> None:
    """Tests that an unknown name lists the known ones."""
    with pytest.raises(ValueError, match="bundled instance: expected one of inception-block, got 'alexnet'"):
        bundled_path("alexnet")
