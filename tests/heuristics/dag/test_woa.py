"""Tests of the whale optimisation algorithm: moves by hand, and runs against a plain loop with the same draws."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.callback import Callback
from heuristics.dag.heft import heft
from heuristics.dag.random_keys import RandomKeys
from heuristics.dag.woa import move, woa
from heuristics.stop import MaxEvaluations
from instances import DagInstance, DagSchedule, Objective, objective_value
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.progress import Progress

X, LEADER = np.array([0.2, 0.9]), np.array([0.6, 0.5])
ELSEWHERE = np.array([9.0, 9.0])  # a whale that must not matter
A, R1, R2 = 1.2, 0.75, 0.25  # so A = 0.6 and C = 0.5


def moved(
    position: NDArray[np.float64] = X,
    random_whale: NDArray[np.float64] = ELSEWHERE,
    a: float = A,
    r1: float = R1,
    p: float = 0.3,
    l: float = 0.5,
    **options: object,
) -> NDArray[np.float64]:
    """Return where a whale moves."""
    return move(position, LEADER, random_whale, a=a, r1=r1, r2=R2, p=p, l=l, **options)


def test_encircling() -> None:
    """Tests both distances: X* - 0.6 |0.5 X* - X| and X* - 0.6 x 0.5 |X* - X|."""
    assert moved() == pytest.approx([0.54, 0.11])
    assert moved(distance="shifted") == pytest.approx([0.48, 0.38])


def test_encircling_with_a_negative_step() -> None:
    """Tests that A = -0.6 moves to the other side: r1 = 0.25."""
    assert moved(r1=0.25) == pytest.approx([0.66, 0.89])


def test_spiral() -> None:
    """Tests |X* - X| exp(l) cos(2 pi l) + X* at l = 0.5, that p = 0.5 already takes it, and another shape b."""
    assert moved(p=0.7) == pytest.approx([-0.0595, -0.1595], abs=5e-5)
    assert moved(p=0.5) == pytest.approx(moved(p=0.9))
    assert moved(p=0.7, l=0.25) == pytest.approx(LEADER)
    assert moved(p=0.7, l=1.0, spiral=2.0) == pytest.approx(LEADER + 0.4 * math.exp(2.0))
    assert moved(p=0.7, distance="shifted") == pytest.approx(moved(p=0.7))


def test_exploration_goes_round_the_random_whale() -> None:
    """Tests that |A| >= 1 takes the random whale instead of the leader: a = 1.6, r1 = 0.9 give A = 1.28."""
    other = np.array([0.4, 0.4])
    assert moved(random_whale=other, a=1.6, r1=0.9) == pytest.approx([0.4, 0.4 - 1.28 * 0.7])
    assert moved(random_whale=other, a=1.6, r1=0.9, distance="shifted") == pytest.approx([0.272, 0.08])


def test_step_of_exactly_one_explores() -> None:
    """Tests the border: |A| = 1 explores, just below it encircles."""
    other = np.array([0.4, 0.4])
    assert moved(random_whale=other, a=1.0, r1=1.0) == pytest.approx([0.4 - 0.0, 0.4 - 0.7])
    assert moved(random_whale=other, a=1.0, r1=0.0) == pytest.approx([0.4 + 0.0, 0.4 + 0.7])
    assert moved(random_whale=other, a=0.999, r1=1.0) == pytest.approx([0.6 - 0.999 * 0.1, 0.5 - 0.999 * 0.65])


def test_fixed_point() -> None:
    """Tests that a whale at the leader is pulled towards 0 by the published distance and stays with the shifted one."""
    assert moved(position=LEADER) == pytest.approx([0.42, 0.35])
    assert moved(position=LEADER, distance="shifted").tolist() == LEADER.tolist()
    assert moved(position=LEADER, p=0.7).tolist() == LEADER.tolist()


class Trace(Callback):
    """Keeps the progress after every evaluation."""

    def __init__(self) -> None:
        self.states: list[Progress] = []

    def on_evaluation(self, progress: Progress) -> None:
        """Keep it."""
        self.states.append(progress)


def run(
    instance: DagInstance, seed: int, evaluations: int, objective: Objective = Objective.MAKESPAN, **options: object
) -> tuple[DagSchedule | None, list[int | None]]:
    """Run the whales and return the schedule and the best objective after every evaluation."""
    trace = Trace()
    rng = np.random.default_rng(seed)
    schedule = woa(instance, objective, rng, MaxEvaluations(evaluations), trace, **options)
    assert [state.evaluations for state in trace.states] == list(range(1, evaluations + 1))
    return schedule, [state.objective for state in trace.states]


def plain_points(
    decoder: RandomKeys,
    seed: int,
    evaluations: int,
    *,
    population: int,
    distance: str,
    acceptance: str,
    heft_seed: bool,
    spiral: float,
) -> list[list[float]]:
    """Return all evaluated points of a run, by loops over whales and coordinates."""
    rng, points = np.random.default_rng(seed), []
    dimension = decoder.num_keys
    first = decoder.heft_keys() if heft_seed else rng.random(dimension)
    whales = [first.tolist()] + [rng.random(dimension).tolist() for _ in range(population - 1)]
    fitness: list[tuple[int, int]] = []
    leader: list[float] = []
    leader_fitness: tuple[int, int] | None = None
    for whale in whales:
        points.append(whale)
        fitness.append(decoder.evaluate(np.array(whale)))
        if len(points) == evaluations:
            return points
    while True:
        for whale, value in zip(whales, fitness, strict=True):
            if leader_fitness is None or value < leader_fitness:
                leader, leader_fitness = whale, value
        a = 2 * (1 - len(points) / evaluations)
        children = []
        for index, whale in enumerate(whales):
            r1, r2, p = rng.random(), rng.random(), rng.random()
            l = rng.uniform(-1, 1)
            others = [other for position, other in enumerate(whales) if position != index]
            random_whale = others[int(rng.integers(population - 1))]
            big_a, big_c = 2 * a * r1 - a, 2 * r2
            child = []
            for x, best, other in zip(whale, leader, random_whale, strict=True):
                if p >= 0.5:
                    value = abs(best - x) * math.exp(spiral * l) * math.cos(2 * math.pi * l) + best
                else:
                    target = best if abs(big_a) < 1 else other
                    way = abs(big_c * target - x) if distance == "original" else big_c * abs(target - x)
                    value = target - big_a * way
                child.append(min(1.0, max(0.0, value)))
            children.append(child)
        values = []
        for child in children:
            points.append(child)
            values.append(decoder.evaluate(np.array(child)))
            if len(points) == evaluations:
                return points
        for index, (child, value) in enumerate(zip(children, values, strict=True)):
            if acceptance == "always" or value <= fitness[index]:  # a tie moves on
                whales[index], fitness[index] = child, value


VARIANTS = [
    {},
    {"distance": "shifted"},
    {"acceptance": "greedy"},
    {"distance": "shifted", "acceptance": "greedy", "decoding": "direct"},
    {"decoding": "eft", "heft_seed": False},
    {"decoding": "direct", "spiral": 0.5, "population": 5},
    {"population": 2, "heft_seed": False},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_run_equals_a_plain_loop(
    variant: dict[str, object], example_e: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that all evaluated points, in order, are those of the equations written as loops with the same draws."""
    options = {
        "population": 8,
        "distance": "original",
        "acceptance": "always",
        "heft_seed": True,
        "spiral": 1.0,
        "decoding": "ranked",
        **variant,
    }
    decoding = str(options.pop("decoding"))
    evaluated: list[list[float]] = []
    evaluate = RandomKeys.evaluate

    def remember(decoder: RandomKeys, keys: NDArray[np.float64]) -> tuple[int, int]:
        evaluated.append(keys.tolist())
        return evaluate(decoder, keys)

    expected = plain_points(RandomKeys(example_e, Objective.MAKESPAN, decoding), 17, 61, **options)
    monkeypatch.setattr(RandomKeys, "evaluate", remember)
    run(example_e, 17, 61, decoding=decoding, **options)
    assert len(evaluated) == len(expected) == 61
    np.testing.assert_allclose(evaluated, expected, rtol=0, atol=1e-9)
    assert np.min(evaluated) == 0.0  # clipped points are among them
    assert np.max(evaluated) <= 1.0


