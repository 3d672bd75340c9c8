"""Tests of RTGS as a method: its course against plain loops and against the published class, and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import heft, place_by_list
from heuristics.dag.priorities import placement_order, upward_ranks
from heuristics.dag.rtgs.published import published_rtgs
from heuristics.dag.rtgs.search import rtgs
from heuristics.search.progress import Callback
from heuristics.search.run import SearchRun
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from tests.plain_rtgs import plain_rtgs
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from heuristics.dag.greedy_generator import Population
    from heuristics.search.progress import Progress
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.schedule import DagSchedule


PUBLISHED = {"order": "index", "insertion": False, "wish": "final_load"}


class Trace(Callback):
    """Keeps the progress after every evaluation, and the rounds."""

    def __init__(self) -> None:
        self.states: list[Progress] = []
        self.rounds: list[Mapping[str, float | None]] = []

    def on_evaluation(self, progress: Progress) -> None:
        """Keep it."""
        self.states.append(progress)

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Keep it."""
        self.rounds.append(row)


def run(
    instance: DagInstance,
    seed: int,
    evaluations: int,
    objective: Objective = Objective.MAKESPAN,
    stop: StopCriterion | None = None,
    **options: object,
) -> tuple[DagSchedule | None, list[int | None]]:
    """Run the population and return the schedule and the best objective after every evaluation."""
    trace = Trace()
    rng = np.random.default_rng(seed)
    schedule = rtgs(instance, objective, rng, stop or MaxEvaluations(evaluations), trace, **options)
    assert [state.evaluations for state in trace.states] == list(range(1, evaluations + 1))
    return schedule, [state.objective for state in trace.states]


class Evaluated:
    """Keeps every placement and fitness that a search counts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gpu: list[list[int]] = []
        self.fitness: list[list[int]] = []
        record_many = SearchRun.record_many

        def remember(search: SearchRun, fitness: NDArray[np.int64], solutions: Sequence[Population]) -> int:
            counted = record_many(search, fitness, solutions)
            self.gpu += [solution.gpu[0].tolist() for solution in solutions[:counted]]
            self.fitness += fitness[:counted].tolist()
            return counted

        monkeypatch.setattr(SearchRun, "record_many", remember)


VARIANTS = [
    {},
    PUBLISHED,
    {"order": "index"},
    {"insertion": False},
    {"wish": "final_load"},
    {"population": 2},
    {"population": 3, "spiral": 0.3},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("name", ["example_e", "example_e_with_memory", "heft_example"])
def test_run_equals_plain_loops(
    variant: dict[str, object], name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that all placements, in order, are those of Algorithms A to C written as loops with the same draws."""
    instance: DagInstance = request.getfixturevalue(name)
    options = {"population": 6, "order": "rank", "insertion": True, "wish": "running_load", "spiral": 1.0, **variant}
    evaluated = Evaluated(monkeypatch)
    schedule, objectives = run(instance, 23, 60, **options)
    arrays = dag_arrays(instance)
    priority = upward_ranks(arrays) if options.pop("order") == "rank" else np.zeros(instance.num_tasks)
    whales = plain_rtgs(instance, 23, 60, order=placement_order(arrays, priority).tolist(), **options)
    assert evaluated.gpu == [whale.gpu for whale in whales]
    assert evaluated.fitness == [[whale.overflow, whale.objective] for whale in whales]
    best = min(whales, key=lambda whale: (whale.overflow, whale.objective))
    assert schedule.gpu.tolist() == best.gpu
    assert objective_value(instance, schedule, Objective.MAKESPAN) == best.objective == objectives[-1]


@dataclass(frozen=True)
class PublishedRounds:
    """Stops after K rounds of H - 1 whales; the share makes a = 2 (1 - k / K) in round k, as published."""

    population: int
    iterations: int

    def __call__(self, progress: Progress) -> bool:
        """Return True after the last round."""
        return progress.evaluations >= self.population + self.iterations * (self.population - 1)

    def share(self, progress: Progress) -> float:
        """Return k / K at the beginning of round k."""
        rounds = (progress.evaluations - self.population) / (self.population - 1)
        return min(1.0, (rounds + 1) / self.iterations)


