"""Tests of the exact methods for jobs: planted optima, relaxations, limits, claims that are not confirmed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from formulations.jobs.milp import time_indexed
from formulations.jobs.pattern_table import kind_patterns, server_patterns
from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import generate_jobs
from instances.generators.jobs.planted import planted_jobs
from instances.jobs.instance import JobsInstance
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from solvers.backends import highs
from solvers.backends.cp_sat_jobs import cp_sat_jobs
from solvers.backends.milp_jobs import milp_jobs
from solvers.run.contradiction import ContradictionError
from solvers.run.exact_run import ExactRun
from solvers.run.outcome import Outcome, Termination
from tests.brute_force_jobs import optimum_jobs
from tests.jobs_strategies import worked_example
from tests.runs import run_with

TOTAL = JobsObjective.TOTAL_COMPLETION
Method = Callable[[JobsInstance, JobsObjective, ExactRun[JobsSchedule]], Outcome[JobsSchedule]]
METHODS: list[Method] = [cp_sat_jobs, milp_jobs]


@pytest.mark.parametrize("objective", list(JobsObjective))
@pytest.mark.parametrize("seed", range(3))
def test_cp_sat_never_contradicts_a_planted_optimum(objective: JobsObjective, seed: int) -> None:
    """Tests that from the planted schedule on CP-SAT finds nothing better, and no bound is above it."""
    planted = planted_jobs(jobs=9, seed=seed, objective=objective)
    outcome = cp_sat_jobs(planted.instance, objective, run_with(start=planted.schedule, time_limit=2.0))
    assert outcome.schedule is not None
    assert jobs_objective_value(planted.instance, outcome.schedule, objective) == planted.optimum
    assert outcome.lower_bound is not None
    assert outcome.lower_bound <= planted.optimum


@pytest.mark.parametrize("method", METHODS)
def test_one_server_of_planted_jobs_is_proved(method: Method) -> None:
    """Tests that a planted optimum is found and proved where one server holds everything."""
    planted = planted_jobs(jobs=4, seed=3, cluster=parse_cluster("2xT4"), max_stages=1)
    outcome = method(planted.instance, planted.objective, run_with())
    assert outcome.schedule is not None
    assert verify_jobs_schedule(planted.instance, outcome.schedule) == []
    assert outcome.lower_bound == planted.optimum
    assert jobs_objective_value(planted.instance, outcome.schedule, planted.objective) == planted.optimum


@pytest.mark.parametrize("by_kind", [False, True])
def test_relaxation_gives_a_bound_and_no_schedule(by_kind: bool) -> None:
    """Tests that with too many patterns a bound at most the optimum is proved, the start handed back, and said so."""
    cluster = parse_cluster("1xV100-16GB,1xV100-16GB,2xT4")
    instance = generate_jobs("jobs-small", jobs=4, seed=2, load=2.0, cluster=cluster)
    best, listed = optimum_jobs(instance), kind_patterns(instance).num_patterns
    assert listed < server_patterns(instance).num_patterns
    outcome = cp_sat_jobs(instance, TOTAL, run_with(), max_patterns=listed if by_kind else 0)
    assert outcome.schedule is None
    assert outcome.lower_bound is not None
    assert 0 < outcome.lower_bound <= best
    assert f"relaxation: {'GPUs by kind' if by_kind else 'all GPUs'}" in str(outcome.solver)


def test_given_bound_and_relaxation_do_not_meet_in_one_model() -> None:
    """Tests that a bound on the problem above the relaxation's optimum is kept, and not raised by the relaxation."""
    instance = generate_jobs("jobs-small", jobs=5, seed=2, load=2.0)
    best = optimum_jobs(instance)
    outcome = cp_sat_jobs(instance, TOTAL, run_with(lower_bound=best), max_patterns=0)
    assert outcome.lower_bound == best


