"""How long agents with graph networks take for a decision, by number of servers and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from studies.papers.timed_decisions import MeasuredDecisions, measure_decisions

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.speed

DECISIONS = 30


@pytest.mark.parametrize("num_agents", [1, 4, 16])
@pytest.mark.parametrize("num_servers", [100, 1250])
def test_time_of_a_decision(benchmark: BenchmarkFixture, num_servers: int, num_agents: int) -> None:
    """Tests that the decisions are the same ones again; reports the median one and its parts."""
    found: list[MeasuredDecisions] = []

    def run() -> None:
        """Measure."""
        found.append(measure_decisions(num_servers, num_agents, DECISIONS, seed=0))

    benchmark.pedantic(run, rounds=1, warmup_rounds=1)
    last = found[-1]
    assert len(last.seconds) >= DECISIONS
    assert all(each.slots == last.slots for each in found)
    for name in ("seconds", "groups", "observation", "network"):
        benchmark.extra_info[f"{name}_ms"] = round(1e3 * float(np.median(getattr(last, name))), 2)
    print(f"\n{last.num_gpus:>6} GPUs, {num_agents:>2} agents: {benchmark.extra_info}")
