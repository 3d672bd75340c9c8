"""Pipeline training with memory that is released, at any size, on equal or different GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.dag.pipeline import least_limit, pipeline_instance
from instances.parameters import check_integer, check_number, fields_as_parameters

if TYPE_CHECKING:
    import numpy as np

    from instances.clusters.cluster import Cluster
    from instances.dag.instance import DagInstance


PRECISION = "fp16"
"""Precision at whose peak rates GPUs are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineLayout:
    """The GPUs of a generated pipeline, and where its stages are.

    Parameters
    ----------
    gpus
        Number of equal GPUs, where no cluster is given.
    chunks, layout
        Stages per GPU, and where they are: "loop" for stage s on GPU s modulo the number of GPUs, "v" for up and down.
    is_free
        Whether stages may be on any GPU; their passes stay together.
    """

    gpus: int = 4
    chunks: int = 1
    layout: str = "loop"
    is_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PassTimes:
    """Durations of the passes of a generated pipeline.

    Parameters
    ----------
    forward, backward, weight, transfer
        Mean duration of F, B and W on the fastest GPU and delay between neighbouring stages, in ticks.
    unequal
        Durations and bytes of a stage are multiplied by a random factor between 1 - `unequal` and 1 + `unequal`.
    """

    forward: int = 10
    backward: int = 12
    weight: int = 8
    transfer: int = 1
    unequal: float = 0.0


@fields_as_parameters
def pipeline(
    rng: np.random.Generator,
    *,
    tasks: int,
    cluster: Cluster | None = None,
    layout_of_stages: PipelineLayout = PipelineLayout(),
    micro_batches: int | None = None,
    fused: bool = False,
    times: PassTimes = PassTimes(),
    limit: float | None = None,
) -> DagInstance:
    """Make one iteration of pipeline training in which a forward pass holds memory until its backward pass ends.

    Parameters
    ----------
    rng
        Source of the factors of unequal stages.
    tasks
        Requested number of tasks, from which the number of micro-batches follows unless it is given.
    cluster
        GPUs that the stages are on; default equal ones. A GPU is slower than the fastest kind by the ratio of peak
        rates, and its memory is not used: `limit` gives the memory.
    layout_of_stages, times
        Their fields may be given one by one.
    fused
        Whether B and W are one task.
    limit
        Memory of every GPU as a multiple of the least with which a schedule exists, at least 1; None for no limit.

    Returns
    -------
    DagInstance
        A forward pass of a mean stage holds 1,000,000 bytes, half of which B frees and half W.
    """
    gpus = check_integer("gpus", layout_of_stages.gpus if cluster is None else len(cluster.kinds), low=1)
    stages = gpus * check_integer("chunks", layout_of_stages.chunks, low=1)
    passes = (2 if fused else 3) * stages
    tasks = check_integer("tasks", tasks, low=1)
    batches = (
        max(1, round(tasks / passes)) if micro_batches is None else check_integer("micro_batches", micro_batches, low=1)
    )
    unequal = check_number("unequal", times.unequal, low=0.0, high=0.95)
    means = [
        check_integer("forward", times.forward, low=1),
        check_integer("backward", times.backward, low=0),
        check_integer("weight", times.weight, low=0),
    ]
    factors = 1.0 + unequal * rng.uniform(-1.0, 1.0, size=stages)
    ticks = [[max(1, round(mean * factor)) if mean else 0 for factor in factors] for mean in means]
    held = [int(500_000 * factor) for factor in factors]
    slowdown, kinds, servers = None, None, None
    if cluster is not None:
        rates = [kind.flops(PRECISION) for kind in cluster.kinds]
        slowdown = [max(rates) / rate for rate in rates]
        kinds = [kind.name for kind in cluster.kinds]
        servers = [server.name for server in cluster.server_of_gpu]

    def made(limits: int | None) -> DagInstance:
        return pipeline_instance(
            micro_batches=batches,
            forward=ticks[0],
            backward=ticks[1],
            weight=ticks[2],
            transfer=times.transfer,
            until_backward=held,
            until_weight=held,
            limits=limits,
            gpus=gpus,
            layout=layout_of_stages.layout,
            fused=fused,
            slowdown=slowdown,
            gpu_kinds=kinds,
            gpu_servers=servers,
            is_free=layout_of_stages.is_free,
        )

    if limit is None:
        return made(None)
    return made(int(check_number("limit", limit, low=1.0) * least_limit(made(None))))
