"""Tests that every policy runs under interference and that its schedule replays exactly."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.placements.cluster_state import GpuOccupancy
from heuristics.jobs.placements.heavy_edge import HeavyEdge, plain_heavy_edge
from heuristics.jobs.placements.heavy_edge_kernel import CONTRACT, GROW, STAGE_ORDER
from heuristics.jobs.placements.registry import PLACEMENTS
from heuristics.jobs.policies.a_srpt import MODES, a_srpt, a_srpt_policy
from heuristics.jobs.policies.key_policies import (
    fifo,
    qssf,
    spjf,
    spwf,
    srtf,
    wcs_duration,
    wcs_subtime,
    wcs_workload,
)
from heuristics.jobs.policies.resource_policies import drf, tetris
from heuristics.jobs.policies.run_policy import run_policy
from heuristics.jobs.policy import Policy
from heuristics.jobs.simulator import simulate
from heuristics.search.progress import Callback
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import NOT_TOGETHER, Interference
from instances.jobs.iteration_time import iteration_parts
from instances.jobs.objective import JobsObjective, job_completion_times
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.fixed_predictor import FixedPredictor
from tests.heuristics.jobs.policies.called import called
from tests.interference_strategies import interfering_instances, plain_completions, racks_of, two_jobs
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


TOTAL = JobsObjective.TOTAL_COMPLETION

POLICIES: dict[str, Callable[[JobsInstance], Policy]] = {
    "fifo": fifo.make,
    "spjf": spjf.make,
    "spwf": spwf.make,
    "wcs-duration": wcs_duration.make,
    "wcs-workload": wcs_workload.make,
    "wcs-subtime": wcs_subtime.make,
    "qssf": lambda instance: qssf.make(instance, "oracle"),
    "srtf": srtf.make,
    "drf": drf.make,
    "tetris": tetris.make,
    "a-srpt": lambda instance: a_srpt_policy(instance, TOTAL),
    "a-srpt work-conserving": lambda instance: a_srpt_policy(instance, TOTAL, mode="work_conserving"),
}


@settings(max_examples=60, deadline=None)
@given(
    instance=interfering_instances(max_jobs=6),
    name=st.sampled_from(sorted(POLICIES)),
    placement=st.sampled_from(list(PLACEMENTS)),
    seed=st.integers(0, 9),
)
def test_every_schedule_replays(instance: JobsInstance, name: str, placement: str, seed: int) -> None:
    """Tests that a policy's schedule verifies, and that its completions are those of the replay tick by tick."""
    run = run_policy(POLICIES[name](instance), np.random.default_rng(seed), placement=placement)
    assert run is not None
    assert verify_jobs_schedule(instance, run.schedule) == []
    assert run.completion.tolist() == job_completion_times(instance, run.schedule).tolist()
    assert run.completion.tolist() == plain_completions(instance, run.schedule)


@pytest.mark.parametrize("name", sorted(POLICIES))
@settings(max_examples=8, deadline=None)
@given(instance=jobs_instances(max_jobs=6))
def test_nothing_to_share_is_the_base_problem(name: str, instance: JobsInstance) -> None:
    """Tests that with share 1, no resources and no racks a policy decides as without interference, tick by tick."""
    nothing = np.zeros((instance.num_jobs, 0), dtype=np.int64)
    silent = dataclasses.replace(instance, interference=Interference(resources=(), use=nothing, sens=nothing))
    base, same = (
        run_policy(POLICIES[name](each), np.random.default_rng(1), placement="random") for each in (instance, silent)
    )
    assert base is not None
    assert same is not None
    assert base.completion.tolist() == same.completion.tolist()
    for key in ("start", "entry_offsets", "entry_server", "entry_count"):
        assert getattr(base.schedule, key).tolist() == getattr(same.schedule, key).tolist()
    assert (base.num_dispatches, base.num_placements) == (same.num_dispatches, same.num_placements)
    assert same.schedule.gpu is None


def test_worked_example_under_fifo() -> None:
    """Tests that FIFO starts both jobs of the reference's example at arrival and sees them end at 12 and 11."""
    run = run_policy(fifo.make(two_jobs()), np.random.default_rng(0))
    assert run is not None
    assert (run.schedule.start.tolist(), run.completion.tolist()) == ([0, 4], [12, 11])


