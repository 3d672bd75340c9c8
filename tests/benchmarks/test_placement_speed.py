"""How fast jobs are placed on 1,500 GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_variants import Consolidated, StageOrder
from heuristics.jobs.placements.random_placement import RandomPlacement
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pytest_benchmark.fixture import BenchmarkFixture

    from heuristics.jobs.placements.placement import Placer

pytestmark = pytest.mark.speed

NUM_JOBS = 2_000


def cluster() -> tuple[JobsInstance, NDArray[np.int64]]:
    """Return 2,000 jobs, a third pipelines, on 400 servers with 1,500 GPUs of three kinds, half of them busy."""
    rng = np.random.default_rng(0)
    servers = [
        JobsServer(kind="ABC"[v % 3], gpus=(8, 4, 2, 1)[v % 4], nic_bytes_per_tick=(3_125_000, 1_250_000)[v % 2])
        for v in range(400)
    ]
    jobs = []
    for _ in range(NUM_JOBS):
        num_stages = int(rng.choice([1, 1, 1, 1, 2, 4]))
        stages = [
            Stage(
                times={kind: int(rng.integers(5, 50)) for kind in "ABC"},
                replicas=int(rng.choice([1, 1, 2, 4, 8])),
                activation_bytes=int(rng.integers(10**5, 10**8)) if stage + 1 < num_stages else 0,
                parameter_bytes=int(rng.integers(10**6, 10**9)),
            )
            for stage in range(num_stages)
        ]
        jobs.append(Job(stages=stages, micro_batches=4))
    instance = JobsInstance.from_parts(servers, jobs)
    return instance, rng.integers(0, instance.num_gpus_of, endpoint=True)


@pytest.mark.parametrize("rule", [HeavyEdge, StageOrder, Consolidated, RandomPlacement])
def test_jobs_per_second(benchmark: BenchmarkFixture, rule: type) -> None:
    """Tests that all 2,000 jobs are placed on half-free servers; reports jobs per second and the sum of alphas."""
    instance, free = cluster()
    placer: Placer = rule(instance, np.random.default_rng(1)) if rule is RandomPlacement else rule(instance)
    assert instance.num_gpus == 1_500

    def place_all() -> list[int]:
        found = [placer.place(job, free) for job in range(NUM_JOBS)]
        return [int(one.count.sum()) for one in found if one is not None]

    assert place_all() == instance.gang_size.tolist()
    assert benchmark(place_all) == instance.gang_size.tolist()
    if benchmark.stats is not None:
        rate = NUM_JOBS / benchmark.stats["median"]
        benchmark.extra_info["jobs_per_second"] = rate
        print(f"\n{rule.__name__}: {rate:,.0f} jobs per second")