def test_result_is_the_best_evaluated(example_e: DagInstance) -> None:
    """Tests that the best never worsens, begins at HEFT, and is what is returned: the optimum of E."""
    schedule, objectives = run(example_e, 1, 200)
    assert objectives[0] == 18
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == objective_value(example_e, schedule, Objective.MAKESPAN) == 15


@pytest.mark.parametrize("evaluations", [1, 3, 8, 9, 21, 40])
def test_budget_need_not_be_whole_rounds(example_e: DagInstance, evaluations: int) -> None:
    """Tests that budgets below one pod, of whole rounds and between them are used to the unit."""
    schedule, objectives = run(example_e, 5, evaluations, population=8)
    assert len(objectives) == evaluations
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == objectives[-1]


@given(
    instance=dag_instances(max_tasks=7),
    seed=st.integers(0, 99),
    distance=st.sampled_from(["original", "shifted"]),
    decoding=st.sampled_from(["ranked", "eft", "direct"]),
)
@settings(max_examples=60, deadline=None)
def test_never_worse_than_heft(instance: DagInstance, seed: int, distance: str, decoding: str) -> None:
    """Tests that with HEFT's schedule as whale 0 the result is at most as long, and there where HEFT's is."""
    expected = heft(instance)
    schedule, _ = run(instance, seed, 30, population=6, distance=distance, decoding=decoding)
    if expected is not None:
        assert schedule is not None
        makespans = [objective_value(instance, one, Objective.MAKESPAN) for one in (schedule, expected)]
        assert makespans[0] <= makespans[1]


