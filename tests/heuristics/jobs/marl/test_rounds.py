"""Tests that agents place jobs by the rules, that every simulation ends, and that every schedule verifies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from heuristics.jobs.marl.environment import AgentsRun, simulate_agents
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import round_rewards
from heuristics.jobs.marl.rounds import Rounds
from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import job_completion_times
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.marl.deciders import FirstSlot, Forwarder, LastSlot, RandomSlot
from tests.heuristics.jobs.marl.seen import stream
from tests.interference_strategies import interfering_instances, two_jobs
from tests.jobs_strategies import jobs_instances

DECIDERS = (RandomSlot, FirstSlot, LastSlot, Forwarder)


def run_agents(instance: JobsInstance, decider: RandomSlot, num_agents: int, max_forwards: int = 1) -> AgentsRun:
    """Run and check what every run must hold."""
    run = simulate_agents(instance, decider, Oracle(instance), num_agents=num_agents, max_forwards=max_forwards)
    assert run is not None
    rounds, schedule = run.rounds, run.simulation.schedule
    assert verify_jobs_schedule(instance, schedule) == []
    assert run.simulation.completion.tolist() == job_completion_times(instance, schedule).tolist()
    assert not any(rounds.queues)
    assert rounds.num_forwards.max(initial=0) <= max_forwards
    assert rounds.num_decisions == decider.num_seen
    for job in range(instance.num_jobs):
        used = np.flatnonzero(schedule.placement(instance, job).any(axis=0))
        assert set(rounds.partitions.agent_of_server[used].tolist()) == {rounds.owner(job)}
    last = dict(zip(range(instance.num_jobs), rounds.partitions.home.tolist(), strict=True))
    for _, job, agent in rounds.forwards:
        assert last[job] != agent
        assert rounds.partitions.can_host[agent, job]
        last[job] = agent
    assert [last[job] for job in range(instance.num_jobs)] == [rounds.owner(job) for job in range(instance.num_jobs)]
    return run


@settings(max_examples=40, deadline=None)
@given(
    instance=st.one_of(
        jobs_instances(max_jobs=6, max_servers=4, max_gpus=4),
        interfering_instances(max_jobs=6, max_servers=4, max_gpus=3),
    ),
    decider=st.sampled_from(DECIDERS),
    num_agents=st.sampled_from([1, 2, 4]),
    max_forwards=st.sampled_from([0, 1, 3]),
    seed=st.integers(0, 9),
)
def test_any_decisions_give_a_schedule(
    instance: JobsInstance, decider: type[RandomSlot], num_agents: int, max_forwards: int, seed: int
) -> None:
    """Tests the rules on odd instances, whatever is decided."""
    try:
        Partitions(instance, num_agents)
    except ValueError:
        assume(False)
    run_agents(instance, decider(np.random.default_rng(seed)), num_agents, max_forwards)


@pytest.mark.parametrize("family", ["jobs-poisson", "jobs-co-located", "jobs-shared-gpus"])
@pytest.mark.parametrize("num_agents", [1, 2, 4])
def test_generated_instances(family: str, num_agents: int) -> None:
    """Tests untrained decisions on streams with and without interference, racks and two jobs per GPU."""
    instance = stream(family, jobs=25, seed=3)
    runs = [run_agents(instance, RandomSlot(np.random.default_rng(5)), num_agents) for _ in range(2)]
    assert runs[0].rounds.num_decisions > 25
    assert runs[0].simulation.schedule.entry_server.tolist() == runs[1].simulation.schedule.entry_server.tolist()
    assert runs[0].simulation.schedule.start.tolist() == runs[1].simulation.schedule.start.tolist()
    assert bool(runs[0].rounds.forwards) == (num_agents > 1)


def four_servers(releases: tuple[int, ...], ticks: int = 10) -> JobsInstance:
    """Return jobs of one GPU each for four servers of one GPU."""
    servers = [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)] * 4
    return JobsInstance.from_parts(servers, [Job(stages=[Stage(times=ticks)], release=r) for r in releases])


def test_worked_rounds() -> None:
    """Tests by hand: who waits may only do so beside a running job, and a forwarded job is walked in the same tick.

    Two agents, two servers each; jobs 0, 2, 4 have home 0, jobs 1, 3 home 1. Whoever may wait does; else forwards.
    At 0: job 0 may not wait and goes to agent 1; agent 1 sends job 1 to agent 0. Neither may be forwarded again, and
    nothing runs on either side: both start. Jobs 2 and 3 wait beside them, until 10. Then both are forwarded.
    Job 4 arrives at 15 with home 0, beside job 3, and waits until 20; then it is forwarded to agent 1.
    """
    run = run_agents(four_servers((0, 0, 1, 1, 15)), LastSlot(np.random.default_rng(0)), 2)
    assert run.rounds.forwards == [(0, 0, 1), (0, 1, 0), (10, 2, 1), (10, 3, 0), (20, 4, 1)]
    assert run.simulation.schedule.start.tolist() == [0, 0, 10, 10, 20]
    assert run.simulation.schedule.entry_server.tolist() == [2, 0, 2, 0, 2]


def test_no_jobs() -> None:
    """Tests that an instance without jobs has an empty schedule, no decisions and no rewards."""
    run = run_agents(four_servers(()), RandomSlot(np.random.default_rng(0)), 4)
    assert (run.rounds.num_decisions, run.rounds.forwards) == (0, [])
    assert round_rewards(run).unfinished.shape == (0, 4)


def test_without_forwards_jobs_stay_at_home() -> None:
    """Tests F = 0 and that the first group of idle equal servers is the first server."""
    run = run_agents(four_servers((0, 0, 0, 0)), FirstSlot(np.random.default_rng(0)), 4, max_forwards=0)
    assert run.rounds.forwards == []
    assert run.simulation.schedule.entry_server.tolist() == [0, 1, 2, 3]


def test_worked_example_of_interference() -> None:
    """Tests that one agent that starts both jobs of the reference's example at arrival sees them end at 12 and 11."""
    run = run_agents(two_jobs(), FirstSlot(np.random.default_rng(0)), 1)
    assert run.simulation.completion.tolist() == [12, 11]


