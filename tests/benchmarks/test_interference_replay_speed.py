"""How fast policies replay 10,000 jobs that slow each other down on 10,000 GPUs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.policies.key_policies import wcs_duration
from heuristics.jobs.policies.run_policy import run_policy
from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.objective import job_completion_times
from instances.jobs.servers import Racks
from instances.jobs.verify import verify_jobs_schedule

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from heuristics.jobs.simulator import Simulation
    from instances.jobs.instance import JobsInstance

pytestmark = pytest.mark.speed

COPIES = 10


def large(family: str) -> JobsInstance:
    """Return jobs for ten times the servers of a generated instance, which arrive ten times as fast."""
    base = generate_jobs(family, jobs=10_000, seed=1, load=0.9, cluster=parse_cluster("125*8xV100-16GB"))
    size = COPIES * base.num_servers
    columns = ("server_kind", "num_gpus_of", "nic_numerator", "nic_denominator")
    racks = base.racks
    if racks is not None:
        uplinks = [racks.uplink_bytes_per_tick(0)] * (size // 2)
        racks = Racks.of(np.arange(size) // 2, uplinks)
    return dataclasses.replace(
        base,
        server_names=tuple(f"s{server}" for server in range(size)),
        release=base.release // COPIES,
        racks=racks,
        **{name: np.tile(getattr(base, name), COPIES) for name in columns},
    )


@pytest.mark.parametrize("with_interference", [False, True])
@pytest.mark.parametrize("family", ["jobs-co-located", "jobs-shared-gpus"])
def test_dispatches_per_second(benchmark: BenchmarkFixture, family: str, with_interference: bool) -> None:
    """Tests that the replay verifies and tells its completions right; reports milliseconds per tick with an event."""
    instance = large(family)
    if not with_interference:
        instance = dataclasses.replace(instance, interference=None)
    assert instance.num_gpus == 10_000

    def replay() -> Simulation:
        done = run_policy(wcs_duration.make(instance), np.random.default_rng(0))
        assert done is not None
        return done

    done = benchmark.pedantic(replay, rounds=1, warmup_rounds=1)
    assert verify_jobs_schedule(instance, done.schedule) == []
    assert (job_completion_times(instance, done.schedule) == done.completion).all()
    if benchmark.stats is not None:
        each = 1e3 * benchmark.stats["min"] / done.num_dispatches
        benchmark.extra_info.update(milliseconds_per_dispatch=each)
        print(f"\n{family}, interference {with_interference}: {each:.3f} ms per tick with an event")
