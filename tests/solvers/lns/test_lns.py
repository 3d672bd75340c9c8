"""Tests of the large neighbourhood search as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.callback import Callback
from heuristics.dag.heft import heft
from instances import DagInstance, Objective, objective_value, verify_dag_schedule
from instances.cluster import parse_cluster
from instances.dag_from_graph import CostModel
from instances.generators import generate, planted_optimum
from solvers import Status, solve
from solvers.lns.budget import Budget
from solvers.lns.incumbent import Incumbent
from solvers.lns.starts import improve_start
from solvers.lns.waste import waste
from solvers.status import Termination
from tests.runs import run_with


@pytest.fixture(scope="module")
def heavy() -> DagInstance:
    """Return about 80 tasks on 8 GPUs with transfers three times as long as durations."""
    cost = CostModel(ccr=3.0, memory_tightness=0.0)
    return generate("cholesky", tasks=80, seed=3, cluster=parse_cluster("mixed-8"), cost=cost)


@pytest.mark.parametrize("objective", list(Objective))
def test_iterations_can_be_repeated(heavy: DagInstance, objective: Objective) -> None:
    """Tests that one thread and a budget of iterations give one schedule, far below HEFT's, and the budget's end."""
    options = {"objective": objective, "threads": 1, "seed": 5, "iterations": 2, "bounds": []}
    first, second = (solve(heavy, "lns", **options) for _ in range(2))
    assert first.schedule is not None
    assert second.schedule is not None
    assert first.schedule.gpu.tolist() == second.schedule.gpu.tolist()
    assert first.schedule.start.tolist() == second.schedule.start.tolist()
    assert (first.termination, first.status) == (Termination.EVALUATIONS, Status.FEASIBLE)
    assert first.objective < 0.9 * solve(heavy, "heft", objective=objective, bounds=[]).objective
    assert first.backend_seconds > 0.0  # a window was repaired
    assert first.parameters == {"iterations": 2}


def test_more_iterations_are_no_worse(heavy: DagInstance) -> None:
    """Tests that the trace falls, begins with the best list schedule, and ends with the objective."""
    result = solve(heavy, "lns", threads=1, iterations=2, bounds=[])
    values = [point.objective for point in result.trace if point.objective is not None]
    assert values == sorted(values, reverse=True)
    assert values[0] <= solve(heavy, "heft", bounds=[]).objective
    assert values[-1] == result.objective


@pytest.mark.parametrize("certificate", ["area", "path"])
def test_planted_optima_are_near(certificate: str) -> None:
    """Tests that 150 tasks on 8 GPUs come within 3 % of a planted optimum that HEFT misses by more than 6 %."""
    planted = planted_optimum(tasks=150, num_gpus=8, certificate=certificate, seed=2)
    result = solve(planted.instance, "lns", threads=1, iterations=10, bounds=[])
    assert planted.optimum <= result.objective <= 1.03 * planted.optimum
    assert solve(planted.instance, "heft", bounds=[]).objective > 1.06 * planted.optimum


def test_met_bound_is_a_proof() -> None:
    """Tests that a run ends where it meets the bound, that the result is optimal, and that the bound is not its own."""
    planted = planted_optimum(tasks=60, num_gpus=4, certificate="path", seed=3)
    result = solve(planted.instance, "lns", threads=1, iterations=200)
    assert (result.status, result.objective, result.termination) == (
        Status.OPTIMAL,
        planted.optimum,
        Termination.FINISHED,
    )
    assert result.bound is not None
    assert result.bound.method != "lns"
    assert result.bound.is_optimum


def test_nothing_is_proved(heavy: DagInstance) -> None:
    """Tests that without bounds a run has none either, whatever its threads."""
    for threads in (1, 2):
        result = solve(heavy, "lns", threads=threads, iterations=1, bounds=[])
        assert (result.bound, result.status) == (None, Status.FEASIBLE)
        assert verify_dag_schedule(heavy, result.schedule) == []


def test_given_start_is_used(heavy: DagInstance) -> None:
    """Tests that the result is never worse than a given schedule that lists do not find."""
    good = solve(heavy, "lns", threads=1, iterations=3, seed=1, bounds=[])
    again = solve(heavy, "lns", threads=1, iterations=1, seed=2, start=good.schedule, bounds=[])
    assert again.objective <= good.objective


def test_time_limit_and_stop(heavy: DagInstance) -> None:
    """Tests that a time limit and a callback end the run with the best schedule so far."""

    class StopAtOnce(Callback):
        def on_incumbent(self, progress) -> None:
            self.wants_stop = True

    for threads in (1, 2):
        limited = solve(heavy, "lns", threads=threads, time_limit=0.3, bounds=[])
        assert limited.termination is Termination.TIME_LIMIT
        stopped = solve(heavy, "lns", threads=threads, callback=StopAtOnce(), bounds=[])
        assert stopped.termination is Termination.INTERRUPTED
        for result in (limited, stopped):
            assert verify_dag_schedule(heavy, result.schedule) == []


@pytest.mark.parametrize("iterations", [0, -3])
def test_iterations_must_be_positive(heavy: DagInstance, iterations: int) -> None:
    """Tests that no iterations are refused."""
    with pytest.raises(ValueError, match=f"^iterations: expected at least 1, got {iterations}.$"):
        solve(heavy, "lns", iterations=iterations)


def test_budget() -> None:
    """Tests that the used share is that of iterations or of time, whichever is larger."""
    assert [Budget(run_with(), 4).share(iteration) for iteration in range(5)] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert Budget(run_with()).share(10**9) == 0.0
    assert Budget(run_with(time_limit=1e9), 4).share(3) == 0.75
    over = Budget(run_with(time_limit=1e-9), 4)
    assert over.share(0) >= 1.0
    assert over.must_stop()
    assert Budget(run_with(should_stop=lambda: True)).must_stop()
    assert not Budget(run_with()).must_stop()


def test_incumbent_keeps_the_best() -> None:
    """Tests that only better schedules are kept and reported, and that meeting the bound closes the search."""
    instance = DagInstance.from_lists([[5, 2], [5, 2]])
    reported: list[int] = []
    run = run_with(lower_bound=4, reported=reported)
    worst, better = (heft(DagInstance.from_lists(rows)) for rows in ([[5], [5]], [[9, 2], [9, 2]]))
    assert worst is not None
    assert better is not None
    incumbent = Incumbent(instance, Objective.MAKESPAN, worst, run)
    assert (incumbent.value, incumbent.is_closed) == (10, False)
    incumbent.offer(better)
    incumbent.offer(worst)
    assert incumbent.best() == (better, 4)
    assert incumbent.is_closed
    assert reported == [10, 4]


def test_starts_offer_what_lists_find() -> None:
    """Tests that clusters and iterated lists take a fifth off HEFT's schedule, and that a stop is heeded at once."""
    planted = planted_optimum(tasks=200, num_gpus=16, seed=1)
    first = heft(planted.instance)
    assert first is not None
    for stop, better in ((True, False), (False, True)):
        incumbent = Incumbent(planted.instance, Objective.MAKESPAN, first, run_with())
        improve_start(planted.instance, Objective.MAKESPAN, incumbent, waste(planted.instance), lambda stop=stop: stop)
        assert (incumbent.value < 0.8 * objective_value(planted.instance, first, Objective.MAKESPAN)) == better
        assert verify_dag_schedule(planted.instance, incumbent.schedule) == []


def test_starts_without_data() -> None:
    """Tests that there are starts where no edge carries data, and where there is no edge at all."""
    for edges in ([(0, 1, 0), (1, 2, 0)], []):
        instance = DagInstance.from_lists([[2, 3], [3, 2], [2, 2]], edges)
        schedule = heft(instance)
        assert schedule is not None
        incumbent = Incumbent(instance, Objective.MAKESPAN, schedule, run_with())
        improve_start(instance, Objective.MAKESPAN, incumbent, np.zeros((3, 2)), lambda: False)
        assert verify_dag_schedule(instance, incumbent.schedule) == []
