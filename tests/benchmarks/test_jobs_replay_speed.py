"""How fast every policy replays 15,000 recorded jobs on 1,500 GPUs."""

from __future__ import annotations

import functools
import resource
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.policies.a_srpt import a_srpt_policy
from heuristics.jobs.policies.key_policies import (
    fifo,
    qssf,
    spjf,
    spwf,
    srtf,
    wcs_duration,
    wcs_subtime,
    wcs_workload,
)
from heuristics.jobs.policies.resource_policies import drf, tetris
from heuristics.jobs.policies.run_policy import run_policy
from instances.jobs.objective import JobsObjective, job_completion_times
from instances.jobs.verify import verify_jobs_schedule
from instances.readers.jobs.philly_and_helios import read_philly
from tests.real_data import real_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

    from heuristics.jobs.policy import Policy
    from heuristics.jobs.simulator import Simulation
    from instances.jobs.instance import JobsInstance

pytestmark = pytest.mark.speed

TRACE = "gen-parallel-workloads/philly_15000.csv.gz"
NODES = "alibaba-gpu-v2023/openb_node_list_gpu_node.csv"
TOTAL = JobsObjective.TOTAL_COMPLETION
LEARNS = "running-median"

POLICIES: dict[str, Callable[[JobsInstance], Policy]] = {
    "fifo": fifo.make,
    "spjf": spjf.make,
    "spwf": spwf.make,
    "wcs-duration": wcs_duration.make,
    "wcs-workload": wcs_workload.make,
    "wcs-subtime": wcs_subtime.make,
    "qssf": lambda instance: qssf.make(instance, LEARNS),
    "srtf, blocks": lambda instance: srtf.make(instance, head="blocks"),
    "srtf, skips": lambda instance: srtf.make(instance, head="skips"),
    "load-balancing": wcs_subtime.make,
    "bin-packing": wcs_subtime.make,
    "least-interference": wcs_subtime.make,
    "drf": drf.make,
    "tetris": tetris.make,
    "a-srpt, provable": lambda instance: a_srpt_policy(instance, TOTAL),
    "a-srpt, work-conserving": lambda instance: a_srpt_policy(instance, TOTAL, mode="work_conserving"),
}

PLACEMENT_OF = {
    "load-balancing": "load-balance",
    "bin-packing": "best-fit",
    "least-interference": "least-load",
    "drf": "load-balance",
    "tetris": "free-descending",
}


@functools.cache
def philly() -> JobsInstance:
    """Return the whole cut on the servers of known kinds, arrivals as recorded."""
    instance = read_philly(real_data(TRACE), nodes=str(real_data(NODES)), skip_rows=0)
    assert (instance.num_jobs, instance.num_gpus) == (15_000, 1_508)
    assert instance.sha256
    return instance


@pytest.mark.parametrize("name", POLICIES)
def test_jobs_per_second(benchmark: BenchmarkFixture, name: str) -> None:
    """Tests that the replay verifies and tells its completions right; reports jobs per second and memory."""
    instance = philly()

    def replay() -> Simulation:
        predictor = "oracle" if name.startswith("srtf") else LEARNS
        placement = PLACEMENT_OF.get(name, "heavy-edge")
        policy, rng = POLICIES[name](instance), np.random.default_rng(0)
        done = run_policy(policy, rng, predictor=predictor, placement=placement)
        assert done is not None
        return done

    done = benchmark.pedantic(replay, rounds=2, warmup_rounds=1)
    assert verify_jobs_schedule(instance, done.schedule) == []
    assert (job_completion_times(instance, done.schedule) == done.completion).all()
    if benchmark.stats is not None:
        rate = instance.num_jobs / benchmark.stats["min"]
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
        jct_hours = float((done.completion - instance.release).mean()) * instance.tick_seconds / 3600
        benchmark.extra_info.update(jobs_per_second=rate, mean_jct_hours=jct_hours, process_gib=largest)
        print(f"\n{name}: {rate:,.0f} jobs per second, mean JCT {jct_hours:.1f} h, process {largest:.2f} GiB at most")
