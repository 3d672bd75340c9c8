"""Instances and runs of A-SRPT from seeds, for tests over many of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.policies.a_srpt import a_srpt_policy
from heuristics.jobs.policies.guided_policy import ASrptParameters
from heuristics.jobs.policies.run_policy import run_policy
from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.objective import JobsObjective
from tests.heuristics.jobs.fixed_predictor import FixedPredictor

if TYPE_CHECKING:
    from heuristics.jobs.simulator import Simulation
    from instances.jobs.instance import JobsInstance

CLUSTERS = ("2*3xV100-16GB,2*2xT4", "4*2xT4", "3*4xT4,2*4xV100-16GB,1xP100", "2xV100-16GB,2xT4")


@dataclass(frozen=True, kw_only=True)
class DrawnRun:
    """An instance with predictions off by a factor of up to 3, and parameters."""

    instance: JobsInstance
    predictions: list[int]
    objective: JobsObjective
    parameters: ASrptParameters

    @property
    def is_weighted(self) -> bool:
        """Whether the weighted rule holds."""
        differ = len(set(self.instance.weight.tolist())) > 1
        return self.objective is JobsObjective.WEIGHTED_COMPLETION and differ

    def simulated(self, mode: str) -> Simulation:
        """Return a run of A-SRPT."""
        policy = a_srpt_policy(self.instance, self.objective, self.parameters, mode)
        done = run_policy(
            policy,
            np.random.default_rng(0),
            predictor=FixedPredictor(self.predictions),
        )
        assert done is not None
        return done


def drawn_run(seed: int, *, max_jobs: int = 16) -> DrawnRun:
    """Return the run of a seed."""
    rng = np.random.default_rng(seed)
    instance = generate_jobs(
        "jobs-small",
        jobs=int(rng.integers(2, max_jobs + 1)),
        seed=seed,
        load=float(rng.choice([0.0, 0.5, 1.0, 2.0])),
        cluster=parse_cluster(str(rng.choice(CLUSTERS))),
        max_gang=int(rng.integers(1, 6)),
        max_stages=3,
        max_iterations=6,
        traffic=float(rng.choice([0.1, 0.5, 1.0])),
    )
    error = 3.0 ** rng.uniform(-1, 1, instance.num_jobs)
    return DrawnRun(
        instance=instance,
        predictions=np.maximum(1, np.rint(instance.iterations * error)).astype(int).tolist(),
        objective=list(JobsObjective)[int(rng.integers(2))],
        parameters=ASrptParameters(
            theta=Fraction(str(rng.choice(["1", "1.2", "1.5"]))),
            tau=Fraction(str(rng.choice(["0", "0.25", "1", "3"]))),
            eps=Fraction(str(rng.choice(["0", "0.02", "0.2"]))),
            phi=(None, None, Fraction(1), Fraction(3, 2))[int(rng.integers(4))],
        ),
    )
