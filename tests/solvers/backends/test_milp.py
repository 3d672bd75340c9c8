"""Tests of running MILPs: confirmation, contradictions, workers that die."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

import solvers.backends.highs_worker
import solvers.backends.run_pyomo
from formulations.dag.milp.disjunctive import DisjunctiveModel
from formulations.dag.probing.windows import windows
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from instances.generators.dag.generate import generate
from solvers.backends.highs import CompiledMilp, HighsAnswer, compile_milp
from solvers.backends.highs_worker import run_highs_in_worker
from solvers.problem import DAG, PROBLEMS
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Status, Termination
from solvers.solve import solve

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("worker", [False, True])
def test_optimum_is_confirmed(example_e: DagInstance, worker: bool) -> None:
    """Tests that an optimum of HiGHS is confirmed by CP-SAT, in this process and from a worker."""
    result = solve(example_e, "milp-disjunctive", bounds=[], worker=worker, threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 15, 15)
    assert result.bound is not None
    assert result.bound.solver is not None
    assert result.bound.solver.startswith("highspy 1.12")
    assert result.bound.confirmed_by is not None


def test_unconfirmed_optimum_is_no_proof(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that without a second opinion nothing that HiGHS proves is claimed."""
    monkeypatch.setattr(solvers.backends.run_pyomo, "asked_of_cp_sat", lambda *_: (None, None))
    result = solve(example_e, "milp-disjunctive", bounds=[], threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.FEASIBLE, 15, 0)


def test_wrong_optimum_is_a_contradiction(
    example_e: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a wrong claim of HiGHS is refuted by CP-SAT's better schedule, with a reproducer."""
    monkeypatch.chdir(tmp_path)
    lie = HighsAnswer(solution=None, dual_bound=18.0, is_finished=True, is_infeasible=False, seconds=0.0)
    monkeypatch.setattr(solvers.backends.run_pyomo, "run_highs", lambda *_, **__: lie)
    start = DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 7, 4, 15, 10])
    monkeypatch.setitem(PROBLEMS, "dag", dataclasses.replace(DAG, warm_starts=()))
    with pytest.raises(ContradictionError, match="HiGHS proves 18, CP-SAT finds 15"):
        solve(example_e, "milp-disjunctive", bounds=[], start=start, threads=1)
    assert len(list(tmp_path.glob("optgap-reproducer-*.json"))) == 1


def test_wrong_infeasibility_is_a_contradiction(
    example_e: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that HiGHS may not call an instance infeasible that has a verified schedule."""
    monkeypatch.chdir(tmp_path)
    lie = HighsAnswer(solution=None, dual_bound=None, is_finished=True, is_infeasible=True, seconds=0.0)
    monkeypatch.setattr(solvers.backends.run_pyomo, "run_highs", lambda *_, **__: lie)
    with pytest.raises(ContradictionError, match="no schedule exists"):
        solve(example_e, "milp-disjunctive", bounds=[], threads=1)


def test_memory_that_cannot_be_packed_is_infeasible() -> None:
    """Tests that both models agree that three tasks of 2 bytes do not fit on two GPUs of 3 bytes."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    result = solve(instance, "milp-disjunctive", bounds=[], threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.INFEASIBLE, None, None)


def _hard_milp() -> CompiledMilp:
    """Return a MILP that takes HiGHS far longer than any test waits."""
    instance = generate("layered", tasks=45, seed=1)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    return compile_milp(DisjunctiveModel(instance, Objective.MAKESPAN, within).pyomo_model, has_start=False)[0]


@pytest.mark.whole
def test_killed_worker_loses_nothing_but_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a worker that is killed from outside leaves the bound that it had reported."""
    workers: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def remembered(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        workers.append(start(*arguments, **options))  # type: ignore[call-overload]
        return workers[-1]

    monkeypatch.setattr(solvers.backends.highs_worker.subprocess, "Popen", remembered)
    bounds: list[float] = []

    def kill_at_first_bound(objective: float | None, bound: float | None) -> None:
        if bound is not None and not bounds:
            bounds.append(bound)
            workers[0].send_signal(signal.SIGKILL)

    answer = run_highs_in_worker(
        _hard_milp(), absolute_gap=0.999, time_limit=120.0, threads=1, seed=1, report=kill_at_first_bound
    )
    assert bounds
    assert not answer.is_finished
    assert answer.solution is None
    assert answer.dual_bound is not None
    assert answer.dual_bound >= bounds[0]


def test_time_limit_keeps_schedule_and_bound() -> None:
    """Tests that a run that is cut short returns the start and a bound that is no proof."""
    instance = generate("layered", tasks=45, seed=1)
    result = solve(instance, "milp-disjunctive", bounds=[], time_limit=1.0, threads=1, worker=True)
    assert result.schedule is not None
    assert result.termination is Termination.TIME_LIMIT
    assert result.status is Status.FEASIBLE
