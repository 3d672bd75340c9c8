"""How long the network takes: one placement, and all placements of a generation, of 100 tasks on 8 GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.load_vector import running_loads
from heuristics.dag.worl_rtgs import network
from heuristics.dag.worl_rtgs.episode import play
from heuristics.dag.worl_rtgs.features import episode_data
from heuristics.dag.worl_rtgs.generator import DdqnGenerator
from heuristics.dag.worl_rtgs.network import initial_weights
from instances.clusters.cluster import parse_cluster
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from tests.compiled import compiled

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from instances.dag.instance import DagInstance

q_values = compiled(network.q_values)

pytestmark = pytest.mark.speed
WEIGHTS = initial_weights(np.random.default_rng(0))


@pytest.fixture(scope="module")
def instance() -> DagInstance:
    """Return 100 tasks in layers on 8 GPUs of 4 kinds."""
    cluster = parse_cluster("2xA100-40GB+2xV100-16GB,2xP100+2xT4")
    made = generate("layered", tasks=100, seed=1, cluster=cluster)
    assert (made.num_tasks, made.num_gpus) == (100, 8)
    return made


def test_one_step(benchmark: BenchmarkFixture) -> None:
    """Tests that every GPU gets a value; times one forward pass for 8 GPUs, the call from Python included."""
    rows = np.random.default_rng(1).uniform(-1, 1, (8, 12)).astype(np.float32)
    fits, values = np.ones(8, dtype=np.bool_), np.zeros(8, dtype=np.float32)
    benchmark(q_values, WEIGHTS, rows, fits, values)
    assert (np.abs(values) > 0).all()


def test_one_placement(benchmark: BenchmarkFixture, instance: DagInstance) -> None:
    """Tests that a placement is complete and fits; times it. Target: 0.33 ms."""
    arrays, data = dag_arrays(instance), episode_data(instance)
    no_wish, no_noise = np.empty(0), np.empty((0, 0))
    timeline = benchmark(play, arrays, data, WEIGHTS, no_wish, 0.0, no_noise, 0.0)
    assert timeline.overflow[0] == 0
    assert (timeline.gpu >= 0).all()


def test_generation(benchmark: BenchmarkFixture, instance: DagInstance) -> None:
    """Tests that 50 whales get different placements; times one generation. Target: 100 ms."""
    generator = DdqnGenerator(instance=instance, objective=Objective.MAKESPAN, weights=WEIGHTS)
    rng = np.random.default_rng(2)
    gpu = rng.integers(8, size=(50, 100))
    desired = running_loads(instance.durations, gpu, episode_data(instance).order)
    population = benchmark(generator.generate, desired, rng, 1.0)
    assert population.gpu.shape == (50, 100)
    assert len({row.tobytes() for row in population.gpu}) == 50
    assert (population.objective >= episode_data(instance).lower_bound).all()
