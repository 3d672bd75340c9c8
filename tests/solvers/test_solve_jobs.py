"""Tests of running methods on jobs instances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.search.progress import Callback
from instances.dag.instance import DagInstance
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.instance import JobsInstance
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.schedule import JobsSchedule
from instances.jobs.verify import verify_jobs_schedule
from solvers.confirmation.reproducer import read_reproducer
from solvers.methods import JOBS_METHODS
from solvers.run.bound import Bound
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Status, Termination
from solvers.solve import solve
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    from collections.abc import Mapping


POLICIES = [name for name, method in JOBS_METHODS.items() if method.kind == "policy"]


@pytest.mark.parametrize("method", [name for name, method in JOBS_METHODS.items() if method.kind == "exact"])
def test_exact_methods_prove_the_worked_example(method: str) -> None:
    """Tests that every exact method proves the optimum of the worked example, 98."""
    result = solve(worked_example(), method, threads=1, time_limit=60)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 98, 98)
    assert (result.gap, result.gap_kind) == (0.0, "optimality gap")


@pytest.mark.parametrize(
    ("method", "parameters", "objective"),
    [
        ("fifo", {}, 120),
        ("spjf", {}, 100),
        ("srtf", {}, 100),
        ("a-srpt", {"mode": "work_conserving"}, 100),
        ("a-srpt", {}, 127),
    ],
)
def test_policies_on_the_worked_example(method: str, parameters: Mapping[str, str], objective: int) -> None:
    """Tests the hand-computed objectives, and the gap to the proven optimum."""
    instance = worked_example()
    optimum = solve(instance, threads=1, time_limit=60).bound
    assert optimum is not None
    result = solve(instance, method, bounds=[optimum], **parameters)
    assert (result.objective, result.lower_bound) == (objective, 98)
    assert result.gap == pytest.approx((objective - 98) / 98)
    assert result.gap_kind == "optimality gap"
    assert result.parameters == parameters


@settings(deadline=None, max_examples=40)
@given(instance=jobs_instances(), method=st.sampled_from(POLICIES), objective=st.sampled_from(JobsObjective))
def test_no_policy_is_below_a_bound(instance: JobsInstance, method: str, objective: JobsObjective) -> None:
    """Tests that schedules verify, that what is told of them is recomputed, and that no bound is above them."""
    result = solve(instance, method, objective=objective, seed=3)
    assert result.schedule is not None
    assert verify_jobs_schedule(instance, result.schedule) == []
    assert result.objective == jobs_objective_value(instance, result.schedule, objective)
    assert result.lower_bound is not None
    assert result.lower_bound <= result.objective
    assert result.termination is Termination.FINISHED


def test_objective_of_jobs_is_total_completion_by_default() -> None:
    """Tests that `solve` minimises the total completion time of jobs unless it is told otherwise, in equal runs."""
    instance = generate_jobs("jobs-small", jobs=6, seed=2)
    first, second = solve(instance, "spwf", seed=5), solve(instance, "spwf", objective="total_completion", seed=5)
    assert first.objective == second.objective
    assert first.objective_name is second.objective_name is JobsObjective.TOTAL_COMPLETION
    assert (first.method, first.seed, first.threads) == ("spwf", 5, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"method": "heft"},
            r"^method: expected one for jobs \(cp-sat, .*\), got 'heft', which schedules DAGs of tasks",
        ),
        ({"method": "ffo"}, r"^method: expected one of cp-sat, .*, got 'ffo' \(did you mean fifo\?\)\.$"),
        (
            {"objective": "makespan"},
            r"^objective: expected one of total_completion, weighted_completion, got 'makespan'",
        ),
        ({"method": "fifo", "predictor": "oracle"}, r"^predictor: expected a parameter of fifo \(placement\)"),
        ({"method": "a-srpt", "tau": -1}, r"^tau: expected at least 0, got -1"),
        ({"method": "spjf", "predictor": "crystal"}, r"^predictor: expected one of oracle, "),
        ({"stop": lambda progress: True}, r"^stop: expected none for a jobs instance"),
        ({"confirm": True}, r"^confirm: expected none for a jobs instance"),
        ({"contention": "nic"}, r"^contention: expected none for a jobs instance, got 'nic'"),
        ({"time_limit": 0}, r"^time_limit: expected a positive number of seconds"),
    ],
)
def test_misuse_is_refused(arguments: dict[str, object], message: str) -> None:
    """Tests that what would be ignored or fail later is refused by name."""
    with pytest.raises(ValueError, match=message):
        solve(worked_example(), **arguments)  # type: ignore[call-overload]  # that is the misuse


def test_a_policy_is_none_for_dags() -> None:
    """Tests that the error for a policy on a DAG instance says what it is."""
    message = r"^method: expected one for DAGs of tasks \(cp-sat, .*\), got 'a-srpt', which schedules jobs\.$"
    with pytest.raises(ValueError, match=message):
        solve(DagInstance.from_lists([[1]]), "a-srpt")


def test_start_is_verified_and_used() -> None:
    """Tests that an exact method takes a start that verifies, and refuses one that does not."""
    instance = worked_example()
    start = solve(instance, threads=1, time_limit=60).schedule
    assert start is not None
    assert solve(instance, start=start, threads=1, time_limit=60).objective == 98
    placements = [start.placement(instance, job) for job in range(instance.num_jobs)]
    wrong = JobsSchedule.from_placements(instance, np.zeros(3, dtype=np.int64), placements)
    with pytest.raises(ValueError, match=r"^start: expected a schedule that verifies, got \d violations"):
        solve(instance, start=wrong)
    with pytest.raises(ValueError, match=r"^start: expected none for fifo"):
        solve(instance, "fifo", start=start)


def test_negative_gap_raises_and_leaves_a_reproducer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a bound above a verified schedule stops the run, and that the file gives both back."""
    monkeypatch.chdir(tmp_path)
    instance = worked_example()
    wrong = Bound(value=101, method="my-bound", proof="none")
    with pytest.raises(ContradictionError, match=r"The bound 101 of my-bound exceeds the objective 100 "):
        solve(instance, "spjf", bounds=[wrong], seed=4)
    (path,) = Path().glob("optgap-reproducer-*.json")
    found = read_reproducer(path)
    assert isinstance(found.instance, JobsInstance)
    assert isinstance(found.schedule, JobsSchedule)
    assert found.instance.sha256 == instance.sha256
    assert jobs_objective_value(found.instance, found.schedule, JobsObjective.TOTAL_COMPLETION) == 100
    assert found.evidence["bound"]["value"] == 101
    assert found.evidence["seed"] == 4
    assert found.claims == {"my-bound": "a bound of 101", "spjf": "a schedule of 100"}


