"""How long one evaluation of a search takes: decoding random keys into a schedule and its makespan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.random_keys import DECODINGS, RandomKeys
from instances.clusters.cluster import parse_cluster
from instances.dag.objective import Objective, objective_value
from instances.generators.dag.generate import generate

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.speed


@pytest.mark.parametrize("decoding", DECODINGS)
def test_one_evaluation(benchmark: BenchmarkFixture, decoding: str) -> None:
    """Tests that the fitness of a 100-task, 8-GPU plan is that of its schedule; times the evaluation."""
    instance = generate("layered", tasks=100, seed=1, cluster=parse_cluster("mixed-8"))
    keys = RandomKeys(instance, Objective.MAKESPAN, decoding)
    point = np.random.default_rng(1).random(keys.num_keys)
    overflow, makespan = benchmark(keys.evaluate, point)
    schedule = keys.schedule(point)
    assert overflow == 0
    assert schedule is not None
    assert makespan == objective_value(instance, schedule, Objective.MAKESPAN)