@pytest.mark.parametrize("method", METHODS)
def test_no_jobs(method: Method) -> None:
    """Tests that nothing to do is done at once."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    outcome = method(instance, TOTAL, run_with())
    assert outcome.schedule is not None
    assert verify_jobs_schedule(instance, outcome.schedule) == []
    assert outcome.lower_bound == 0


@pytest.mark.parametrize("method", METHODS)
def test_time_limit_of_nothing_and_interrupt(method: Method) -> None:
    """Tests that without time, or when stopped, the list schedule comes back with a bound below it."""
    instance = generate_jobs("jobs-small", jobs=5, seed=2, load=2.0)
    for run, expected in (
        (run_with(time_limit=0.0), Termination.TIME_LIMIT),
        (run_with(should_stop=lambda: True), Termination.INTERRUPTED),
    ):
        outcome = method(instance, TOTAL, run)
        assert outcome.termination is expected
        assert outcome.schedule is not None
        assert verify_jobs_schedule(instance, outcome.schedule) == []
        assert outcome.lower_bound is not None
        assert 0 < outcome.lower_bound <= optimum_jobs(instance)


@pytest.mark.parametrize("method", METHODS)
def test_same_run_twice(method: Method) -> None:
    """Tests that one thread and no limit give the same schedule, bit for bit."""
    instance = generate_jobs("jobs-small", jobs=4, seed=5, load=2.0)
    first, second = method(instance, TOTAL, run_with()), method(instance, TOTAL, run_with())
    assert first.schedule is not None
    assert second.schedule is not None
    for name in ("start", "entry_offsets", "entry_server", "entry_count"):
        assert getattr(first.schedule, name).tolist() == getattr(second.schedule, name).tolist()


def test_milp_beyond_reach_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that too large a model ends as failed with the list schedule and a solver-free bound."""
    monkeypatch.setattr(time_indexed, "MAX_STARTS", 3)
    instance = generate_jobs("jobs-small", jobs=5, seed=2, load=2.0)
    outcome = milp_jobs(instance, TOTAL, run_with())
    assert outcome.termination is Termination.FAILED
    assert str(outcome.failure).startswith("jobs: expected at most 3 triples of start")
    assert outcome.schedule is not None
    assert outcome.solver is None


def test_what_highs_claims_falsely_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a dual bound above the optimum raises: CP-SAT finds the schedule that contradicts it."""
    instance = worked_example()
    assert _list_value(instance) > 98

    def liar(milp: object, **_: object) -> highs.HighsAnswer:
        return highs.HighsAnswer(solution=None, dual_bound=1e9, is_finished=True, is_infeasible=False, seconds=0.0)

    monkeypatch.setattr(highs, "run_highs", liar)
    monkeypatch.setattr("solvers.run.contradiction.write_text", lambda *_: None)
    with pytest.raises(ContradictionError, match="HiGHS proves"):
        milp_jobs(instance, TOTAL, run_with())


def _list_value(instance: JobsInstance) -> int:
    """Return the objective of the list schedule that the exact methods begin with."""
    outcome = milp_jobs(instance, TOTAL, run_with(time_limit=0.0))
    assert outcome.schedule is not None
    return jobs_objective_value(instance, outcome.schedule, TOTAL)


def test_solver_that_fails_in_presolve_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that an exception from CP-SAT's presolve is no answer: it is asked once more without presolve."""
    from solvers.backends import cp_sat_jobs as module

    asked = []
    real = module.solve_in_thread

    def failing_once(solver: Any, model: Any, run: Any, *, reports: bool) -> Any:
        asked.append(solver.parameters.cp_model_presolve)
        if len(asked) == 1:
            raise IndexError("absl::container_internal::raw_hash_map<>::at")
        return real(solver, model, run, reports=reports)

    monkeypatch.setattr(module, "solve_in_thread", failing_once)
    outcome = cp_sat_jobs(worked_example(), TOTAL, run_with())
    assert asked == [True, False]
    assert outcome.lower_bound == 98
