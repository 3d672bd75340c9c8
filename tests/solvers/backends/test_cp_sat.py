"""Tests of running the CP-SAT model: phases, statuses and what is believed."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ortools.sat.python import cp_model

from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.probing.windows import windows
from heuristics.dag.list_scheduling import heft
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from solvers.backends import cp_sat as module
from solvers.backends import lns as lns_module
from solvers.backends import placement_branching as branching_module
from solvers.backends.cp_sat import (
    MANY_THREADS,
    PROVING_SUBSOLVERS,
    _Answer,
    _Phase,
    _phases,
    _rounded_up,
    _solver,
    cp_sat,
)
from solvers.backends.down_sets import WIDE, DownSetRounds
from solvers.backends.lns import improved_by_neighbourhoods
from solvers.backends.lns_starts import FEW_TASKS
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Outcome, Termination
from solvers.solve import solve
from tests.runs import run_with

if TYPE_CHECKING:
    from pathlib import Path

    from formulations.dag.bounds.branched_classes import ClassClimb
    from formulations.dag.windows import Windows
    from instances.dag.contention import Contention
    from solvers.run.exact_run import ExactRun


OPTIMAL_E = DagSchedule(gpu=[0, 1, 0, 1, 0], start=[0, 8, 4, 12, 7])


exact_run = partial(run_with, threads=2, seed=0)


class Phases:
    """Stands in for the phases: gives prepared answers and remembers how it was asked."""

    def __init__(self, *answers: _Answer) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[bool, int, int, int | None]] = []
        self.efforts: list[float] = []

    def __call__(
        self,
        instance: DagInstance,
        objective: Objective,
        within: Windows,
        schedule: DagSchedule | None,
        run: ExactRun,
        contention: Contention,
        phase: _Phase,
        effort_left: float,
    ) -> _Answer:
        """Remember and give the next answer."""
        self.efforts.append(effort_left)
        hinted = None if schedule is None else objective_value(instance, schedule, objective)
        self.asked.append((phase.share == 1.0, within.at_least, within.at_most, hinted))
        return self._answers.pop(0)


@pytest.fixture
def phases_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what happens between the phases, which would solve these small instances by itself."""
    monkeypatch.setattr(module, "probing", lambda instance, objective, contention, **more: 0)
    monkeypatch.setattr(DownSetRounds, "search_briefly", lambda rounds: None)
    monkeypatch.setattr(DownSetRounds, "search_narrowly", lambda rounds: None)
    monkeypatch.setattr(DownSetRounds, "search_widely", lambda rounds: None)


def answer(schedule: DagSchedule | None, bound: int | None, *, is_finished: bool = False) -> _Answer:
    """Return an answer that took 1.5 seconds and a deterministic time of 2."""
    return _Answer(
        schedule=schedule, lower_bound=bound, is_infeasible=False, is_finished=is_finished, seconds=1.5, effort=2.0
    )


@pytest.mark.usefixtures("phases_only")
def test_second_phase_works_with_what_the_first_found(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that schedule and bound of the first phase narrow the windows of the second, and that seconds add up."""
    first = DagSchedule(gpu=[0, 0, 0, 0], start=[0, 3, 7, 11])
    best = DagSchedule(gpu=[1, 0, 0, 0], start=[0, 0, 4, 8])
    phases = Phases(answer(first, 9), answer(best, 10, is_finished=True))
    monkeypatch.setattr(module, "_solve_phase", phases)
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run(lower_bound=8))
    assert [(is_last, at_most, hinted) for is_last, _, at_most, hinted in phases.asked] == [
        (False, phases.asked[0][2], None),
        (False, 13, 13),
    ]
    assert phases.asked[0][2] > 13
    assert [at_least for _, at_least, _, _ in phases.asked] == [9, 9]
    assert (outcome.lower_bound, outcome.termination, outcome.backend_seconds) == (10, Termination.FINISHED, 3.0)
    assert outcome.schedule.gpu.tolist() == [1, 0, 0, 0]


@pytest.mark.usefixtures("phases_only")
def test_first_phase_may_finish(join_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a proof in the first phase ends the run."""
    best = DagSchedule(gpu=[1, 0, 0, 0], start=[0, 0, 4, 8])
    phases = Phases(answer(best, 10, is_finished=True))
    monkeypatch.setattr(module, "_solve_phase", phases)
    assert cp_sat(join_example, Objective.MAKESPAN, exact_run()).lower_bound == 10
    assert [asked[0] for asked in phases.asked] == [False]


@pytest.mark.usefixtures("phases_only")
@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        (1, [False, False, False, True]),
        (2, [False, False, False, True]),
        (MANY_THREADS - 1, [False, False, False, True]),
        (MANY_THREADS, [True]),
    ],
)
def test_number_of_phases(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch, threads: int, expected: list[bool]
) -> None:
    """Tests that many threads take one phase, fewer four, and that unfinished phases end by time."""
    phases = Phases(answer(None, 9), *[answer(None, None)] * 3)
    monkeypatch.setattr(module, "_solve_phase", phases)
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run(threads=threads, start=None))
    assert [asked[0] for asked in phases.asked] == expected
    assert (outcome.schedule, outcome.lower_bound, outcome.termination) == (None, 9, Termination.TIME_LIMIT)


