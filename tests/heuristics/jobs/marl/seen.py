"""Observations for tests: those of a run with untrained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.environment import AgentsRun, simulate_agents
from heuristics.jobs.marl.network import initial_parameters
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import time_scale
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import generate_jobs

if TYPE_CHECKING:
    from heuristics.jobs.marl.network import Variant
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.rounds import Decision
    from instances.jobs.instance import JobsInstance


def stream(family: str, jobs: int = 20, seed: int = 2, **parameters: object) -> JobsInstance:
    """Return a stream of jobs on 64 GPUs of mixed servers."""
    return generate_jobs(
        family, jobs=jobs, seed=seed, load=1.3, cluster=parse_cluster("mixed-64"), max_gang=8, **parameters
    )


def watched_run(
    instance: JobsInstance, num_agents: int, variant: Variant, seed: int | None = 0, size: ObservationSize | None = None
) -> tuple[AgentsRun, list[tuple[Decision, Observation, int]]]:
    """Let an untrained network decide; by its probabilities, or greedily without a seed."""
    least = ObservationSize.of(Partitions(instance, num_agents)) if size is None else size
    seen: list[tuple[Decision, Observation, int]] = []
    decider = NetworkDecider(
        initial_parameters(np.random.default_rng(7), least, variant),
        time_scale([instance]),
        variant,
        size=size,
        rng=None if seed is None else np.random.default_rng(seed),
        watch=lambda decision, observation, slot: seen.append((decision, observation, slot)),
    )
    run = simulate_agents(instance, decider, Oracle(instance), num_agents=num_agents)
    assert run is not None
    return run, seen
