"""Tests of published networks, of cutting them into stages, and of the jobs that train them."""

from __future__ import annotations

import itertools

import pytest

from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.network_models import NETWORK_MODELS, NetworkBlock, NetworkModel
from instances.generators.jobs.training_job import cut_into_stages, training_job


@pytest.mark.parametrize("name", NETWORK_MODELS)
def test_parameters_are_those_of_the_paper(name: str) -> None:
    """Tests that the weights of all blocks are the published number of parameters within two per cent."""
    model = NETWORK_MODELS[name]
    assert model.parameters == pytest.approx(model.published_parameters, rel=0.02)


@pytest.mark.parametrize(
    ("name", "multiplications"),
    [("VGG-16", 15.5e9), ("ResNet-50", 3.8e9), ("AlexNet", 0.72e9)],
)
def test_work_is_what_is_known(name: str, multiplications: float) -> None:
    """Tests that a forward pass has the well-known number of multiplications with addition."""
    flops = sum(block.flops for block in NETWORK_MODELS[name].blocks)
    assert flops / 2 == pytest.approx(multiplications, rel=0.03)


def _chain(work: list[int]) -> NetworkModel:
    """Return a network of blocks of given work."""
    blocks = tuple(NetworkBlock(flops=flops, parameters=1, output_elements=1) for flops in work)
    return NetworkModel(name="chain", source="", published_parameters=1, samples=1, blocks=blocks)


@pytest.mark.parametrize("num_stages", [1, 2, 3, 4, 6])
def test_cuts_are_the_best(num_stages: int) -> None:
    """Tests that no other cut has a lighter heaviest stage, by enumeration."""
    work = [5, 1, 7, 2, 2, 9]
    cuts = cut_into_stages(_chain(work), num_stages)
    assert [first for first, _ in cuts] == [0, *(last for _, last in cuts[:-1])]
    assert cuts[-1][1] == len(work)
    heaviest = [
        max(sum(work[a:b]) for a, b in itertools.pairwise([0, *inner, len(work)]))
        for inner in itertools.combinations(range(1, len(work)), num_stages - 1)
    ]
    assert max(sum(work[a:b]) for a, b in cuts) == min(heaviest)


def test_too_many_stages() -> None:
    """Tests that a network is not cut inside blocks."""
    with pytest.raises(ValueError, match=r"num_stages: expected 1 to 2, the blocks of chain, got 3\."):
        cut_into_stages(_chain([1, 1]), 3)


def test_a_training_job_by_hand() -> None:
    """Tests times and sizes of a network on two stages: 6 and 2 GFLOPs per sample, 3 GPUs, micro-batches of 6."""
    blocks = (
        NetworkBlock(flops=6 * 10**9, parameters=10**9, output_elements=1000),
        NetworkBlock(flops=2 * 10**9, parameters=10**8, output_elements=10),
    )
    model = NetworkModel(name="hand", source="", published_parameters=1, samples=4, blocks=blocks)
    cluster = parse_cluster("4xV100-16GB,4xT4")  # 1.1e9 parameters take 17.6 GB: two stages
    job = training_job(model, gpus=3, micro_batches_per_stage=2, cluster=cluster, tick_seconds=1e-3)
    assert job is not None
    first, second = job.stages
    assert (first.replicas, second.replicas, job.micro_batches) == (2, 1, 4)
    assert first.times == {"V100-16GB": 2, "T4": 3}  # 3 * 6e9 * 6 / 2 FLOPs at 0.4 * 125e12 and 0.4 * 65e12 per second
    assert second.times == {"V100-16GB": 1, "T4": 2}
    assert (first.activation_bytes, second.activation_bytes) == (4 * 6 * 1000 * 2, 0)
    assert (first.parameter_bytes, second.parameter_bytes) == (2 * 10**9, 2 * 10**8)
    assert job.least_ticks == (4 + 2 - 1) * 2


def test_memory_forbids_kinds_and_asks_for_stages() -> None:
    """Tests that a network of 107 GB of training state takes stages, and small memories are not allowed."""
    model = NETWORK_MODELS["GPT-3-6.7B"]
    arguments = {"gpus": 4, "micro_batches_per_stage": 1, "tick_seconds": 1e-3}
    assert training_job(model, cluster=parse_cluster("8xT4"), **arguments) is None
    job = training_job(model, cluster=parse_cluster("8xA100-40GB,8xT4"), **arguments)
    assert job is not None
    assert len(job.stages) in (3, 4)
    assert any("T4" not in dict(stage.times) for stage in job.stages)  # type: ignore[call-overload]
