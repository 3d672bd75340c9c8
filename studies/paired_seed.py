"""Seeds of a study's runs: the same for every method, so that methods are compared in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.jobs.jobs_instance import JobsInstance


def paired_seed(study_seed: int, instance: DagInstance | JobsInstance, repetition: int = 0) -> int:
    """Return the seed of all methods on an instance in one repetition, in [0, 2**32)."""
    entropy = [study_seed, int(instance.sha256[:16], 16), repetition]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
