"""Tests of generated pipelines."""

from __future__ import annotations

import pytest

import optgap
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.pipeline import least_limit, pipeline_of
from instances.generators.dag.generate import generate


def test_defaults() -> None:
    """Tests that the number of micro-batches follows from the number of tasks, and that stages are equal."""
    instance = generate("pipeline", tasks=100, seed=3)
    pipeline = pipeline_of(instance)
    assert (pipeline.stages, pipeline.micro_batches, instance.name) == (4, 8, "pipeline-n96-s3")
    assert {int(instance.durations[task].max()) for task in pipeline.forward.ravel()} == {10}
    assert (instance.gpu_memory == -1).all()
    assert generate("pipeline", tasks=100, seed=3).sha256 == instance.sha256


def test_unequal_stages_on_different_gpus() -> None:
    """Tests chunks in a V, slower kinds, unequal stages and a limit above the least one."""
    cluster = parse_cluster("2xA100-40GB+2xT4")
    instance = generate(
        "pipeline", tasks=1, seed=1, cluster=cluster, chunks=2, layout="v", micro_batches=2, unequal=0.4, limit=1.5
    )
    pipeline = pipeline_of(instance)
    assert pipeline.gpus_of_stage == ((0,), (1,), (2,), (3,), (3,), (2,), (1,), (0,))
    ticks = [int(instance.durations[task].max()) for task in pipeline.forward[:, 0]]
    assert min(ticks[2:6]) > max(ticks[0], ticks[1], ticks[6], ticks[7])  # T4 at 65 TFLOPS, A100 at 312
    assert set(instance.gpu_memory.tolist()) == {int(1.5 * least_limit(instance))}
    free = generate("pipeline", tasks=24, seed=1, cluster=cluster, is_free=True, fused=True)
    assert pipeline_of(free).gpus_of_stage == ((0, 1, 2, 3),) * 4
    assert pipeline_of(free).weight is None


def test_refusals() -> None:
    """Tests that numbers out of range and a cost model are refused."""
    with pytest.raises(ValueError, match=r"limit: expected .* got 0\.5"):
        generate("pipeline", tasks=12, seed=0, limit=0.5)
    with pytest.raises(ValueError, match="cost: expected none for pipeline, whose parameters give the costs"):
        generate("pipeline", tasks=12, seed=0, cost=CostModel())
    with pytest.raises(ValueError, match="layout: expected one of loop, v, got 'w'"):
        generate("pipeline", tasks=12, seed=0, layout="w")


def test_public_name() -> None:
    """Tests that the family is there under the public name too."""
    assert optgap.generate("pipeline", tasks=24, seed=0).num_buffers == 16
