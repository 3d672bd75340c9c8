"""Tests that the teacher starts the shortest jobs first on their first groups, and never forwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.training.run_episodes import Teacher
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.marl.seen import stream

if TYPE_CHECKING:
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.rounds import Decision


def test_the_shortest_waiting_job_starts_first() -> None:
    """Tests a server of 2 GPUs with a job of 10 ticks on one of them; jobs of 1 GPU and 9, 3, 5 ticks wait at 1.

    One GPU is free at 1: the job of 3 ticks takes it, at 4 that of 5, at 9 that of 9; the first two are asked later.
    """
    server = JobsServer(kind="F", gpus=2, nic_bytes_per_tick=1)
    lengths = [(0, 10), (1, 9), (1, 3), (1, 5)]
    instance = JobsInstance.from_parts([server], [Job(stages=[Stage(times=t)], release=r) for r, t in lengths])
    slots: list[tuple[int, int]] = []
    teacher = Teacher(lambda decision, seen, slot: slots.append((decision.job, slot)), kappa=5.0)
    run = simulate_agents(instance, teacher, Oracle(instance), num_agents=1)
    assert run is not None
    assert run.simulation.schedule.start.tolist() == [0, 9, 1, 4]
    assert slots == [(1, 8), (2, 0), (1, 8), (3, 0), (1, 0)]  # nobody is asked where nothing is free


@pytest.mark.parametrize("family", ["jobs-poisson", "jobs-co-located", "jobs-shared-gpus"])
def test_schedules_verify_and_nobody_forwards(family: str) -> None:
    """Tests streams without and with interference and shared GPUs: the first group or waiting, and what is seen."""
    instance = stream(family, jobs=80)
    seen: list[tuple[Decision, Observation, int]] = []
    run = simulate_agents(instance, Teacher(lambda *what: seen.append(what), 100.0), Oracle(instance), num_agents=2)
    assert run is not None
    assert verify_jobs_schedule(instance, run.simulation.schedule) == []
    assert not run.rounds.forwards
    assert {slot for _, _, slot in seen} == {0, 9}
    assert all(each.mask.tolist() == decision.mask.tolist() for decision, each, _ in seen)
