"""Two jobs per GPU for an instance that has one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.pair_table import PairTable


def share_gpus(instance: JobsInstance, pairs: PairTable, *, seed: int) -> JobsInstance:
    """Return the instance with two jobs per GPU and the speeds of a table.

    Jobs of one model tag are of one class, drawn uniformly from the table; which class stands for which model is a
    model of ours. Resources, use and sensitivities stay as they are.

    Parameters
    ----------
    instance
        What is scheduled.
    pairs
        Classes and their speeds.
    seed
        Of the classes, at least 0.

    Returns
    -------
    JobsInstance
        The same for the same arguments.
    """
    rng = np.random.default_rng(check_integer("seed", seed, low=0))
    tags = sorted(set(instance.model_tag), key=str)
    class_of = dict(zip(tags, rng.integers(0, len(pairs.classes), len(tags)).tolist(), strict=True))
    known, nothing = instance.interference, np.zeros((instance.num_jobs, 0), dtype=np.int64)
    interference = pairs.interference(
        np.array([class_of[tag] for tag in instance.model_tag], dtype=np.int64),
        nothing if known is None else known.use,
        nothing if known is None else known.sens,
        () if known is None else known.resources,
    )
    return dataclasses.replace(instance, interference=interference)
