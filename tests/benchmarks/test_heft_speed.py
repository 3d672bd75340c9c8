"""How fast HEFT is, beside a plain-Python reference of the same algorithm."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import pytest

from heuristics.dag.list_scheduling import heft
from instances.dag.objective import Objective, objective_value
from instances.generators.dag.generate import generate
from tests.plain_heft import plain_heft

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.speed


def test_heft_beside_plain_python(benchmark: BenchmarkFixture) -> None:
    """Tests that both give the same schedule of 200 tasks on 8 GPUs; reports the ratio of their times."""
    from instances.clusters.cluster import parse_cluster

    instance = generate("layered", tasks=200, seed=1, cluster=parse_cluster("mixed-8"))
    plain_seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        gpu, start = plain_heft(instance)
        plain_seconds.append(time.perf_counter() - begin)
    schedule = benchmark(heft, instance)
    assert schedule is not None
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == (list(gpu), list(start))
    assert objective_value(instance, schedule, Objective.MAKESPAN) > 0
    if benchmark.stats is not None:
        median = benchmark.stats["median"]
        benchmark.extra_info["plain_seconds"] = statistics.median(plain_seconds)
        benchmark.extra_info["ratio"] = statistics.median(plain_seconds) / median
        print(f"\nplain Python / ours: {statistics.median(plain_seconds) / median:.0f}")
