"""Small jobs instances on which every method must do right: degenerate, awkward and random ones."""

from __future__ import annotations

from fractions import Fraction

from instances.generators.jobs.generate_jobs import generate_jobs
from instances.jobs.job import Job, Stage
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_server import JobsServer


def check_jobs_instances(*, with_interference: bool = False) -> list[JobsInstance]:
    """Return the instances of the conformance kit; each fits into a second of exact solving.

    Parameters
    ----------
    with_interference
        Whether to add one whose jobs slow each other down, on racks, for methods that know it.
    """
    pair = [
        JobsServer(kind="F", gpus=2, nic_bytes_per_tick=10),
        JobsServer(kind="S", gpus=2, nic_bytes_per_tick=Fraction(7, 2)),
    ]
    either: dict[str, int | None] = {"F": 2, "S": 3}
    alone = JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)
    first = Stage(times=either, replicas=2, activation_bytes=20, parameter_bytes=10)
    return [
        JobsInstance.from_parts(pair, [], name="no jobs"),
        JobsInstance.from_parts([alone], [_job({"F": 3}, iterations=2)], name="one job, one GPU"),
        JobsInstance.from_parts(pair, [_job(either, iterations=2) for _ in range(5)], name="all ties"),
        JobsInstance.from_parts(
            pair, [_job(either, replicas=4, parameters=9), _job(either, release=1)], name="a job as wide as the cluster"
        ),
        JobsInstance.from_parts(
            pair,
            [_job({"F": 2, "S": None}, iterations=3), _job({"F": None, "S": 4}, replicas=2), _job(either, replicas=3)],
            name="kinds not allowed",
        ),
        JobsInstance.from_parts(
            pair,
            [
                _job(either, iterations=9, weight=1, replicas=2),
                _job(either, release=1, iterations=1, weight=7, replicas=3, parameters=20),
                _job(either, release=1, iterations=4, weight=2),
            ],
            name="weights",
        ),
        JobsInstance.from_parts(
            pair,
            [
                Job(stages=[first, Stage(times=either)], micro_batches=2, iterations=2, release=release)
                for release in (0, 0, 30)
            ],
            name="stages, idle in between",
        ),
        *(generate_jobs("jobs-small", jobs=6, seed=seed, load=1.0) for seed in range(3)),
        *([_interfering()] if with_interference else []),
    ]


def _interfering() -> JobsInstance:
    """Return jobs that slow each other down; every server is a rack."""
    return generate_jobs(
        "jobs-small-co-located", jobs=4, seed=0, load=1.0, servers_per_rack=1, name="jobs that interfere"
    )


def _job(
    times: dict[str, int | None],
    *,
    replicas: int = 1,
    parameters: int = 0,
    iterations: int = 1,
    release: int = 0,
    weight: int = 1,
) -> Job:
    """Return a job of one stage."""
    stage = Stage(times=times, replicas=replicas, parameter_bytes=parameters)
    return Job(stages=[stage], iterations=iterations, release=release, weight=weight)
