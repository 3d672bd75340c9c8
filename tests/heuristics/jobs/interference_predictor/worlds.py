"""Small instances and samples for the tests of the interference predictor."""

from __future__ import annotations

import numpy as np

from heuristics.jobs.interference_predictor.features import FeatureSpace
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.servers import JobsServer


def small_instance(share: int = 1, classes: int = 5) -> JobsInstance:
    """Return 60 small jobs of some classes on two servers of two GPUs each."""
    return generate_jobs(
        "jobs-small-co-located", jobs=60, seed=3, share=share, classes=classes, strength=2.0, max_gang=3
    )


def space_of(instance: JobsInstance) -> FeatureSpace:
    """Return the features of an instance."""
    return FeatureSpace.of([instance])


def three_jobs() -> JobsInstance:
    """Return a gang of two with traffic and two single jobs, of classes a, b, b, on servers of kinds F and G."""
    servers = [
        JobsServer(kind="F", gpus=3, nic_bytes_per_tick=10),
        JobsServer(kind="G", gpus=2, nic_bytes_per_tick=20),
    ]
    jobs = [
        Job(stages=[Stage(times=6, replicas=2, parameter_bytes=20)], iterations=10),
        Job(stages=[Stage(times=5)], iterations=10),
        Job(stages=[Stage(times=7)], iterations=10),
    ]
    interference = Interference(
        resources=("cpu", "nic"),
        use=np.array([[700, 0], [600, 0], [200, 0]]),
        sens=np.array([[500, 0], [300, 0], [0, 0]]),
        share=2,
        classes=("a", "b"),
        job_class=np.array([0, 1, 1]),
        pair=np.array([[900, 700], [800, 500]]),
    )
    return JobsInstance.from_parts(servers, jobs, interference=interference)