def test_a_completion_frees_gpus_when_it_really_comes() -> None:
    """Tests that a job that waits for two slowed ones starts when they end, not when they would have ended alone."""
    server = JobsServer(kind="F", gpus=4, nic_bytes_per_tick=1)
    jobs = [Job(stages=[Stage(times=t, replicas=g)], release=r) for t, g, r in ((10, 2, 0), (5, 2, 4), (3, 4, 5))]
    slow = Interference(resources=("cpu",), use=np.array([[400]] * 3), sens=np.array([[500]] * 3))
    instance = JobsInstance.from_parts([server], jobs, interference=slow)
    run = run_policy(fifo.make(instance), np.random.default_rng(0))
    assert run is not None
    assert (run.schedule.start.tolist(), run.completion.tolist()) == ([0, 4, 12], [12, 11, 15])


@settings(max_examples=30, deadline=None)
@given(instance=interfering_instances(max_jobs=5))
def test_same_seed_same_schedule(instance: JobsInstance) -> None:
    """Tests that a random placement repeats itself, named GPUs too."""
    first, second = (run_policy(fifo.make(instance), np.random.default_rng(3), placement="random") for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.schedule.entry_server.tolist() == second.schedule.entry_server.tolist()
    names = [None if run.schedule.gpu is None else run.schedule.gpu.tolist() for run in (first, second)]
    assert names[0] == names[1]


def test_which_gpus_are_taken() -> None:
    """Tests the order: idle GPUs, then the best pair of speeds, then numbers; what may not be shared is not free."""
    server = JobsServer(kind="F", gpus=4, nic_bytes_per_tick=1)
    jobs = [Job(stages=[Stage(times=1)]) for _ in range(4)]
    none = np.zeros((4, 0), dtype=np.int64)
    pair = np.array([[500, 600, NOT_TOGETHER], [600, 500, 900], [NOT_TOGETHER, 700, 500]])
    shared = Interference(
        resources=(), use=none, sens=none, share=2, classes=("a", "b", "c"), job_class=np.array([0, 1, 2, 0]), pair=pair
    )
    instance = JobsInstance.from_parts([server], jobs, interference=shared)
    state = GpuOccupancy(instance)
    assert state.choose(0, 0, 2) == [0, 1]
    state.take(0, [(0, 0)])
    state.take(1, [(0, 1)])
    assert state.free.tolist() == [[4], [4], [3]]  # class c may not sit beside a
    assert state.choose(2, 0, 3) == [2, 3, 1]
    state.take(2, [(0, 2), (0, 3)])
    # For job 3 of class a: beside a 500 + 500, beside b 600 + 600, beside c never.
    assert (state.idle.tolist(), state.free.tolist()) == ([0], [[2], [4], [3]])
    assert state.choose(3, 0, 2) == [1, 0]
    with pytest.raises(ValueError, match=r"job 3: expected 3 free GPUs on server 0, got 2\."):
        state.choose(3, 0, 3)
    state.take(3, [(0, 1)])
    assert state.free.tolist() == [[1], [3], [2]]
    assert list(state.occupants(0, 1)) == [1, 3]
    state.release(1, [(0, 1)])
    assert state.free.tolist() == [[2], [4], [2]]


@settings(max_examples=60, deadline=None)
@given(instance=jobs_instances(max_servers=4, max_gpus=3), data=st.data())
def test_placements_know_uplinks(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests the kernel of Heavy-Edge with racks against its plain twin and the formula."""
    behind = dataclasses.replace(instance, racks=data.draw(racks_of(instance.num_servers)))
    groupings = GROW | CONTRACT | STAGE_ORDER
    free = np.array([data.draw(st.integers(0, gpus)) for gpus in instance.num_gpus_of.tolist()])
    for job in range(instance.num_jobs):
        found = HeavyEdge(behind, groupings=groupings).place(job, free)
        rows = behind.stages_of(job)
        plain = plain_heavy_edge(behind, behind.time_of[rows].tolist(), job, free.tolist(), groupings)
        assert (found is None) == (plain is None)
        if found is None or plain is None:
            continue
        counts, comp, comm = plain
        placed = found.matrix(behind.num_stages_of(job), behind.num_servers)
        assert (found.comp, found.comm) == (comp, comm) == iteration_parts(behind, job, placed)
        assert {(s, v): int(placed[s, v]) for s, v in np.argwhere(placed).tolist()} == counts


TOTAL_SIMULATOR = JobsObjective.TOTAL_COMPLETION


class Rounds(Callback):
    """Remembers rounds and may stop after some."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.rows: list[Mapping[str, float | None]] = []
        self._stop_after = stop_after
        self.wants_stop = stop_after == 0

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Remember it."""
        self.rows.append(row)
        self.wants_stop = self._stop_after is not None and len(self.rows) >= self._stop_after


def test_callback_hears_of_starts() -> None:
    """Tests the rows of FIFO on the worked example: job 0 at 0, jobs 1 and 2 at 24."""
    rounds = Rounds()
    assert fifo(worked_example(), np.random.default_rng(0), rounds) is not None
    assert rounds.rows == [
        {"jobs_started": 1, "num_jobs": 3, "ticks": 0},
        {"jobs_started": 3, "num_jobs": 3, "ticks": 24},
    ]


@pytest.mark.parametrize("stop_after", [0, 1])
def test_callback_may_stop(stop_after: int) -> None:
    """Tests that a stopped replay has no schedule."""
    assert fifo(worked_example(), np.random.default_rng(0), Rounds(stop_after)) is None


def test_no_jobs() -> None:
    """Tests that an instance without jobs has an empty schedule."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    for policy in (fifo, a_srpt):
        schedule = called(policy, instance, TOTAL_SIMULATOR)
        assert schedule.start.tolist() == []
        assert verify_jobs_schedule(instance, schedule) == []


def test_gpus_are_free_at_the_tick_of_completion() -> None:
    """Tests that a job that arrives when another one ends starts at once."""
    stage = Stage(times={"F": 5})
    instance = JobsInstance.from_parts(
        [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [Job(stages=[stage]), Job(stages=[stage], release=5)]
    )
    done = simulate(instance, fifo.make(instance), None, HeavyEdge(instance))
    assert done is not None
    assert done.schedule.start.tolist() == [0, 5]
    assert (done.num_dispatches, done.prediction) == (2, None)


def test_predictions_are_checked() -> None:
    """Tests that a policy that needs predictions gets some, of at least 1."""
    instance = worked_example()
    with pytest.raises(ValueError, match="expected one, because the policy uses predictions"):
        simulate(instance, spjf.make(instance), None, HeavyEdge(instance))
    with pytest.raises(ValueError, match="prediction of job 1: expected at least 1, got 0"):
        simulate(instance, spjf.make(instance), FixedPredictor([1, 0, 1]), HeavyEdge(instance))


class Idle(Policy):
    """Starts nobody."""

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Forget the job."""

    def dispatch(self, time: int) -> list[int]:
        """Start nobody."""
        return []


def test_policy_that_starts_nobody_is_found_out() -> None:
    """Tests that the simulation ends with an error where nothing can happen any more."""
    instance = worked_example()
    policy = Idle(fifo.make(instance).shapes)
    with pytest.raises(RuntimeError, match="expected it to start all 3 jobs, got 0"):
        simulate(instance, policy, FixedPredictor([1, 1, 1]), HeavyEdge(instance))


@settings(deadline=None, max_examples=60)
@given(instance=jobs_instances(max_jobs=5), mode=st.sampled_from(list(MODES)), data=st.data())
def test_nothing_is_known_of_iterations_before_completion(
    instance: JobsInstance, mode: str, data: st.DataObject
) -> None:
    """Tests that other iterations of jobs that run or wait at some time leave all starts up to then as they are."""
    predictions = data.draw(st.lists(st.integers(1, 6), min_size=instance.num_jobs, max_size=instance.num_jobs))

    def run(one: JobsInstance) -> tuple[list[int], list[int]]:
        policy = a_srpt_policy(one, TOTAL_SIMULATOR, mode=mode)
        done = simulate(one, policy, FixedPredictor(predictions), HeavyEdge(one))
        assert done is not None
        return done.schedule.start.tolist(), done.completion.tolist()

    start, completion = run(instance)
    time = data.draw(st.sampled_from(completion)) - 1
    more = [n + 3 if end > time else n for n, end in zip(instance.iterations.tolist(), completion, strict=True)]
    again, _ = run(dataclasses.replace(instance, iterations=np.array(more)))
    assert [one for one in again if one <= time] == [one for one in start if one <= time]
    assert [job for job, one in enumerate(again) if one <= time] == [
        job for job, one in enumerate(start) if one <= time
    ]
