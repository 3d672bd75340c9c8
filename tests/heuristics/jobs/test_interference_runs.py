"""Tests that every policy runs under interference and that its schedule replays exactly."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.gpu_occupancy import GpuOccupancy
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_kernel import CONTRACT, GROW, STAGE_ORDER
from heuristics.jobs.placements.plain_heavy_edge import plain_heavy_edge
from heuristics.jobs.policies.a_srpt import a_srpt_policy
from heuristics.jobs.policies.drf import drf_policy
from heuristics.jobs.policies.fifo import fifo_policy
from heuristics.jobs.policies.qssf import qssf_policy
from heuristics.jobs.policies.run_policy import PLACEMENTS, run_policy
from heuristics.jobs.policies.spjf import spjf_policy
from heuristics.jobs.policies.spwf import spwf_policy
from heuristics.jobs.policies.srtf import srtf_policy
from heuristics.jobs.policies.tetris import tetris_policy
from heuristics.jobs.policies.wcs_duration import wcs_duration_policy
from heuristics.jobs.policies.wcs_subtime import wcs_subtime_policy
from heuristics.jobs.policies.wcs_workload import wcs_workload_policy
from instances.jobs import (
    NOT_TOGETHER,
    Interference,
    Job,
    JobsInstance,
    JobsObjective,
    JobsServer,
    Stage,
    iteration_parts,
    job_completion_times,
    verify_jobs_schedule,
)
from tests.interference_strategies import interfering_instances, plain_completions, racks_of, two_jobs
from tests.jobs_strategies import jobs_instances

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.jobs.policies.policy import Policy

TOTAL = JobsObjective.TOTAL_COMPLETION

POLICIES: dict[str, Callable[[JobsInstance], Policy]] = {
    "fifo": fifo_policy,
    "spjf": spjf_policy,
    "spwf": spwf_policy,
    "wcs-duration": wcs_duration_policy,
    "wcs-workload": wcs_workload_policy,
    "wcs-subtime": wcs_subtime_policy,
    "qssf": lambda instance: qssf_policy(instance, "oracle"),
    "srtf": srtf_policy,
    "drf": drf_policy,
    "tetris": tetris_policy,
    "a-srpt": lambda instance: a_srpt_policy(instance, TOTAL),
    "a-srpt work-conserving": lambda instance: a_srpt_policy(instance, TOTAL, mode="work_conserving"),
}


@settings(max_examples=60, deadline=None)
@given(
    instance=interfering_instances(max_jobs=6),
    name=st.sampled_from(sorted(POLICIES)),
    placement=st.sampled_from(PLACEMENTS),
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
    run = run_policy(fifo_policy(two_jobs()), np.random.default_rng(0))
    assert run is not None
    assert (run.schedule.start.tolist(), run.completion.tolist()) == ([0, 4], [12, 11])


def test_a_completion_frees_gpus_when_it_really_comes() -> None:
    """Tests that a job that waits for two slowed ones starts when they end, not when they would have ended alone."""
    server = JobsServer(kind="F", gpus=4, nic_bytes_per_tick=1)
    jobs = [Job(stages=[Stage(times=t, replicas=g)], release=r) for t, g, r in ((10, 2, 0), (5, 2, 4), (3, 4, 5))]
    slow = Interference(resources=("cpu",), use=np.array([[400]] * 3), sens=np.array([[500]] * 3))
    instance = JobsInstance.from_parts([server], jobs, interference=slow)
    run = run_policy(fifo_policy(instance), np.random.default_rng(0))
    assert run is not None
    assert (run.schedule.start.tolist(), run.completion.tolist()) == ([0, 4, 12], [12, 11, 15])


@settings(max_examples=30, deadline=None)
@given(instance=interfering_instances(max_jobs=5))
def test_same_seed_same_schedule(instance: JobsInstance) -> None:
    """Tests that a random placement repeats itself, named GPUs too."""
    first, second = (run_policy(fifo_policy(instance), np.random.default_rng(3), placement="random") for _ in range(2))
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
