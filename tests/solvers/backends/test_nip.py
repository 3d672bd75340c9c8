"""Tests of the nonlinear program in SCIP: proofs, interrupts, limits, and what happens without SCIP."""

from __future__ import annotations

import dataclasses
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo
import pytest

import solvers.backends.nip
import solvers.backends.run_pyomo
from heuristics.search.progress import Callback
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.dag.schedule import DagSchedule
from solvers.backends.nip import Scip
from solvers.backends.run_pyomo import BackEndAnswer
from solvers.problem import DAG, PROBLEMS
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Status, Termination
from solvers.solve import solve

if TYPE_CHECKING:
    from pathlib import Path

    from heuristics.search.progress import Progress


needs_scip = pytest.mark.usefixtures("scip")
HARD = DagInstance.from_lists(np.random.default_rng(0).integers(20, 90, size=(20, 3)).tolist())


@pytest.fixture
def scip() -> None:
    """Skip where the extra is not installed."""
    pytest.importorskip("pyscipopt", reason="the extra scip is not installed")


@needs_scip
@pytest.mark.parametrize("form", ["order", "product"])
@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_optimum_is_confirmed(example_e: DagInstance, form: str, objective: Objective) -> None:
    """Tests that SCIP's optimum is confirmed by CP-SAT, and that the bound names SCIP."""
    result = solve(example_e, "nip", objective=objective, bounds=[], form=form, threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 15, 15)
    assert result.bound is not None
    assert result.bound.solver is not None
    assert result.bound.solver.startswith("SCIP ")
    assert "pyscipopt" in result.bound.solver
    assert result.bound.confirmed_by is not None


@needs_scip
def test_unconfirmed_optimum_is_no_proof(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that without a second opinion nothing that SCIP proves is claimed."""
    monkeypatch.setattr(solvers.backends.run_pyomo, "asked_of_cp_sat", lambda *_: (None, None))
    result = solve(example_e, "nip", bounds=[], threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.FEASIBLE, 15, 0)


@needs_scip
def test_wrong_optimum_is_a_contradiction(
    example_e: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a wrong claim of SCIP is refuted by CP-SAT's better schedule, with a reproducer."""
    monkeypatch.chdir(tmp_path)
    lie = BackEndAnswer(
        has_solution=False, dual_bound=18.0, is_infeasible=False, termination=Termination.FINISHED, seconds=0.0
    )
    monkeypatch.setattr(Scip, "solve", lambda *_, **__: lie)
    monkeypatch.setitem(PROBLEMS, "dag", dataclasses.replace(DAG, warm_starts=()))
    start = DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 7, 4, 15, 10])
    with pytest.raises(ContradictionError, match="SCIP proves 18, CP-SAT finds 15"):
        solve(example_e, "nip", bounds=[], start=start, threads=1)
    assert len(list(tmp_path.glob("optgap-reproducer-*.json"))) == 1