@pytest.mark.usefixtures("phases_only")
def test_deterministic_limit_is_shared_by_the_phases(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that each phase gets what the ones before it left of the limit, and that none follows once it is used."""
    phases = Phases(answer(None, 9), answer(None, None))
    monkeypatch.setattr(module, "_solve_phase", phases)
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run(threads=1, deterministic_limit=3.0))
    assert phases.efforts == [3.0, 1.0]
    assert (outcome.schedule, outcome.lower_bound, outcome.termination) == (None, 9, Termination.TIME_LIMIT)


def test_deterministic_limit_reaches_the_solver(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the limit is set where it is below the effort of a phase, and only there."""
    limits = []
    solve_in_thread = module.solve_in_thread

    def remembered(solver: cp_model.CpSolver, *rest: Any) -> cp_model.CpSolverStatus:
        limits.append(solver.parameters.max_deterministic_time)
        return solve_in_thread(solver, *rest)

    monkeypatch.setattr(module, "solve_in_thread", remembered)
    for limit in (0.25, 100.0, None):
        outcome = cp_sat(example_e, Objective.MAKESPAN, exact_run(threads=1, deterministic_limit=limit))
        assert outcome.lower_bound == 15
    assert limits[0] == 0.25
    assert limits[-2:] == [1.0 + 0.02 * 5] * 2


@pytest.mark.usefixtures("phases_only")
def test_worse_solution_does_not_replace_the_start(join_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a solver that lost its hint cannot make the result worse."""
    best = DagSchedule(gpu=[1, 0, 0, 0], start=[0, 0, 4, 8])
    worse = DagSchedule(gpu=[0, 0, 0, 0], start=[0, 3, 7, 11])
    monkeypatch.setattr(module, "_solve_phase", Phases(answer(worse, 9), *[answer(None, 9)] * 3))
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run(start=best))
    assert outcome.schedule is best


def test_start_at_the_bound_needs_no_search(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a start whose objective is proved already is returned at once."""
    monkeypatch.setattr(module, "_solve_phase", Phases())
    outcome = cp_sat(example_e, Objective.MAKESPAN, exact_run(start=OPTIMAL_E, lower_bound=15))
    assert (outcome.schedule, outcome.lower_bound, outcome.backend_seconds) == (OPTIMAL_E, 15, 0.0)


def test_stop_before_the_search(join_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a wish to stop that comes early keeps start and bound."""
    monkeypatch.setattr(module, "_solve_phase", Phases())
    start = heft(join_example)
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run(start=start, lower_bound=4, should_stop=lambda: True))
    assert (outcome.schedule, outcome.lower_bound, outcome.termination) == (start, 4, Termination.INTERRUPTED)


@pytest.mark.usefixtures("phases_only")
def test_unknown_has_no_schedule(join_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a solver that ends with UNKNOWN gives no schedule whatever it reports, and that the bound is kept."""
    statuses = []

    def without_time(solver: cp_model.CpSolver, model: cp_model.CpModel, run: ExactRun) -> cp_model.CpSolverStatus:
        solver.parameters.max_time_in_seconds = 0.0
        statuses.append(solver.solve(model))
        return statuses[-1]

    monkeypatch.setattr(module, "solve_in_thread", without_time)
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run(lower_bound=9))
    assert statuses == [cp_model.UNKNOWN] * 4
    assert (outcome.schedule, outcome.lower_bound, outcome.termination) == (None, 9, Termination.TIME_LIMIT)


def test_refused_model_is_an_error(join_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that MODEL_INVALID, which means an error of ours, is never a result."""
    monkeypatch.setattr(module, "solve_in_thread", lambda *_: cp_model.MODEL_INVALID)
    with pytest.raises(RuntimeError, match=r"^cp-sat: expected a valid model, got: "):
        cp_sat(join_example, Objective.MAKESPAN, exact_run())


def falsely_infeasible(solver: cp_model.CpSolver, model: cp_model.CpModel, run: ExactRun) -> cp_model.CpSolverStatus:
    """Solve the model with a row that nothing fulfils."""
    model.add_bool_or([])
    return solver.solve(model)


def test_infeasible_beside_a_schedule_is_a_contradiction(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a false INFEASIBLE raises where a verified schedule is known, and leaves the reproducer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "solve_in_thread", falsely_infeasible)
    with pytest.raises(ContradictionError, match=r"^CP-SAT claims that no schedule exists"):
        cp_sat(join_example, Objective.MAKESPAN, exact_run(start=heft(join_example)))
    assert [path.name for path in tmp_path.iterdir()] == [f"optgap-reproducer-{join_example.sha256[:12]}.json"]


def test_infeasible_without_a_schedule_is_believed(join_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that INFEASIBLE without any schedule is an outcome without bound."""
    monkeypatch.setattr(module, "solve_in_thread", falsely_infeasible)
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run())
    assert (outcome.is_infeasible, outcome.schedule, outcome.lower_bound) == (True, None, None)


def test_error_in_the_solver_thread_arrives(join_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that an exception raised while solving is raised by the run, not lost with its thread."""

    def broken(*_: object) -> None:
        raise MemoryError("too large")

    monkeypatch.setattr(cp_model.CpSolver, "solve", broken)
    with pytest.raises(MemoryError, match="too large"):
        cp_sat(join_example, Objective.MAKESPAN, exact_run())


def test_one_thread_is_repeatable(heft_example: DagInstance) -> None:
    """Tests that two runs with one thread give the same schedule, bit for bit, and the same bounds on the way."""
    runs = [solve(heft_example, "cp-sat", threads=1, seed=5, bounds=[]) for _ in range(2)]
    assert runs[0].schedule.gpu.tolist() == runs[1].schedule.gpu.tolist()
    assert runs[0].schedule.start.tolist() == runs[1].schedule.start.tolist()
    assert runs[0].objective == 73


def test_any_seed_is_a_seed(example_e: DagInstance) -> None:
    """Tests that seeds beyond the 31 bits of the solver are taken."""
    result = solve(example_e, "cp-sat", threads=1, seed=2**64 + 7, bounds=[])
    assert (result.objective, result.lower_bound, result.seed) == (15, 15, 2**64 + 7)


@pytest.mark.parametrize(
    ("bound", "rounded"),
    [(73.0, 73), (72.999999, 73), (72.9999995, 73), (72.2, 73), (73.0000001, 73), (0.0, 0), (float("-inf"), None)],
)
def test_bounds_are_rounded_up(bound: float, rounded: int | None) -> None:
    """Tests that bounds go up to the next integer within a tolerance, and that no bound is None."""
    assert _rounded_up(bound) == rounded


def test_time_left() -> None:
    """Tests that the time left falls to 0 and no further, and is infinite without a limit."""
    assert exact_run().seconds_left() == float("inf")
    assert exact_run(time_limit=1e-12).seconds_left() == 0.0
    assert 0.0 < exact_run(time_limit=1000.0).seconds_left() <= 1000.0


@pytest.mark.parametrize("subsolver", PROVING_SUBSOLVERS)
def test_every_proving_subsolver_exists_and_proves(example_e: DagInstance, subsolver: str) -> None:
    """Tests that OR-Tools knows each name, alone and with one thread, and that its search comes to an end."""
    model = CpSatModel(
        example_e,
        Objective.MAKESPAN,
        windows(example_e, Objective.MAKESPAN, lower_bound=0, objective_at_most=None),
    )
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.subsolvers.append(subsolver)
    assert solver.solve(model.proto_model) == cp_model.OPTIMAL
    assert solver.objective_value == 15


@pytest.mark.parametrize("threads", [2, 3])
def test_every_thread_of_a_proof_has_a_subsolver(example_e: DagInstance, threads: int) -> None:
    """Tests that CP-SAT runs all named subsolvers, and gives no thread to searches for a first solution."""
    model = CpSatModel(
        example_e,
        Objective.MAKESPAN,
        windows(example_e, Objective.MAKESPAN, lower_bound=0, objective_at_most=None),
    )
    phases = _phases(threads, is_guided=False, do_loads_bind=lambda: False, has_improved=lambda: False)
    proofs = list(phases)[1:]
    for phase in proofs:
        lines: list[str] = []
        solver = _solver(example_e, exact_run(threads=threads), phase, math.inf)
        solver.parameters.cp_model_presolve = False  # else nothing is left to search
        solver.parameters.log_search_progress, solver.parameters.log_to_stdout = True, False
        solver.log_callback = lines.append
        solver.solve(model.proto_model)
        assert f"{threads} full problem subsolvers: [{', '.join(sorted(phase.subsolvers))}]" in "\n".join(lines)
    assert len({phase.subsolvers for phase in proofs}) == 3


def test_probing_and_neighbourhoods_leave_the_second_phase_less_to_do(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that between the phases the bound is probed and the schedule made better: here they meet."""
    first = DagSchedule(gpu=[0, 0, 0, 0], start=[0, 3, 7, 11])
    phases, bounds = Phases(answer(first, 8)), []
    plain = lns_module.improved_by_neighbourhoods

    def heard(instance: DagInstance, objective: Objective, run: ExactRun, most: int, share: None) -> Outcome:
        bounds.append(run.lower_bound)
        return plain(instance, objective, run, most, share)

    monkeypatch.setattr(module, "_solve_phase", phases)
    monkeypatch.setattr(lns_module, "improved_by_neighbourhoods", heard)
    outcome = cp_sat(join_example, Objective.MAKESPAN, exact_run(lower_bound=8, time_limit=60.0))
    assert (len(phases.asked), bounds) == (1, [10])  # neighbourhoods know when to stop
    assert objective_value(join_example, outcome.schedule, Objective.MAKESPAN) == outcome.lower_bound == 10


@pytest.mark.parametrize(("time_limit", "is_handed_over"), [(60.0, True), (None, False)])
def test_a_heavy_model_leaves_the_time_to_neighbourhoods_and_bounds(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch, time_limit: float | None, is_handed_over: bool
) -> None:
    """Tests that where building takes too long `lns` gets the time, probing proves, and CP-SAT is not asked."""
    asked: list[float | None] = []
    plain = lns_module.improved_by_neighbourhoods

    def heard(instance: DagInstance, objective: Objective, run: ExactRun, most: object, share: object) -> Outcome:
        assert most is None
        asked.append(run.time_limit)
        return plain(instance, objective, replace(run, time_limit=None), 1)

    monkeypatch.setattr(lns_module, "improved_by_neighbourhoods", heard)
    monkeypatch.setattr(module, "TOO_HEAVY", -1.0)  # any time is too long
    monkeypatch.setattr(module, "LEAST_HEAVY", -1.0)
    start = DagSchedule(gpu=[0, 0, 0, 0], start=[0, 3, 7, 11])
    outcome = cp_sat(join_example, Objective.MAKESPAN, replace(exact_run(time_limit=time_limit), start=start))
    assert (outcome.lower_bound, outcome.termination) == (10, Termination.FINISHED)
    assert objective_value(join_example, outcome.schedule, Objective.MAKESPAN) == 10
    assert asked == ([60.0] if is_handed_over else [])
    assert (outcome.solver is None) == is_handed_over


@pytest.mark.parametrize(("probed", "refutes"), [(3, True), (2, False)])
def test_nothing_is_refuted_where_another_bound_proves_more_than_probing(
    monkeypatch: pytest.MonkeyPatch, probed: int, refutes: bool
) -> None:
    """Tests that without a model the refutation gets its time only where `probing` proves as much as is known."""
    instance = DagInstance.from_lists([[3, 4], [3, 4]], task_memory=[2, 2], gpu_memory=[3, 3])
    start = DagSchedule(gpu=[0, 1], start=[0, 9])
    limits: list[float | None] = []
    climbs: list[int] = []

    def unchanged(instance: DagInstance, objective: Objective, run: ExactRun, most: object, share: object) -> Outcome:
        limits.append(run.time_limit)
        return Outcome(schedule=run.start, lower_bound=None)

    monkeypatch.setattr(lns_module, "improved_by_neighbourhoods", unchanged)
    monkeypatch.setattr(module, "probing", lambda *args, **named: probed)
    monkeypatch.setattr(module.MemoryRefutation, "climb", lambda self, effort: climbs.append(self.bound))
    run = exact_run(time_limit=60.0)
    found = module._without_model(instance, Objective.MAKESPAN, start, 3, run, None, None)
    assert (found.schedule, found.lower_bound, climbs) == (start, 3, [3] if refutes else [])
    assert (limits[0] is not None and limits[0] < 60.0) == refutes


@pytest.fixture
def split_chain() -> DagInstance:
    """Return a chain that memory splits, whose optimum is 1445."""
    rng, n = np.random.default_rng(0), FEW_TASKS + 4
    return DagInstance.from_lists(
        [[ticks, 2 * ticks, 3 * ticks] for ticks in rng.integers(3, 40, size=n).tolist()],
        edges=[(i, i + 1, count) for i, count in enumerate(rng.integers(5, 200, size=n - 1).tolist())],
        task_memory=rng.integers(1, 50, size=n).tolist(),
        gpu_memory=[300, 300, 400],
    )


@pytest.mark.parametrize("time_limit", [60.0, None])
@pytest.mark.parametrize(("probed", "branches"), [(1300, True), (1445, False)])
def test_placements_are_branched_on_where_that_proves_more(
    split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch, time_limit: float | None, probed: int, branches: bool
) -> None:
    """Tests that branching places the chain and proves that; where probing proves as much, makespans are refuted."""
    phases, climbs = Phases(*[answer(None, None)] * 2), []
    monkeypatch.setattr(module, "_solve_phase", phases)
    monkeypatch.setattr(module, "probing", lambda *args, **named: probed)
    monkeypatch.setattr(module.MemoryRefutation, "climb", lambda self, *limits: climbs.append(self.bound))
    monkeypatch.setattr(module, "_improved", lambda instance, objective, schedule, *rest: schedule)
    monkeypatch.setattr(branching_module, "climb_over_deadlines", lambda climb, *rest: climb.bound)
    monkeypatch.setattr(module, "MAX_PAIRS_FOR_PROBING", 0)  # no search over down-sets
    run = replace(exact_run(time_limit=time_limit), start=heft(split_chain))
    if not branches:
        with pytest.raises(IndexError):  # a third phase is asked
            cp_sat(split_chain, Objective.MAKESPAN, run)
        assert climbs == [1445]
        return
    outcome = cp_sat(split_chain, Objective.MAKESPAN, run)
    assert (outcome.lower_bound, climbs, len(phases.asked)) == (1445, [], 2)
    assert objective_value(split_chain, outcome.schedule, Objective.MAKESPAN) == 1445


@pytest.mark.parametrize(
    ("foreseen", "expected"),
    [
        ({(False, True): 10.0 * WIDE, (True, False): WIDE}, ["narrow", "windows"]),
        ({(False, True): WIDE + 1.0}, ["windows", "narrow"]),
        ({}, ["windows", "narrow"]),
    ],
)
def test_narrow_rounds_come_before_windows_where_few_labels_are_foreseen(
    join_example: DagInstance,
    monkeypatch: pytest.MonkeyPatch,
    foreseen: dict[tuple[bool, bool], float],
    expected: list[str],
) -> None:
    """Tests that what the rounds with few labels foresee decides, and that narrow rounds come only once."""
    events: list[str] = []

    def solve_phase(*_: Any) -> _Answer:
        events.append("phase")
        return answer(DagSchedule(gpu=[0, 0, 0, 0], start=[0, 3, 7, 11]), 0)

    monkeypatch.setattr(module, "_solve_phase", solve_phase)
    monkeypatch.setattr(module, "probing", lambda *_, **__: 0)
    monkeypatch.setattr(module, "_improved", lambda instance, objective, schedule, *rest: schedule)
    monkeypatch.setattr(module, "FEW_TASKS", 0)  # windows are branched on
    monkeypatch.setattr(module, "at_bound", lambda instance, run, bound, share: (None, bound))
    monkeypatch.setattr(module.WindowRounds, "search", lambda *_: events.append("windows"))
    monkeypatch.setattr(DownSetRounds, "_foreseen", lambda _: foreseen)
    monkeypatch.setattr(DownSetRounds, "round", lambda *_, settles, **__: events.extend(["few"] * settles))
    for name, event in (("search_narrowly", "narrow"), ("search_widely", "wide")):
        monkeypatch.setattr(DownSetRounds, name, lambda rounds, event=event: events.append(event))
    result = cp_sat(join_example, Objective.MAKESPAN, exact_run(time_limit=100.0))
    assert events == ["phase", "windows", "few", "phase", *expected, "phase", "windows", "wide", "phase"]
    assert result.termination is Termination.TIME_LIMIT


def test_neighbourhoods_that_meet_the_bound_end_it(split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that neither branching nor a second phase follows a schedule that is known to be optimal."""
    better = heft(split_chain)
    value = objective_value(split_chain, better, Objective.MAKESPAN)
    phases = Phases(answer(DagSchedule(gpu=better.gpu, start=2 * better.start), None))
    monkeypatch.setattr(module, "_solve_phase", phases)
    monkeypatch.setattr(module, "probing", lambda *args, **named: value)
    monkeypatch.setattr(module, "at_bound", lambda instance, run, bound, share: (None, bound))
    monkeypatch.setattr(module, "_improved", lambda *rest: better)
    monkeypatch.setattr(module, "try_branching", lambda *rest: pytest.fail("branching was tried"))
    outcome = cp_sat(split_chain, Objective.MAKESPAN, exact_run(time_limit=60.0))
    assert (outcome.schedule, outcome.lower_bound, outcome.termination) == (better, value, Termination.FINISHED)
    assert len(phases.asked) == 1


@pytest.mark.parametrize(("time_limit", "is_small"), [(60.0, False), (None, False), (60.0, True)])
def test_a_model_with_far_worse_schedules_is_given_up(
    split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch, time_limit: float | None, is_small: bool
) -> None:
    """Tests that the model is given up where neighbourhoods are far better than phase 1.

    Only within a time limit, and only on large instances: on small ones CP-SAT proves well with a good schedule.
    """
    better = heft(split_chain)
    worse = DagSchedule(gpu=better.gpu, start=2 * better.start)
    phases = Phases(answer(worse, None))
    given: list[DagSchedule | None] = []

    def without_model(instance: DagInstance, objective: Objective, schedule: DagSchedule, *rest: object) -> Outcome:
        given.append(schedule)
        return Outcome(schedule=schedule, lower_bound=None)

    monkeypatch.setattr(module, "_solve_phase", phases)
    monkeypatch.setattr(module, "_without_model", without_model)
    monkeypatch.setattr(module, "_improved", lambda *rest: better)
    monkeypatch.setattr(branching_module.PlacementBranching, "that_proves_more", lambda *rest: None)
    monkeypatch.setattr(module.MemoryRefutation, "climb", lambda self, *limits: None)
    monkeypatch.setattr(module, "MAX_PAIRS_FOR_PROBING", 1_000 if is_small else 0)
    monkeypatch.setattr(module.WindowRounds, "search", lambda rounds, *rest: None)
    monkeypatch.setattr(DownSetRounds, "search_narrowly", lambda rounds: None)
    run = exact_run(time_limit=time_limit)
    if time_limit is None or is_small:
        with pytest.raises(IndexError):  # a second phase is asked
            cp_sat(split_chain, Objective.MAKESPAN, run)
        assert given == []
    else:
        assert cp_sat(split_chain, Objective.MAKESPAN, run).schedule is better
        assert given == [better]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("share", [0.8, 0.99])
def test_the_first_proof_gets_more_time_near_the_bound(
    split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch, share: float, threads: int
) -> None:
    """Tests that first proofs get more of the time near the bound, and that makespans are refuted after them.

    Where the bound is far after the first one, phases with several threads look for schedules.
    """
    start = heft(split_chain)
    bound = int(share * objective_value(split_chain, start, Objective.MAKESPAN))
    events: list[tuple[float, int] | str] = []
    looks: list[bool] = []

    def solve_phase(*rest: Any) -> _Answer:
        phase = rest[6]
        events.append((phase.share, len(phase.subsolvers)))
        looks.append(phase.neighbourhoods)
        return answer(None, None)

    monkeypatch.setattr(module, "_solve_phase", solve_phase)
    monkeypatch.setattr(module, "probing", lambda *rest, **named: bound)
    monkeypatch.setattr(module, "try_branching", lambda *rest: (bound, None, None))
    monkeypatch.setattr(module, "_improved", lambda instance, objective, schedule, *rest: schedule)
    monkeypatch.setattr(module.MemoryRefutation, "climb", lambda self, *limits: events.append("refuted"))
    monkeypatch.setattr(module, "MAX_PAIRS_FOR_PROBING", 0)  # no search over down-sets
    cp_sat(split_chain, Objective.MAKESPAN, replace(exact_run(threads=threads), start=start))
    phases = _phases(threads, is_guided=True, do_loads_bind=lambda: False, has_improved=lambda: False)
    proofs = [phase for phase in phases if phase.share_when_near]
    shares = [phase.share_when_near if share > 0.9 else phase.share for phase in proofs]
    assert events[1 : len(proofs) + 2] == [*((each, threads) for each in shares), "refuted"]
    assert len(events) == len(proofs) + 4
    assert looks[:2] == [True, False]
    assert set(looks[2:]) == {threads > 1 and share < 0.9}


@pytest.mark.parametrize("is_guided", [False, True])
def test_one_thread_begins_with_the_subsolver_that_knows_what_binds(is_guided: bool) -> None:
    """Tests that `default_lp` comes first where loads bind and `no_lp` elsewhere, and that the look comes before."""
    for do_loads_bind, expected in ((True, ["default_lp", "no_lp"]), (False, ["no_lp", "default_lp"])):
        answers = [do_loads_bind]
        phases = _phases(1, is_guided=is_guided, do_loads_bind=answers.pop, has_improved=lambda: False)
        assert next(phases).subsolvers == ()
        assert answers
        assert [name for phase in phases for name in phase.subsolvers][:2] == expected


@pytest.mark.parametrize("is_guided", [False, True])
@pytest.mark.parametrize("times", [0, 1, 3])
def test_a_first_proof_is_made_again_while_it_finds_better_schedules(times: int, is_guided: bool) -> None:
    """Tests that with one thread the same subsolver goes on after each better schedule, and another one after that."""
    answers = [*[True] * times, False]
    phases = _phases(1, is_guided=is_guided, do_loads_bind=lambda: False, has_improved=lambda: answers.pop(0))
    proofs = list(phases)[1:]
    assert [phase.subsolvers for phase in proofs[: times + 2]] == [("no_lp",)] * (times + 1) + [("default_lp",)]
    assert answers == []


@pytest.mark.usefixtures("phases_only")
def test_a_better_schedule_in_a_first_proof_is_noticed(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a schedule of the look asks for no second proof of the same kind, and one of the first proof does."""
    schedules = [DagSchedule(gpu=[0, 0, 0, 0], start=[later, later + 3, later + 7, later + 11]) for later in (2, 1)]
    answers = [answer(schedule, None) for schedule in schedules] + [answer(None, None)] * 3
    asked = list[tuple[str, ...]]()

    def solve_phase(*rest: Any) -> _Answer:
        asked.append(rest[6].subsolvers)
        return answers.pop(0)

    monkeypatch.setattr(module, "_solve_phase", solve_phase)
    cp_sat(join_example, Objective.MAKESPAN, exact_run(threads=1, start=None))
    look, first, again, other, _ = asked
    assert look == ()
    assert first == again != other


@pytest.mark.parametrize("share", [0.8, 0.9])
def test_loads_bind_where_the_area_is_near_the_schedule(
    join_example: DagInstance, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """Tests that the area bound says which subsolver one thread begins with."""
    start = DagSchedule(gpu=[0, 0, 0, 0], start=[0, 3, 7, 11])
    asked: list[tuple[str, ...]] = []

    def solve_phase(*rest: Any) -> _Answer:
        asked.append(rest[6].subsolvers)
        return answer(None, None)

    monkeypatch.setattr(module, "_solve_phase", solve_phase)
    monkeypatch.setattr(module, "area", lambda *args, **named: int(100 * share))
    monkeypatch.setattr(module, "_value", lambda instance, objective, schedule: None if schedule is None else 100)
    monkeypatch.setattr(DownSetRounds, "search_narrowly", lambda rounds: None)
    monkeypatch.setattr(DownSetRounds, "search_widely", lambda rounds: None)
    cp_sat(join_example, Objective.MAKESPAN, replace(exact_run(threads=1), start=start))
    assert asked[1] == (("default_lp",) if share > 0.85 else ("no_lp",))


@pytest.mark.parametrize("begins_anew", [False, True])
def test_what_makes_the_schedule_of_a_phase_better(
    split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch, begins_anew: bool
) -> None:
    """Tests that large neighbourhoods begin with the best schedule, or anew where the phase says so."""
    late = heft(split_chain)
    late = DagSchedule(gpu=late.gpu, start=late.start + 1_000_000)
    starts: list[DagSchedule | None] = []
    plain = lns_module.improved_by_neighbourhoods

    def heard(instance: DagInstance, objective: Objective, run: ExactRun, most: int, share: object) -> Outcome:
        assert (most, run.seed) == (instance.num_tasks // module.FEWER_ITERATIONS, 2)
        starts.append(run.start)
        return plain(instance, objective, run, 1)

    monkeypatch.setattr(lns_module, "improved_by_neighbourhoods", heard)
    phase = _Phase(improves=0.1, begins_anew=begins_anew)
    found = module._improved(split_chain, Objective.MAKESPAN, late, 0, exact_run(), phase, 2, None)
    assert starts == [None if begins_anew else late]
    assert not verify_dag_schedule(split_chain, found)
    assert objective_value(split_chain, found, Objective.MAKESPAN) < 500_000


def test_a_better_schedule_can_be_repeated(split_chain: DagInstance) -> None:
    """Tests that without a time limit the same schedule comes out twice, bit for bit, however the search begins."""
    start = heft(split_chain)
    for begins_anew in (False, True):
        phase = _Phase(improves=0.1, begins_anew=begins_anew)
        runs = [module._improved(split_chain, Objective.MAKESPAN, start, 0, exact_run(), phase, 0, None) for _ in "12"]
        assert runs[0].gpu.tolist() == runs[1].gpu.tolist()
        assert runs[0].start.tolist() == runs[1].start.tolist()


def test_nothing_makes_the_best_schedule_worse(split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a schedule stays where large neighbourhoods find none, or a worse one."""
    best = improved_by_neighbourhoods(split_chain, Objective.MAKESPAN, exact_run(), 2).schedule
    worse = DagSchedule(gpu=best.gpu, start=best.start + 1)
    for other in (None, worse):
        outcome = Outcome(schedule=other, lower_bound=None)
        monkeypatch.setattr(lns_module, "improved_by_neighbourhoods", lambda *rest, outcome=outcome, **named: outcome)
        phase = _Phase(improves=0.1)
        assert module._improved(split_chain, Objective.MAKESPAN, best, 0, exact_run(), phase, 1, None) is best


@pytest.mark.parametrize(("threads", "known"), [(1, [1410]), (2, [1410, 1410])])
def test_a_heavy_model_leaves_time_to_classes_of_gpus(
    split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch, threads: int, known: list[int]
) -> None:
    """Tests that cases of classes raise the bound before `lns`, and go on after it where they did.

    With two threads `lns` goes on beside them.
    """
    shares, bounds = list[float](), list[int]()

    def climbed(climb: ClassClimb, schedule: DagSchedule, run: ExactRun, share_of_time: float) -> int:
        shares.append(share_of_time)
        climb.bound += 10
        return climb.bound

    def unchanged(instance: DagInstance, objective: Objective, run: ExactRun, *rest: object, share: object) -> Outcome:
        bounds.append(run.lower_bound)
        return Outcome(schedule=run.start, lower_bound=None)

    monkeypatch.setattr(lns_module, "improved_by_neighbourhoods", unchanged)
    monkeypatch.setattr(module, "probing", lambda *args, **named: 1302)
    monkeypatch.setattr(branching_module.PlacementBranching, "that_proves_more", lambda *rest: None)
    for where in (module, branching_module):  # the trial, and what goes on
        monkeypatch.setattr(where, "climb_over_deadlines", climbed)
    run = exact_run(time_limit=60.0, threads=threads)
    found = module._without_model(split_chain, Objective.MAKESPAN, heft(split_chain), 1400, run, None, None)
    assert (found.lower_bound, bounds) == (1420, known)
    assert shares == [module.SHARE_OF_TRIAL, 1.0]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_heavy_model_leaves_time_to_branching(
    split_chain: DagInstance, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """Tests that without a model branching comes before `lns` and goes on after it, beside `lns` with two threads."""
    asked: list[tuple[int, int | None, bool]] = []

    def unchanged(
        instance: DagInstance, objective: Objective, run: ExactRun, most: int | None, share: object
    ) -> Outcome:
        assert 1302 < run.lower_bound <= 1445
        asked.append((run.threads, most, run.time_limit < 60.0))
        return Outcome(schedule=run.start, lower_bound=None)

    monkeypatch.setattr(lns_module, "improved_by_neighbourhoods", unchanged)
    monkeypatch.setattr(module, "SHARE_OF_TRIAL", 0.5)
    run, share = exact_run(time_limit=60.0, threads=threads), np.ones(split_chain.durations.shape)
    found = module._without_model(split_chain, Objective.MAKESPAN, heft(split_chain), 1302, run, share, None)
    assert (found.lower_bound, found.termination) == (1445, Termination.FINISHED)
    assert objective_value(split_chain, found.schedule, Objective.MAKESPAN) == 1445
    assert asked == [(threads, 2 * split_chain.num_tasks, True), (1, None, False)][:threads]


@pytest.mark.parametrize(
    ("threads", "objective", "is_large_enough"),
    [
        (1, Objective.MAKESPAN, True),
        (2, Objective.MAKESPAN, True),
        (2, Objective.MAKESPAN, False),
        (2, Objective.WEIGHTED_COMPLETION, True),
    ],
)
def test_windows_are_branched_on_before_the_first_proof(
    split_chain: DagInstance,
    monkeypatch: pytest.MonkeyPatch,
    threads: int,
    objective: Objective,
    is_large_enough: bool,
) -> None:
    """Tests that branching on windows proves a chain that memory splits, as soon as one phase has found a schedule.

    Only for the makespan and with more than `FEW_TASKS` tasks; elsewhere CP-SAT is asked a second time.
    """
    phases = Phases(answer(heft(split_chain), None))
    monkeypatch.setattr(module, "_solve_phase", phases)
    monkeypatch.setattr(module, "probing", lambda *args, **named: 0)
    monkeypatch.setattr(module, "_improved", lambda instance, objective, schedule, *rest: schedule)
    monkeypatch.setattr(module, "try_branching", lambda instance, schedule, bound, *rest: (bound, None, None))
    monkeypatch.setattr(module, "diagram_start", lambda *rest: (0, None))
    monkeypatch.setattr(DownSetRounds, "search_briefly", lambda rounds: None)
    if not is_large_enough:
        monkeypatch.setattr(module, "FEW_TASKS", split_chain.num_tasks)
    run = exact_run(threads=threads)
    if objective is Objective.MAKESPAN and is_large_enough:
        outcome = cp_sat(split_chain, objective, run)
        assert (outcome.lower_bound, outcome.proof, outcome.solver) == (1445, module.PROOF, None)
        assert outcome.schedule is not None
        assert objective_value(split_chain, outcome.schedule, objective) == 1445
        assert len(phases.asked) == 1
    else:
        with pytest.raises(IndexError):  # a second phase is asked
            cp_sat(split_chain, objective, run)