def test_states_follow_the_simulation() -> None:
    """Tests loads and occupancy during a run against sums over the running jobs, and that nothing is left behind."""
    instance = stream("jobs-shared-gpus", jobs=40, seed=1)
    interference = instance.interference
    assert interference is not None
    most: set[int] = set()

    class Looker(RandomSlot):
        """Compares at every decision."""

        def begin_round(self, rounds: Rounds, time: int) -> None:
            """Recount."""
            super().begin_round(rounds, time)
            states, together = rounds.states, rounds.together
            assert together is not None
            assert rounds.cluster.occupancy is not None
            for server in range(instance.num_servers):
                assert states.load[server].tolist() == [float(each) for each in together.load(server)]
                for gpu in range(int(instance.num_gpus_of[server])):
                    jobs = list(rounds.cluster.occupancy.occupants(server, gpu))
                    assert states.num_on_gpu[server, gpu] == len(jobs)
                    assert states.starts[server, gpu] == sum(states.started_at(job) for job in jobs)
                    cpu = [float(interference.use[job, 0]) for job in jobs]
                    assert states.use[server, gpu, 0] == pytest.approx(sum(cpu))
            most.update(states.num_on_gpu.ravel().tolist())
            running = {job for own in rounds.running_on for job in own}
            assert running == set(together.running())

    decider = Looker(np.random.default_rng(0))
    run = run_agents(instance, decider, 2)
    assert len(decider.times) > 40
    assert most == {0, 1, 2}
    states = run.rounds.states
    for job in [job for own in run.rounds.running_on for job in own]:
        states.complete(job)
    assert not states.num_on_gpu.any()
    assert not states.use.any()
    assert not states.sens.any()
    assert not states.num_jobs_on.any()


def test_masked_slots_are_refused() -> None:
    """Tests that a decider cannot choose what is masked, and the checks of the rounds."""

    class Waits(RandomSlot):
        """Always waits."""

        def decide(self, rounds: Rounds, decision: object) -> int:  # type: ignore[override]
            """Wait."""
            return rounds.num_slots - 1

    instance = four_servers((0,))
    with pytest.raises(ValueError, match=r"slot of job 0: expected one of \[0, 8\], got 9\."):
        simulate_agents(instance, Waits(np.random.default_rng(0)), Oracle(instance), num_agents=2)
    shapes, decider = JobShapes(instance), RandomSlot(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"max_forwards: expected at least 0, got -1\."):
        Rounds(shapes, Partitions(instance, 1), decider, max_forwards=-1)
    with pytest.raises(RuntimeError, match="decider: expected one, or a caller that walks the passes, got None"):
        simulate_agents(instance, None, Oracle(instance), num_agents=2)  # type: ignore[arg-type]
    other = dataclasses.replace(instance, name="other")
    with pytest.raises(ValueError, match="partitions: expected those of the instance"):
        Rounds(shapes, Partitions(other, 1), decider)
    with pytest.raises(ValueError, match="phi: expected None"):
        Rounds(JobShapes(instance, 2), Partitions(instance, 1), decider)
