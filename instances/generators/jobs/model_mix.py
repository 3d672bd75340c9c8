"""Random training jobs from a mix of networks and gang sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.jobs.network_models import NETWORK_MODELS
from instances.generators.jobs.training_job import TrainingJob, training_job

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.cluster import Cluster

GANG_SIZES = (1, 2, 4, 8, 16, 32)
GANG_SHARES = (0.6, 0.1, 0.1, 0.13, 0.05, 0.02)
"""Share of jobs with each gang size: an assumption of ours; most jobs use one GPU (Jeon et al. 2019; Hu et al. 2021).

Networks that need more memory than the drawn GPUs have are given more of them, so wide jobs are commoner than this.
"""

MICRO_BATCHES_PER_STAGE = (1, 2, 4)
"""Choices for Q over S, equally likely: an assumption of ours."""


def checked_models(models: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of networks to draw from; None stands for all.

    Raises
    ------
    ValueError
        If a network is not in the catalogue, or there is none.
    """
    names = tuple(NETWORK_MODELS) if models is None else tuple(models)
    for name in names:
        if name not in NETWORK_MODELS:
            raise ValueError(f"models: expected some of {', '.join(NETWORK_MODELS)}, got {name!r}.")
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
    rng
        Source of everything.
    cluster
        Servers of one kind of GPU each.
    tick_seconds
        Length of a tick in seconds.
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
