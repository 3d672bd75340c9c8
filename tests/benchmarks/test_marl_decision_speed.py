"""How long agents with graph networks take for a decision, by number of servers and agents."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import initial_parameters
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.simulate_agents import AgentsRun, simulate_agents
from heuristics.jobs.predictors.oracle import Oracle
from instances.jobs import Interference, Job, JobsInstance, JobsServer, Racks, Stage, verify_jobs_schedule

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.rounds import Rounds

pytestmark = pytest.mark.speed

JOBS = 50
SERVERS_PER_RACK = 10


class Timed(NetworkDecider):
    """Measures every decision of an untrained network: observation and forward pass."""

    seconds: list[float]

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Decide, and note the time."""
        begin = time.perf_counter()
        slot = super().decide(rounds, decision)
        self.seconds.append(time.perf_counter() - begin)
        return slot


def racks_of_eights(num_servers: int) -> JobsInstance:
    """Return servers of 8 GPUs of three kinds, ten to a rack, and jobs of 1 to 16 GPUs with interference."""
    rng = np.random.default_rng(0)
    servers = [JobsServer(kind="FST"[v % 3], gpus=8, nic_bytes_per_tick=1000) for v in range(num_servers)]
    jobs = [
        Job(
            stages=[Stage(times={"F": 10, "S": 14, "T": 20}, replicas=int(rng.integers(1, 17)), parameter_bytes=1000)],
            iterations=int(rng.integers(100, 1000)),
            release=20 * number,
            micro_batches=4,
        )
        for number in range(JOBS)
    ]
    nothing = np.zeros(JOBS, dtype=np.int64)
    interference = Interference(
        use=np.column_stack([rng.integers(50, 300, (JOBS, 2)), nothing]),
        sens=np.column_stack([rng.integers(50, 400, (JOBS, 2)), nothing]),
    )
    rack_of = [v // SERVERS_PER_RACK for v in range(num_servers)]
    racks = Racks.of(rack_of, [4000] * (rack_of[-1] + 1))
    return JobsInstance.from_parts(servers, jobs, interference=interference, racks=racks)


@pytest.mark.parametrize("num_agents", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("num_servers", [200, 1250, 10_000])
def test_time_of_a_decision(benchmark: BenchmarkFixture, num_servers: int, num_agents: int) -> None:
    """Tests that the schedule verifies; reports the median decision, and the whole simulation per decision."""
    instance = racks_of_eights(num_servers)
    parameters = initial_parameters(np.random.default_rng(0), ObservationSize.of(Partitions(instance, num_agents)))
    deciders: list[Timed] = []

    def run() -> AgentsRun:
        """Simulate."""
        deciders.append(Timed(parameters, 1000.0, rng=np.random.default_rng(1)))
        deciders[-1].seconds = []
        found = simulate_agents(instance, deciders[-1], Oracle(instance), num_agents=num_agents)
        assert found is not None
        return found

    found = benchmark.pedantic(run, rounds=1, warmup_rounds=1)
    assert verify_jobs_schedule(instance, found.simulation.schedule) == []
    seconds = deciders[-1].seconds
    assert len(seconds) == found.rounds.num_decisions >= JOBS // 2
    benchmark.extra_info["decision_ms"] = round(1e3 * float(np.median(seconds)), 2)
    if benchmark.stats is not None:
        whole = benchmark.stats.stats.mean / len(seconds)
        benchmark.extra_info["simulation_ms_per_decision"] = round(1e3 * whole, 2)
    print(f"\n{8 * num_servers:>6} GPUs, {num_agents:>2} agents: {benchmark.extra_info}")
