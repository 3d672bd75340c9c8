"""Tests of the search over placements and windows as a phase of `cp-sat`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from formulations.dag.bounds.branched_windows import WindowClimb
from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import heft, place_by_list, schedule_of
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.backends import cp_sat as cp_sat_module
from solvers.backends import window_rounds
from solvers.backends.window_rounds import WindowRounds, at_bound
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force import optimum
from tests.runs import run_with
from tests.test_tight_bounds import tight_instance


def value(instance: DagInstance, rounds: WindowRounds) -> int:
    """Return the makespan of the best schedule of some rounds, which must be one."""
    assert verify_dag_schedule(instance, rounds.schedule) == []
    return objective_value(instance, rounds.schedule, Objective.MAKESPAN)


@pytest.fixture
def inference() -> DagInstance:
    """Return forty tasks on three GPUs, of which HEFT's schedule is far from the best."""
    return generate("layered", tasks=40, seed=3, cluster=parse_cluster("mixed-3"), cost=CostModel(ccr=1.0))


def test_proves_the_optimum_of_tiny_instances() -> None:
    """Tests schedule and bound against brute force, with tight memory and equal GPUs."""
    searched = 0
    for number in range(30):
        instance = tight_instance(number)
        start = heft(instance)
        if start is None:
            continue
        rounds = WindowRounds(instance, run_with(), start, 0)
        rounds.search(start, 0, 1.0, 1.0)
        assert rounds.has_proved_optimum
        assert value(instance, rounds) == rounds.bound == optimum(instance)
        searched += 1
    assert searched > 10


@pytest.mark.parametrize("ticks", [1, 2, 10])
def test_meets_or_refutes_a_bound_of_tiny_instances(monkeypatch: pytest.MonkeyPatch, ticks: int) -> None:
    """Tests bounds from two below the optimum up to it against brute force, with tight memory and equal GPUs."""
    monkeypatch.setattr(window_rounds, "MOST_TICKS", ticks)
    searched = 0
    for number in range(30):
        instance = tight_instance(number)
        best = optimum(instance)
        if best is None:
            continue
        for below in range(min(3, best)):
            schedule, bound = at_bound(instance, run_with(), best - below, 1.0)
            assert bound == min(best, best - below + ticks)
            if schedule is not None:
                assert verify_dag_schedule(instance, schedule) == []
            if below < ticks:
                assert schedule is not None
                assert objective_value(instance, schedule, Objective.MAKESPAN) == best
        searched += 1
    assert searched > 10


def test_a_met_bound_ends_cp_sat_before_its_model(inference: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that CP-SAT is not asked where a schedule meets the bound of probing."""
    best = solve(inference, "cp-sat", threads=1, seed=1)
    assert best.status is Status.OPTIMAL
    assert best.objective is not None

    def refuse(*rest: object) -> object:
        raise AssertionError

    monkeypatch.setattr(cp_sat_module, "_solve_phase", refuse)
    monkeypatch.setattr(cp_sat_module, "probing", lambda *rest, **named: best.objective)
    again = solve(inference, "cp-sat", threads=1, seed=1, bounds=[])
    assert (again.status, again.objective, again.lower_bound) == (Status.OPTIMAL, best.objective, best.objective)
    assert again.bound is not None
    assert again.bound.solver is None


@pytest.mark.parametrize("known", [0, 1])
def test_nothing_is_searched_where_the_start_meets_the_bound(
    inference: DagInstance, monkeypatch: pytest.MonkeyPatch, known: int
) -> None:
    """Tests a start that meets the bound of probing, and one that meets the bound known before."""
    start = heft(inference)
    best = objective_value(inference, start, Objective.MAKESPAN)
    monkeypatch.setattr(cp_sat_module, "probing", lambda *rest, **named: best)
    monkeypatch.setattr(cp_sat_module, "at_bound", lambda *rest: pytest.fail("a schedule was looked for"))
    run = run_with(start=start, lower_bound=known * best)
    outcome = cp_sat_module.cp_sat(inference, Objective.MAKESPAN, run)
    assert (outcome.schedule, outcome.lower_bound) == (start, best)


def test_what_others_proved_is_not_its_own(inference: DagInstance) -> None:
    """Tests that nothing is searched where schedule and bound that others found meet."""
    start = heft(inference)
    best = objective_value(inference, start, Objective.MAKESPAN)
    rounds = WindowRounds(inference, run_with(), start, best - 5)
    rounds.search(start, best, 1.0, 1.0)
    assert rounds.bound == best
    assert not rounds.has_proved_optimum


def test_moves_make_list_schedules_better(inference: DagInstance) -> None:
    """Tests that a node's schedule is better than all lists, and that it depends on the seed of the run alone."""
    start = heft(inference)
    rng = np.random.default_rng(0)
    gpu = rng.integers(inference.num_gpus, size=inference.num_tasks)
    ways = [(gpu, start.start), (gpu, rng.permutation(start.start))]
    lists = [
        schedule_of(inference, place_by_list(dag_arrays(inference), -order.astype(float), pinned=gpu))
        for _, order in ways
    ]
    least = min(objective_value(inference, schedule, Objective.MAKESPAN) for schedule in lists if schedule is not None)
    built = [window_rounds._build(inference, seed, ways) for seed in (1, 1, 2)]
    assert all(schedule is not None and verify_dag_schedule(inference, schedule) == [] for schedule in built)
    values = [objective_value(inference, schedule, Objective.MAKESPAN) for schedule in built if schedule is not None]
    assert max(values) < least
    assert np.array_equal(built[0].gpu, built[1].gpu)
    assert np.array_equal(built[0].start, built[1].start)


def test_no_schedule_where_no_list_keeps_the_memory() -> None:
    """Tests three tasks of which the last finds no GPU with room if the first two are apart."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[1, 1, 2], gpu_memory=[2, 2])
    apart = np.array([0, 1, 0])
    assert window_rounds._build(instance, 0, [(apart, np.arange(3))]) is None


@pytest.mark.parametrize(
    ("time_limit", "forecasts", "gains", "expected"),
    [
        (None, [0.0], [0], 1),
        (60.0, [0.0, 0.0, math.inf], [0, 0, 0], 3),
        (60.0, [math.inf] * 4, [1, 1, 1, 0], 4),
        (60.0, [math.inf], [0], 1),
    ],
)
def test_goes_on_while_it_pays(
    inference: DagInstance,
    monkeypatch: pytest.MonkeyPatch,
    time_limit: float | None,
    forecasts: list[float],
    gains: list[int],
    expected: int,
) -> None:
    """Tests that slices follow each other under a time limit, while forecasts are short or slices prove something."""
    runs: list[float] = []

    def run(climb: WindowClimb, **limits: object) -> None:
        climb.bound += gains[len(runs)]
        runs.append(forecasts[len(runs)])

    monkeypatch.setattr(WindowClimb, "run", run)
    monkeypatch.setattr(WindowClimb, "forecast", lambda climb: runs[-1])
    rounds = WindowRounds(inference, run_with(time_limit=time_limit), heft(inference), 0)
    rounds.search(rounds.schedule, 0, 0.7, 0.5)
    assert len(runs) == expected