class _Stops(Callback):
    """Wants to stop at once."""

    wants_stop = True


def test_stopped_replay_has_no_schedule_and_keeps_its_bound() -> None:
    """Tests that a policy that is told to stop gives a result without a schedule."""
    instance = generate_jobs("jobs-small", jobs=15, seed=1)
    result = solve(instance, "fifo", callback=_Stops())
    assert (result.schedule, result.objective, result.gap) == (None, None, None)
    assert (result.status, result.termination) == (Status.UNKNOWN, Termination.INTERRUPTED)
    assert result.lower_bound is not None
    assert "objective: none" in str(result)


def test_time_limit_ends_a_replay() -> None:
    """Tests that a replay beyond its time limit ends as such."""
    result = solve(generate_jobs("jobs-small", jobs=400, seed=1), "a-srpt", time_limit=1e-9)
    assert (result.schedule, result.termination) == (None, Termination.TIME_LIMIT)


def test_callback_hears_of_the_replay() -> None:
    """Tests that a callback is told how many jobs have started, up to all of them."""
    rows = []

    class Listens(Callback):
        def on_round(self, row: Mapping[str, float | None]) -> None:
            rows.append(row)

    solve(generate_jobs("jobs-small", jobs=50, seed=1), "wcs-duration", callback=Listens(), bounds=[])
    started = [row["jobs_started"] for row in rows]
    assert started == sorted(started, key=float)  # type: ignore[arg-type]  # all are numbers
    assert started[-1] == 50


def test_own_policy() -> None:
    """Tests that a function of the user's is a method: one job after the other, each on the first servers that fit."""

    def one_by_one(instance: JobsInstance) -> JobsSchedule:
        placements = [solve(instance, "fifo", bounds=[]).schedule]
        assert placements[0] is not None
        starts, time = [], int(instance.release.max(initial=0))
        for job in range(instance.num_jobs):
            starts.append(time)
            time += 1000
            chosen = [placements[0].placement(instance, job) for job in range(instance.num_jobs)]
        return JobsSchedule.from_placements(instance, np.array(starts), chosen)

    result = solve(worked_example(), one_by_one)
    assert result.method == "one_by_one"
    assert result.objective is not None
    assert result.objective > 3000


def test_other_returns_are_refused() -> None:
    """Tests that a function that returns something else is told so."""
    with pytest.raises(TypeError, match=r"^method: expected a JobsSchedule or None from the function, got int\.$"):
        solve(worked_example(), lambda instance: 5)  # type: ignore[call-overload]  # that is the misuse
    with pytest.raises(TypeError, match=r"^method: expected a name or a function, got 5\.$"):
        solve(worked_example(), 5)  # type: ignore[arg-type]  # that is the misuse


def test_schedule_of_another_instance_is_refused() -> None:
    """Tests that a schedule of another instance, with more jobs, is refused as unverified."""
    from solvers.result import UnverifiedScheduleError

    other = solve(generate_jobs("jobs-small", jobs=9, seed=1), "fifo").schedule
    with pytest.raises(UnverifiedScheduleError):
        solve(worked_example(), lambda instance: other)


def test_result_shows_the_same_in_all_views() -> None:
    """Tests that text, dictionary and notebook view tell the same figures, and JSON takes the dictionary."""
    parameters = {"predictor": "noisy-oracle", "predictor_parameters": {"mu": 2}}
    result = solve(worked_example(), "wcs-workload", **parameters)
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    promised = [
        "objective",
        "lower_bound",
        "gap",
        "status",
        "termination",
        "runtime_seconds",
        "method",
        "seed",
        "versions",
    ]
    assert set(promised) <= set(document)
    assert document["parameters"] == parameters
    assert f"objective: {document['objective']}\n" in str(result)
    assert result.statistics is not None
    assert document["statistics"]["jct_p95"] == result.statistics.jct_p95
    assert f"p95 {result.statistics.jct_p95}," in str(result)
    shown = result._repr_html_()  # what a notebook calls
    assert str(document["objective"]) in shown
    assert "<svg" in shown