@pytest.mark.parametrize("seed", range(12))
def test_published_form_takes_the_published_course(seed: int) -> None:
    """Tests that on related GPUs without transfers and memory the method is the published class, draw for draw."""
    rng = np.random.default_rng(seed)
    n, m, population, iterations = int(rng.integers(1, 25)), int(rng.integers(1, 6)), int(rng.integers(2, 9)), 6
    speed = rng.choice([1, 2, 3, 4, 6], size=m)
    work = 12 * rng.integers(1, 30, size=n)  # divisible by every speed
    before = [[h for h in range(i) if rng.random() < 0.15] for i in range(n)]
    edges = [(h, i, 0) for i in range(n) for h in before[i]]
    instance = DagInstance.from_lists((work[:, None] // speed).tolist(), edges)
    # the lexicographically smallest topological order is the index order, which the edges follow
    assert instance.topological_order.tolist() == list(range(n))
    published = published_rtgs(work, speed, before, np.random.default_rng(seed), population, iterations)
    stop = PublishedRounds(population, iterations)
    schedule, objectives = run(instance, seed, published.evaluations, stop=stop, population=population, **PUBLISHED)
    after_rounds = objectives[population - 1 :: population - 1]
    assert after_rounds == published.trace.tolist()
    assert schedule.gpu.tolist() == published.gpu.tolist()


@given(
    instance=dag_instances(max_tasks=8),
    seed=st.integers(0, 99),
    population=st.integers(2, 5),
    order=st.sampled_from(["rank", "index"]),
    wish=st.sampled_from(["running_load", "final_load"]),
    insertion=st.booleans(),
    objective=st.sampled_from(FINISH_OBJECTIVES),
)
@settings(deadline=None, max_examples=60)
def test_schedules_verify(
    instance: DagInstance,
    seed: int,
    population: int,
    order: str,
    wish: str,
    insertion: bool,
    objective: Objective,
) -> None:
    """Tests that what is returned verifies, has the objective that was reported, and is there where one was found."""
    options = {"population": population, "order": order, "wish": wish, "insertion": insertion}
    schedule, objectives = run(instance, seed, 25, objective, **options)
    seen = [value for value in objectives if value is not None]
    assert seen == sorted(seen, reverse=True)
    assert (schedule is None) == (not seen)
    if schedule is not None:
        assert verify_dag_schedule(instance, schedule) == []
        assert objective_value(instance, schedule, objective) == seen[-1]


@given(instance=dag_instances(max_tasks=8), seed=st.integers(0, 99), population=st.integers(2, 6))
@settings(deadline=None, max_examples=60)
def test_never_worse_than_the_heft_seed(instance: DagInstance, seed: int, population: int) -> None:
    """Tests that with HEFT's placement as whale 0 the first objective is HEFT's and the last at most that."""
    expected = heft(instance)
    schedule, objectives = run(instance, seed, 20, heft_seed=True, population=population)
    if expected is not None:
        assert objectives[0] == objective_value(instance, expected, Objective.MAKESPAN)
        assert objective_value(instance, schedule, Objective.MAKESPAN) <= objectives[0]


@pytest.mark.parametrize("evaluations", [1, 5, 6, 11, 12, 16])
def test_budget_need_not_be_whole_rounds(example_e: DagInstance, evaluations: int) -> None:
    """Tests budgets below one population, of whole rounds (6 + 5 K) and between them, and the rows of the rounds."""
    schedule, objectives = run(example_e, 5, evaluations, population=6)
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == objectives[-1]
    trace = Trace()
    rtgs(example_e, Objective.MAKESPAN, np.random.default_rng(5), MaxEvaluations(evaluations), trace, population=6)
    counts = [row["evaluations"] for row in trace.rounds]
    assert counts == sorted({*range(6, evaluations + 1, 5), evaluations})
    assert [row["best"] for row in trace.rounds] == [objectives[count - 1] for count in counts]
    assert all(row["mean"] >= row["best"] for row in trace.rounds[:1])


def test_optimum_of_the_example(example_e: DagInstance) -> None:
    """Tests that 200 evaluations find the optimum 15 that HEFT misses."""
    assert run(example_e, 1, 200)[1][-1] == 15


@pytest.mark.parametrize("durations", [[[3, 2]], [[0, 0], [0, 0], [0, 0]], [[2], [2]]])
@pytest.mark.parametrize("population", [2, 20])
def test_degenerate_instances(durations: list[list[int]], population: int) -> None:
    """Tests one task, all durations 0 and one GPU, where whales tie and stand at one point."""
    instance = DagInstance.from_lists(durations)
    schedule, objectives = run(instance, 0, 60, population=population)
    best = {1: 2, 3: 0, 2: 4}[len(durations)]
    assert objectives[-1] == objective_value(instance, schedule, Objective.MAKESPAN) == best


def test_no_tasks() -> None:
    """Tests that placements without tasks are counted and give the empty schedule."""
    schedule, objectives = run(DagInstance.from_lists([], num_gpus=2), 0, 25, heft_seed=True)
    assert (schedule.gpu.tolist(), objectives) == ([], [0] * 25)


DEAD_END = [[9, 10], [1, 5], [1, 1]]
"""Durations with which HEFT's list, and many random placements, leave no GPU with memory for the last task."""


def test_overflow_counts_before_the_objective() -> None:
    """Tests that the population finds a placement within the limits where all its first ones exceed them."""
    instance = DagInstance.from_lists(DEAD_END, task_memory=[2, 2, 3], gpu_memory=[4, 3])
    schedule, objectives = run(instance, 0, 100, population=2)
    assert objectives[:2] == [None, None]
    assert objectives[-1] == objective_value(instance, schedule, Objective.MAKESPAN) == 10


def test_heft_seed_keeps_to_memory_as_heft_does() -> None:
    """Tests that whale 0 begins at HEFT's repaired schedule where HEFT's list first ends in a dead end."""
    instance = DagInstance.from_lists(DEAD_END, task_memory=[2, 2, 3], gpu_memory=[4, 3])
    assert place_by_list(dag_arrays(instance)).overflow > 0
    schedule, objectives = run(instance, 0, 1, heft_seed=True)
    assert schedule.start.tolist() == heft(instance).start.tolist()
    assert objectives == [10]


def test_dead_end_gives_no_schedule() -> None:
    """Tests that nothing is returned where the only placement that was made exceeds a limit."""
    # the long tasks of 2 bytes come first; on different GPUs they leave 2 bytes each where 4 are needed
    instance = DagInstance.from_lists([[9, 9], [9, 9], [1, 1]], task_memory=[2, 2, 4], gpu_memory=[4, 4])
    schedules = [run(instance, seed, 1, population=2) for seed in range(20)]
    without = [objectives for schedule, objectives in schedules if schedule is None]
    assert without == [[None]] * len(without)
    assert 0 < len(without) < 20  # both tasks on one GPU leave room for the third


def test_seed_decides(heft_example: DagInstance) -> None:
    """Tests that one seed gives one schedule and other seeds others."""
    starts = [run(heft_example, seed, 60)[0].start.tolist() for seed in (1, 1, 2, 3, 4)]
    assert starts[0] == starts[1]
    assert len({tuple(entry) for entry in starts}) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: expected at least 2, got 1."),
        ({"order": "random"}, "order: expected rank or index, got 'random'."),
        ({"wish": "load"}, "wish: expected running_load or final_load, got 'load'."),
        ({"spiral": float("nan")}, "spiral: expected a number in -600..600, got nan."),
        (
            {"heft_seed": True, "order": "index"},
            'heft_seed: expected False unless order is "rank" with insertion, as in HEFT, got True.',
        ),
        (
            {"heft_seed": True, "insertion": False},
            'heft_seed: expected False unless order is "rank" with insertion, as in HEFT, got True.',
        ),
    ],
)
def test_parameters_are_checked(example_e: DagInstance, options: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused before anything is evaluated."""
    trace = Trace()
    with pytest.raises(ValueError) as caught:
        rtgs(example_e, Objective.MAKESPAN, np.random.default_rng(0), MaxEvaluations(5), trace, **options)
    assert str(caught.value) == message
    assert trace.states == []


@pytest.mark.parametrize("spiral", [-600.0, 600.0])
def test_largest_spiral_stays_finite(example_e: DagInstance, spiral: float) -> None:
    """Tests that the ends of the range raise no floating-point warning."""
    assert run(example_e, 0, 100, spiral=spiral)[1][-1] >= 15
