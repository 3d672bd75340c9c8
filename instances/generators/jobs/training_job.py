"""Stages of a training job from a network, a number of GPUs and the kinds that there are."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.generators.jobs.cut_into_stages import cut_into_stages
from instances.generators.jobs.network_model import ELEMENT_BYTES
from instances.jobs.job import Stage
from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.cluster import Cluster
    from instances.generators.jobs.network_model import NetworkBlock, NetworkModel
    from instances.gpu_kind import GpuKind

TRAINING_FLOPS = 3
"""Forward plus backward over forward: the backward pass computes gradients of inputs and of parameters."""

STATE_BYTES = 16
"""Memory per parameter in mixed-precision training with Adam: Rajbhandari et al. (2020), ZeRO, section 3.1."""

EFFICIENCY = 0.4
"""Reached share of a GPU's peak at half precision: an assumption of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """What a network and its training configuration fix of a job; who submits it and how long it runs is drawn apart.

    Parameters
    ----------
    model_tag
        Name of the network.
    stages
        The pipeline.
    micro_batches
        Micro-batches Q per iteration.
    least_ticks
        (Q + S - 1) times the time of the slowest stage on its fastest kind: an iteration takes at least as long.
    """

    model_tag: str
    stages: tuple[Stage, ...]
    micro_batches: int
    least_ticks: int


def training_job(
    model: NetworkModel, *, gpus: int, micro_batches_per_stage: int, cluster: Cluster, tick_seconds: float
) -> TrainingJob | None:
    """Cut a network into as few stages as memory asks for and replicate them.

    Parameters
    ----------
    model
        What is trained.
    gpus
        Size of the gang.
    micro_batches_per_stage
        Q over the number of stages.
    cluster
        Servers of one kind of GPU each.
    tick_seconds
        Length of a tick in seconds.

    Returns
    -------
    TrainingJob | None
        None where no cut leaves a placement on the empty cluster.

    Notes
    -----
    All of this is a model of ours over published layer sizes. A stage has ``STATE_BYTES`` per parameter in memory, and
    kinds with less are not allowed. The number of stages S is the smallest with which the job has a placement. Replicas
    are dealt in turn to the stage with most work per replica. A micro-batch has ``samples * gpus / S`` samples, split
    evenly over the replicas of a stage; its time on a kind is 3 times the forward FLOPs over ``EFFICIENCY`` of the
    peak at half precision, rounded up to ticks. Activations are those of all micro-batches of an iteration.
    """
    capacity = _gpus_of_kind(cluster)
    kinds = {kind.name: kind for kind in cluster.kinds}
    for num_stages in range(1, min(gpus, len(model.blocks)) + 1):
        parts = [model.blocks[first:last] for first, last in cut_into_stages(model, num_stages)]
        replicas = _replicas(parts, gpus)
        fits = [[_memory(part) <= kind.memory_bytes for kind in kinds.values()] for part in parts]
        if all(map(any, fits)) and replicas_fit(replicas, fits, [capacity[name] for name in kinds]):
            return _with_times(model, parts, replicas, micro_batches_per_stage * num_stages, kinds, tick_seconds)
    return None


def _with_times(
    model: NetworkModel,
    parts: Sequence[Sequence[NetworkBlock]],
    replicas: Sequence[int],
    micro_batches: int,
    kinds: dict[str, GpuKind],
    tick_seconds: float,
) -> TrainingJob:
    """Return the job with times and sizes."""
    samples = model.samples * sum(replicas) / len(parts)
    rows, stages = [], []
    for number, (part, count) in enumerate(zip(parts, replicas, strict=True)):
        flops = TRAINING_FLOPS * sum(block.flops for block in part) * samples / count
        times = {
            name: max(1, math.ceil(flops / (EFFICIENCY * kind.flops("fp16")) / tick_seconds))
            for name, kind in kinds.items()
            if _memory(part) <= kind.memory_bytes
        }
        rows.append(times)
        is_last = number == len(parts) - 1
        moved = 0 if is_last else math.ceil(micro_batches * samples * part[-1].output_elements * ELEMENT_BYTES)
        parameters = ELEMENT_BYTES * sum(block.parameters for block in part)
        stages.append(Stage(times=times, replicas=count, activation_bytes=moved, parameter_bytes=parameters))
    slowest = max(min(row.values()) for row in rows)
    return TrainingJob(
        model_tag=model.name,
        stages=tuple(stages),
        micro_batches=micro_batches,
        least_ticks=(micro_batches + len(stages) - 1) * slowest,
    )


def _replicas(parts: Sequence[Sequence[NetworkBlock]], gpus: int) -> list[int]:
    """Deal replicas in turn to the stage with most work per replica."""
    work = [sum(block.flops for block in part) for part in parts]
    replicas = [1] * len(parts)
    for _ in range(gpus - len(parts)):
        loads = [share / count for share, count in zip(work, replicas, strict=True)]
        replicas[loads.index(max(loads))] += 1
    return replicas


def _memory(part: Sequence[NetworkBlock]) -> int:
    """Return the memory of a replica."""
    return STATE_BYTES * sum(block.parameters for block in part)


def _gpus_of_kind(cluster: Cluster) -> dict[str, int]:
    """Return the number of GPUs of each kind."""
    names = sorted(kind.name for kind in cluster.kinds)
    return {name: len(list(group)) for name, group in itertools.groupby(names)}
