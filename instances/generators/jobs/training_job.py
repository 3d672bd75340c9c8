"""Training jobs from a network and a number of GPUs, and random ones from a mix of networks."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.fields import one_of
from instances.generators.jobs.network_models import ELEMENT_BYTES, NETWORK_MODELS
from instances.jobs.instance import Stage
from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.clusters.cluster import Cluster
    from instances.clusters.gpu_kinds import GpuKind
    from instances.generators.jobs.network_models import NetworkBlock, NetworkModel


@functools.lru_cache(maxsize=1024)
def cut_into_stages(model: NetworkModel, num_stages: int) -> tuple[tuple[int, int], ...]:
    """Cut the chain of blocks so that the heaviest stage computes as little as possible.

    Parameters
    ----------
    model
        At least as many blocks as stages.
    num_stages
        At least 1.

    Returns
    -------
    tuple[tuple[int, int], ...]
        First block of each stage, and the one after its last.

    Raises
    ------
    ValueError
        If there are more stages than blocks.
    """
    num_blocks = len(model.blocks)
    if not 1 <= num_stages <= num_blocks:
        raise ValueError(f"num_stages: expected 1 to {num_blocks}, the blocks of {model.name}, got {num_stages}.")
    work = [0, *itertools.accumulate(block.flops for block in model.blocks)]
    best: list[float] = [0.0, *[float("inf")] * num_blocks]  # smallest heaviest stage of the first blocks
    cuts = []
    for stage in range(num_stages):
        following, cut_before = [float("inf")] * (num_blocks + 1), [0] * (num_blocks + 1)
        for end in range(stage + 1, num_blocks + 1):
            for begin in range(stage, end):
                heaviest = max(best[begin], work[end] - work[begin])
                if heaviest < following[end]:
                    following[end], cut_before[end] = heaviest, begin
        best = following
        cuts.append(cut_before)
    ends = [num_blocks]
    for cut_before in reversed(cuts):
        ends.append(cut_before[ends[-1]])
    ends.reverse()
    return tuple(itertools.pairwise(ends))


TRAINING_FLOPS = 3
"""Forward plus backward over forward: the backward pass computes gradients of inputs and of parameters."""

STATE_BYTES = 16
"""Memory per parameter in mixed-precision training with Adam: Rajbhandari et al. (2020), ZeRO, section 3.1."""

EFFICIENCY = 0.4
"""Reached share of a GPU's peak at half precision: an assumption of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """The part of a job that its network and training configuration determine; user and run time are drawn separately.

    Parameters
    ----------
    model_tag
        Name of the network.
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
    """Cut a network into as few stages as memory allows and replicate them.

    Parameters
    ----------
    micro_batches_per_stage
        Q over the number of stages.

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


GANG_SIZES = (1, 2, 4, 8, 16, 32)
GANG_SHARES = (0.6, 0.1, 0.1, 0.13, 0.05, 0.02)
"""Share of jobs with each gang size: an assumption of ours; most jobs use one GPU (Jeon et al. 2019; Hu et al. 2021).

Networks that need more memory than the drawn GPUs have are given more of them, so wide jobs are commoner than this.
"""

MICRO_BATCHES_PER_STAGE = (1, 2, 4)
"""Choices for Q over S, equally likely: an assumption of ours."""


def checked_models(models: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of networks to draw from; None stands for all.

    Raises a `ValueError` if a network is not in the catalogue, or there is none.
    """
    names = tuple(NETWORK_MODELS) if models is None else tuple(models)
    for name in names:
        one_of(name, NETWORK_MODELS, "models")
    if not names:
        raise ValueError("models: expected at least one network, got none.")
    return names


def draw_training_job(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    models: Sequence[str],
    *,
    max_gang: int,
    gpus: int | None = None,
) -> TrainingJob:
    """Draw a network, a gang size and a number of micro-batches that have a placement on the empty cluster.

    Parameters
    ----------
    models
        Names of networks, equally likely.
    max_gang
        Largest gang to draw.
    gpus
        Size of the gang where it is given. A network that does not fit on it gives way to another one.

    Raises
    ------
    ValueError
        If no network fits.
    """
    sizes = [size for size in GANG_SIZES if size <= max_gang]
    weights = GANG_SHARES[: len(sizes)]
    drawn = int(rng.choice(sizes, p=[share / sum(weights) for share in weights])) if gpus is None else gpus
    per_stage = int(rng.choice(MICRO_BATCHES_PER_STAGE))
    order = [models[index] for index in rng.permutation(len(models))]
    wider = [drawn] if gpus is not None else [drawn, *(size for size in sizes if size > drawn)]
    for name in order:
        for size in wider:  # a large network needs more GPUs than were drawn
            job = training_job(
                NETWORK_MODELS[name],
                gpus=size,
                micro_batches_per_stage=per_stage,
                cluster=cluster,
                tick_seconds=tick_seconds,
            )
            if job is not None:
                return job
    raise ValueError(
        f"models: expected a network that fits on {max(wider)} GPUs of the cluster, got {', '.join(models)}."
    )
