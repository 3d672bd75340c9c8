"""How much of an exact solve is spent outside the back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from instances.generators import generate
from solvers import Status, solve

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from solvers import Result

pytestmark = pytest.mark.speed


def test_time_outside_the_back_end(benchmark: BenchmarkFixture) -> None:
    """Tests that a 50-task instance is proved; reports the share of the whole call that is not CP-SAT's own time."""
    instance = generate("layered", tasks=50, seed=3)
    solve(instance, "heft")  # load all kernels
    result: Result = benchmark.pedantic(solve, (instance,), {"time_limit": 60.0, "seed": 1}, rounds=3)
    assert result.status is Status.OPTIMAL
    assert result.backend_seconds is not None
    if benchmark.stats is not None:
        share = 1.0 - result.backend_seconds / benchmark.stats["mean"]
        benchmark.extra_info["share_outside"] = share
        print(f"\noutside the back end: {100 * share:.1f} %")