def test_weighted_completion_is_minimised() -> None:
    """Tests that the other objective is the fitness: the heavy job goes first although HEFT puts it last."""
    instance = DagInstance.from_lists([[9], [2]], job_of_task=[0, 1], release=[0, 0], weight=[1, 9])
    schedule, objectives = run(instance, 0, 60, objective=Objective.WEIGHTED_COMPLETION)
    assert schedule.start.tolist() == [2, 0]
    assert (objectives[0], objectives[-1]) == (9 + 9 * 11, 11 + 9 * 2)


@pytest.mark.parametrize("durations", [[[3, 2]], [[0, 0], [0, 0], [0, 0]], [[2], [2]]])
def test_degenerate_instances(durations: list[list[int]]) -> None:
    """Tests one task, all durations 0 and one GPU, where all whales are equally good."""
    instance = DagInstance.from_lists(durations)
    schedule, objectives = run(instance, 0, 50)
    best = {1: 2, 3: 0, 2: 4}[len(durations)]
    assert objectives == [best] * 50
    assert objective_value(instance, schedule, Objective.MAKESPAN) == best


def test_no_tasks() -> None:
    """Tests that points without coordinates are counted and give the empty schedule."""
    schedule, objectives = run(DagInstance.from_lists([], num_gpus=2), 0, 25)
    assert (schedule.gpu.tolist(), objectives) == ([], [0] * 25)


def test_overflow_counts_before_the_objective() -> None:
    """Tests that whales find a placement within the limits where HEFT finds none."""
    instance = DagInstance.from_lists([[9, 10], [1, 5], [1, 1]], task_memory=[2, 2, 3], gpu_memory=[4, 3])
    assert heft(instance) is None
    schedule, objectives = run(instance, 0, 200)
    assert objectives[0] is None
    assert objectives[-1] == objective_value(instance, schedule, Objective.MAKESPAN) == 10


def test_seed_decides(heft_example: DagInstance) -> None:
    """Tests that one seed gives one schedule and other seeds others."""
    starts = [run(heft_example, seed, 60)[0].start.tolist() for seed in (1, 1, 2, 3, 4)]
    assert starts[0] == starts[1]
    assert len({tuple(entry) for entry in starts}) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: expected at least 2, got 1."),
        ({"distance": "far"}, "distance: expected original or shifted, got 'far'."),
        ({"acceptance": "never"}, "acceptance: expected always or greedy, got 'never'."),
        ({"spiral": float("inf")}, "spiral: expected a number in -700..700, got inf."),
        ({"decoding": "best"}, "decoding: expected one of ranked, eft, direct, got 'best'."),
    ],
)
def test_parameters_are_checked(example_e: DagInstance, options: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused before anything is evaluated."""
    trace = Trace()
    with pytest.raises(ValueError) as caught:
        woa(example_e, Objective.MAKESPAN, np.random.default_rng(0), MaxEvaluations(5), trace, **options)
    assert str(caught.value) == message
    assert trace.states == []