@needs_scip
def test_memory_that_cannot_be_packed_is_infeasible() -> None:
    """Tests that both solvers agree that three tasks of 2 bytes do not fit on two GPUs of 3 bytes."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    for form in ("order", "product"):
        result = solve(instance, "nip", bounds=[], form=form, threads=1)
        assert (result.status, result.objective, result.lower_bound) == (Status.INFEASIBLE, None, None)


@needs_scip
def test_time_limit_keeps_schedule_and_bound() -> None:
    """Tests that a run that is cut short returns the start, and the bound that was known."""
    heft = solve(HARD, "heft", bounds=[])
    result = solve(HARD, "nip", time_limit=1.0, threads=1, bounds=[])
    assert result.termination is Termination.TIME_LIMIT
    assert result.status is Status.FEASIBLE
    assert result.objective is not None
    assert heft.objective is not None
    assert result.lower_bound is not None
    assert result.lower_bound <= result.objective <= heft.objective


@needs_scip
def test_callback_stops_the_search() -> None:
    """Tests that a callback is heard while SCIP searches: without any limit this instance takes hours."""

    class StopLater(Callback):
        """Wants to stop once SCIP was asked a few times."""

        def __init__(self) -> None:
            self.asked = 0

        @property
        def wants_stop(self) -> bool:  # type: ignore[override]
            """Count."""
            self.asked += 1
            return self.asked > 8

    stop = StopLater()
    result = solve(HARD, "nip", threads=1, bounds=[], callback=stop)
    assert result.termination is Termination.INTERRUPTED
    assert result.schedule is not None


@needs_scip
def test_second_interrupt_leaves_no_search_behind() -> None:
    """Tests that an exception while SCIP runs comes out, after the search was stopped."""

    class Impatient(Callback):
        """Raises while SCIP searches."""

        asked = 0

        @property
        def wants_stop(self) -> bool:  # type: ignore[override]
            """Count, then raise."""
            self.asked += 1
            if self.asked > 8:
                raise KeyboardInterrupt
            return False

    with pytest.raises(KeyboardInterrupt):
        solve(HARD, "nip", threads=1, bounds=[], callback=Impatient())
    assert not [thread for thread in threading.enumerate() if thread.name == "scip"]


@needs_scip
def test_scip_begins_with_the_start_and_tells_of_better_ones(example_e: DagInstance) -> None:
    """Tests that SCIP takes a complete start that is not optimal, and that its improvements are heard as they come."""
    start = DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 7, 4, 15, 10])
    heard: list[int | None] = []

    class Ears(Callback):
        """Keeps objectives."""

        def on_incumbent(self, progress: Progress) -> None:
            """Keep."""
            heard.append(progress.objective)

    result = solve(example_e, "nip", start=start, bounds=[], threads=1, callback=Ears())
    assert result.objective == 15
    assert heard[-1] == 15
    assert sorted(heard, reverse=True) == heard


@needs_scip
@pytest.mark.parametrize("has_solution", [False, True])
def test_every_status_is_mapped(has_solution: bool) -> None:
    """Tests what each word of Pyomo for the end of a run becomes; those that cannot happen here are failures."""
    from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

    mapped = {
        "convergenceCriteriaSatisfied": Termination.FINISHED,
        "provenInfeasible": Termination.FINISHED,
        "infeasibleOrUnbounded": Termination.FINISHED,
        "maxTimeLimit": Termination.TIME_LIMIT,
        "interrupted": Termination.INTERRUPTED,
    }
    for condition in TerminationCondition:
        loaded: list[bool] = []
        results = SimpleNamespace(
            termination_condition=condition,
            solution_status=SolutionStatus.feasible if has_solution else SolutionStatus.noSolution,
            solution_loader=SimpleNamespace(load_vars=lambda loaded=loaded: loaded.append(True)),
            objective_bound=float("-inf") if condition is TerminationCondition.error else 3.5,
            timing_info=SimpleNamespace(scip_time=0.5),
        )
        answer = solvers.backends.nip._answer(results)
        infeasible = condition.name in ("provenInfeasible", "infeasibleOrUnbounded")
        assert answer.termination is mapped.get(condition.name, Termination.FAILED)
        assert answer.is_infeasible == (infeasible and not has_solution)
        assert answer.has_solution == has_solution == bool(loaded)
        assert answer.dual_bound == (None if condition is TerminationCondition.error else 3.5)


@needs_scip
def test_interrupt_before_the_search_is_no_crash() -> None:
    """Tests that a run that is stopped before SCIP has begun, or has no time at all, has an answer."""
    for limit, stop in ((0.0, False), (60.0, True)):
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(60), domain=pyo.Binary)
        model.row = pyo.Constraint(expr=sum((i * i + 7) % 97 * model.x[i] for i in range(60)) >= 1000.5)
        model.cost = pyo.Objective(expr=sum((i * 31 + 5) % 89 * model.x[i] for i in range(60)))
        answer = Scip().solve(
            model,
            has_start=False,
            absolute_gap=0.0,
            time_limit=limit,
            threads=1,
            seed=0,
            report=lambda value, bound: None,
            should_stop=lambda stop=stop: stop,
        )
        assert answer.termination in (Termination.TIME_LIMIT, Termination.INTERRUPTED, Termination.FINISHED)


def test_missing_package_is_one_line(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that without PySCIPOpt the message names the extra."""
    monkeypatch.setattr(solvers.backends.nip, "find_spec", lambda name: None)
    with pytest.raises(ValueError) as caught:
        solve(example_e, "nip", threads=1, bounds=[])
    message = "pyscipopt: expected the package of the extra scip (pip install 'optgap[scip]'), got none."
    assert str(caught.value) == message


@needs_scip
def test_unknown_form(example_e: DagInstance) -> None:
    """Tests that a form that is not offered is misuse, not a failure of the run."""
    with pytest.raises(ValueError, match="form: expected one of order, product, got 'packing'"):
        solve(example_e, "nip", bounds=[], form="packing", threads=1)
