"""How much of an exact solve is spent outside the back end."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import pytest

from instances.generators.dag.generate import generate
from solvers.run.outcome import Status
from solvers.solve import solve

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from solvers.result import Result

pytestmark = pytest.mark.speed


FAMILIES = ("layered", "erdos-renyi", "series-parallel", "transformer", "cholesky")


@pytest.mark.parametrize("family", FAMILIES)
def test_time_outside_the_back_end(benchmark: BenchmarkFixture, family: str) -> None:
    """Tests that a 50-task instance is proved; reports the share of each whole call that is not CP-SAT's own time."""
    instance = generate(family, tasks=50, seed=3)
    solve(instance, "heft")  # load all kernels
    shares: list[float] = []

    def timed() -> Result:
        begin = time.perf_counter()
        result = solve(instance, time_limit=60.0, seed=1)
        assert result.backend_seconds is not None
        shares.append(1.0 - result.backend_seconds / (time.perf_counter() - begin))
        return result

    assert benchmark.pedantic(timed, rounds=3, warmup_rounds=1).status is Status.OPTIMAL
    benchmark.extra_info["share_outside"] = statistics.median(shares)
    print(f"\n{family}: {100 * statistics.median(shares):.1f} % outside the back end")
