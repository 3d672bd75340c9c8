"""Tests of the moves of whales: by hand, and each variant against loops over whales and coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag import whale_optimisation as woa_module
from heuristics.dag.list_scheduling import heft
from heuristics.dag.random_keys import DECODINGS, RandomKeys
from heuristics.dag.whale_optimisation import VARIANTS, Draws, draw, elapsed_part, move_whales, woa
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations, MaxStagnation
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from tests.heuristics.dag.watched_evaluations import watch_evaluations
from tests.plain_whales import plain_moves
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from heuristics.search.progress import Progress
    from instances.dag.schedule import DagSchedule


X, LEADER = np.array([0.2, 0.9]), np.array([0.6, 0.5])
ELSEWHERE = np.array([9.0, 9.0])  # a whale that must not matter
A, R1, R2 = 1.2, 0.75, 0.25  # so A = 0.6 and C = 0.5


def draws(*, r1: list, r2: list, p: list, l: list, other: list) -> Draws:
    """Return fixed draws; one column where entries are numbers, else one per coordinate."""
    columns = [np.array(entry, dtype=float).reshape(len(l), -1) for entry in (r1, r2, p)]
    return Draws(*columns, l=np.array(l, dtype=float), other=np.array(other).reshape(len(l), -1))


def moved(
    position: NDArray[np.float64] = X,
    random_whale: NDArray[np.float64] = ELSEWHERE,
    a: float = A,
    r1: float = R1,
    p: float = 0.3,
    l: float = 0.5,
    **options: object,
) -> NDArray[np.float64]:
    """Return where the first of two whales moves."""
    fixed = draws(r1=[r1, 0.5], r2=[R2, 0.5], p=[p, 0.9], l=[l, 0.0], other=[1, 0])
    return move_whales(np.array([position, random_whale]), LEADER, fixed, a, **options)[0]


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


@pytest.mark.parametrize(
    ("variant", "first", "second"),
    [
        ("printed", [-0.0595, -0.1595], [0.2 - 1.2 * 0.3, 0.5]),  # seen: 0.2, before its move
        ("reference", [-0.0595, -0.1595], [-0.0595 - 1.2 * 0.5595, 0.5]),  # seen: moved, not clipped
        ("mealpy", [0.0, 0.0], [0.0, 0.5]),  # seen: moved and clipped to 0, then 0 - 1.2 x 0.5, clipped
    ],
)
def test_what_later_whales_see(variant: str, first: list[float], second: list[float]) -> None:
    """Tests whale 1 that explores round whale 0, which has moved before, and in coordinate 1 round itself; A = 1.2."""
    whales = np.array([[0.2, 0.9], [0.5, 0.5]])
    fixed = draws(r1=[0.5, 1.0], r2=[0.5, 0.5], p=[0.7, 0.1], l=[0.5, 0.0], other=[[1, 1], [0, 1]])
    after = move_whales(whales, LEADER, fixed, 1.2, rules=VARIANTS[variant])
    assert after[0] == pytest.approx(first, abs=5e-5)
    assert after[1] == pytest.approx(second, abs=1e-4)
    assert whales.tolist() == [[0.2, 0.9], [0.5, 0.5]]


def test_vectors_hold_per_coordinate() -> None:
    """Tests that with a column per coordinate one encircles (0.54) and the other spirals (-0.1595)."""
    fixed = draws(r1=[[R1, 0.1]] * 2, r2=[[R2, 0.9]] * 2, p=[[0.3, 0.8]] * 2, l=[0.5, 0.5], other=[[1, 1], [0, 0]])
    assert move_whales(np.array([X, X]), LEADER, fixed, A)[0] == pytest.approx([0.54, -0.1595], abs=5e-5)


@given(
    variant=st.sampled_from(sorted(VARIANTS)),
    distance=st.sampled_from(["original", "shifted"]),
    num_whales=st.integers(2, 5),
    dimension=st.integers(0, 4),
    a=st.floats(0, 2),
    spiral=st.sampled_from([1.0, 0.3, -2.0]),
    seed=st.integers(0, 999),
)
@settings(max_examples=150, deadline=None)
def test_moves_equal_loops(
    variant: str, distance: str, num_whales: int, dimension: int, a: float, spiral: float, seed: int
) -> None:
    """Tests every variant against the equations written as loops, number for number."""
    rng, rules = np.random.default_rng(seed), VARIANTS[variant]
    whales, leader = rng.random((num_whales, dimension)), rng.random(dimension)
    drawn = draw(rng, rules, num_whales, dimension, 1.0 - a / 2.0)
    after = move_whales(whales, leader, drawn, a, rules=rules, distance=distance, spiral=spiral)
    expected = plain_moves(
        whales.tolist(), leader.tolist(), drawn, a, variant=variant, distance=distance, spiral=spiral
    )
    np.testing.assert_allclose(after.ravel(), np.ravel(expected), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("variant", "columns", "other_columns", "lowest_l", "itself"),
    [("printed", 1, 1, -1.0, False), ("reference", 1, 7, -1.5, True), ("mealpy", 7, 7, -1.5, False)],
)
def test_draws(variant: str, columns: int, other_columns: int, lowest_l: float, itself: bool) -> None:
    """Tests shapes, the range of l halfway through a run, and who may be a random whale: all others, or all."""
    rng, rules = np.random.default_rng(0), VARIANTS[variant]
    rounds = [draw(rng, rules, 4, 7, 0.5) for _ in range(300)]
    assert {entry.shape for one in rounds for entry in one[:3]} == {(4, columns)}
    assert {one.other.shape for one in rounds} == {(4, other_columns)}
    l = np.array([one.l for one in rounds])
    assert l.shape == (300, 4)
    assert lowest_l <= l.min() < lowest_l + 0.02
    assert 0.98 < l.max() <= 1.0
    for whale in range(4):
        seen = {int(index) for one in rounds for index in one.other[whale]}
        assert seen == {0, 1, 2, 3} - (set() if itself else {whale})


def test_elapsed_part() -> None:
    """Tests a = 2 (1 - e): from the share; t/T with E = H T, T = 5; t/T, t from 1, with E = H (T + 1), T = 4."""
    shares = [0.2, 0.4, 0.6, 0.8]
    assert [elapsed_part("printed", share, 0.2) for share in shares] == shares
    assert [elapsed_part("reference", share, 0.2) for share in shares] == pytest.approx([0.0, 0.2, 0.4, 0.6])
    assert [elapsed_part("mealpy", share, 0.2) for share in shares] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert elapsed_part("mealpy", 0.95, 0.2) == 1.0  # the last round is cut
    assert [elapsed_part(variant, 0.0, 0.0) for variant in VARIANTS] == [0.0, 0.0, 0.0]  # no budget


class Trace(Callback):
    """Keeps the progress after every evaluation."""

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
    instance: DagInstance, seed: int, evaluations: int, objective: Objective = Objective.MAKESPAN, **options: object
) -> tuple[DagSchedule | None, list[int | None]]:
    """Run the whales and return the schedule and the best objective after every evaluation."""
    trace = Trace()
    rng = np.random.default_rng(seed)
    schedule = woa(instance, objective, rng, MaxEvaluations(evaluations), trace, **options)
    assert [state.evaluations for state in trace.states] == list(range(1, evaluations + 1))
    return schedule, [state.objective for state in trace.states]


def test_three_rounds_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests two whales on two tasks, of which the heavy one should go first, for three rounds with fixed draws.

    E = 8, so a = 1.5, 1, 0.5. Whale 0 leads all the time: whoever puts task 0 first ties, and ties keep the older.
    Round 1: whale 0 spirals from the leader to itself; whale 1 encircles, A = 0.6, C = 0.5. Round 2: whale 0 explores,
    A = 1, C = 1; whale 1 spirals, l = 1. Round 3: both encircle, A = -0.5, C = 2 and A = 0.25, C = 0.
    """
    instance = DagInstance.from_lists([[2], [9]], job_of_task=[0, 1], release=[0, 0], weight=[9, 1])
    first = np.array([[0.6, 0.5], [0.2, 0.9]])
    rounds = iter(
        [
            ([0.5, 0.7], [0.5, 0.25], [0.8, 0.3], [0.5, 0.0]),
            ([1.0, 0.5], [0.5, 0.5], [0.2, 0.6], [0.0, 1.0]),
            ([0.0, 0.75], [1.0, 0.0], [0.1, 0.4], [0.0, 0.0]),
        ]
    )

    def fixed(*_: object) -> Draws:
        r1, r2, p, l = (np.array(entry) for entry in next(rounds))
        return Draws(r1[:, None], r2[:, None], p[:, None], l=l, other=np.array([[1], [0]]))

    monkeypatch.setattr(woa_module, "draw", fixed)
    monkeypatch.setattr(RandomKeys, "sample", lambda *_, **__: first)
    evaluated = remembered(monkeypatch)
    schedule, objectives = run(
        instance, 0, 8, objective=Objective.WEIGHTED_COMPLETION, population=2, decoding="eft", variant="printed"
    )
    reach = 2.718281828459045
    np.testing.assert_allclose(
        np.reshape(evaluated, (4, 2, 2)),
        [
            [[0.6, 0.5], [0.2, 0.9]],
            [[0.6, 0.5], [0.54, 0.11]],
            [[0.48, 0.0], [0.6 + 0.06 * reach, 1.0]],
            [[0.6 + 0.5 * 0.72, 1.0], [0.6 - 0.25 * (0.6 + 0.06 * reach), 0.25]],
        ],
        rtol=0,
        atol=1e-12,
    )
    assert objectives == [9 * 2 + 11] * 8
    assert schedule.start.tolist() == [0, 2]


def remembered(monkeypatch: pytest.MonkeyPatch) -> list[list[float]]:
    """Return a list to which every evaluated point is added."""
    evaluated: list[list[float]] = []
    watch_evaluations(monkeypatch, lambda points: evaluated.extend(points.tolist()))
    return evaluated


def plain_points(
    decoder: RandomKeys,
    seed: int,
    draws: list[Draws],
    evaluations: int,
    *,
    population: int,
    variant: str,
    distance: str,
    acceptance: str,
    heft_seed: bool,
    spiral: float,
) -> list[list[float]]:
    """Return all points of a run of whole rounds, by loops over whales and coordinates, from recorded draws."""
    rng = np.random.default_rng(seed)
    dimension, rounds = decoder.num_keys, evaluations // population
    first = decoder.heft_keys() if heft_seed else rng.random(dimension)
    whales = [first.tolist()] + [rng.random(dimension).tolist() for _ in range(population - 1)]
    fitness = [decoder.evaluate(np.array(whale)) for whale in whales]
    points = list(whales)
    leader: list[float] = []
    leader_fitness: tuple[int, int] | None = None
    for number in range(1, rounds):
        for whale, value in zip(whales, fitness, strict=True):
            if leader_fitness is None or value < leader_fitness:
                leader, leader_fitness = whale, value
        a = {
            "printed": 2 * (1 - number / rounds),
            "reference": 2 * (1 - (number - 1) / rounds),
            "mealpy": 2 * (1 - number / (rounds - 1)),
        }[variant]
        moves = plain_moves(whales, leader, draws[number - 1], a, variant=variant, distance=distance, spiral=spiral)
        children = [[min(1.0, max(0.0, key)) for key in whale] for whale in moves]
        points += children
        whales = list(whales)
        for index, child in enumerate(children):
            value = decoder.evaluate(np.array(child))
            if acceptance == "always" or value <= fitness[index]:  # a tie moves on
                whales[index], fitness[index] = child, value
    return points


VARIATIONS = [
    {},
    {"variant": "reference"},
    {"variant": "mealpy"},
    {"distance": "shifted"},
    {"acceptance": "greedy"},
    {"variant": "reference", "distance": "shifted", "heft_seed": False},
    {"variant": "mealpy", "acceptance": "greedy", "spiral": 0.5},
    {"distance": "shifted", "acceptance": "greedy", "decoding": "direct"},
    {"decoding": "eft", "heft_seed": False},
    {"decoding": "load", "spiral": 0.5, "population": 4},
    {"population": 2, "heft_seed": False},
]


@pytest.mark.parametrize("variation", VARIATIONS, ids=str)
def test_run_equals_a_plain_loop(
    variation: dict[str, object], example_e: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that all points, in order, are those of the equations written as loops with the recorded draws."""
    options = {
        "population": 8,
        "variant": "printed",
        "distance": "original",
        "acceptance": "always",
        "heft_seed": True,
        "spiral": 1.0,
        "decoding": "ranked",
        **variation,
    }
    draws: list[Draws] = []

    def recorded(*args: object) -> Draws:
        draws.append(draw(*args))
        return draws[-1]

    decoding = str(options.pop("decoding"))
    monkeypatch.setattr(woa_module, "draw", recorded)
    with monkeypatch.context() as patched:
        evaluated = remembered(patched)
        run(example_e, 17, 64, decoding=decoding, **options)
    expected = plain_points(RandomKeys(example_e, Objective.MAKESPAN, decoding), 17, draws, 64, **options)
    assert len(evaluated) == len(expected) == 64
    np.testing.assert_allclose(evaluated, expected, rtol=0, atol=1e-9)
    assert np.min(evaluated) == 0.0  # clipped points are among them
    assert np.max(evaluated) <= 1.0


def test_draws_come_whale_by_whale() -> None:
    """Tests that the default draws r1, r2, p, l and another whale for one whale after the other."""
    drawn, rng = draw(np.random.default_rng(5), VARIANTS["printed"], 6, 3, 0.0), np.random.default_rng(5)
    for whale in range(6):
        assert [entry[whale, 0] for entry in drawn[:3]] == rng.random(3).tolist()
        assert drawn.l[whale] == rng.uniform(-1.0, 1.0)
        other = int(rng.integers(5))
        assert drawn.other[whale, 0] == (other if other < whale else other + 1)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rows", [[[5]], [[2, 3]], [[2], [2]], [[0, 0]] * 3, [[4, 4]] * 4], ids=str)
def test_count_is_that_of_whole_rounds(variant: str, rows: list[list[int]]) -> None:
    """Tests E = H (T + 1) with H = 2, one task, one GPU, durations 0 and ties: T rounds after the first population."""
    trace = Trace()
    rng = np.random.default_rng(1)
    instance = DagInstance.from_lists(rows)
    schedule = woa(instance, Objective.MAKESPAN, rng, MaxEvaluations(12), trace, population=2, variant=variant)
    assert schedule is not None
    assert [row["evaluations"] for row in trace.rounds] == [2, 4, 6, 8, 10, 12]
    assert [state.evaluations for state in trace.states] == list(range(1, 13))


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_whales_equal(variant: str, example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a population that begins in one point is counted like any other and keeps that point's schedule."""
    monkeypatch.setattr(RandomKeys, "sample", lambda keys, _, count, **__: np.tile(keys.heft_keys(), (count, 1)))
    _, objectives = run(example_e, 0, 30, population=6, variant=variant)
    assert objectives[:6] == [18] * 6
    assert objectives == sorted(objectives, reverse=True)


def test_rounds_are_logged(example_e: DagInstance) -> None:
    """Tests the rows of the log against the trace of evaluations; the last round is cut."""
    trace = Trace()
    woa(example_e, Objective.MAKESPAN, np.random.default_rng(2), MaxEvaluations(50), trace, population=20)
    assert [row["evaluations"] for row in trace.rounds] == [20, 40, 50]
    assert [row["best"] for row in trace.rounds] == [trace.states[done - 1].objective for done in (20, 40, 50)]
    assert all(row["mean"] >= row["best"] for row in trace.rounds)
    assert trace.rounds[0]["at_bounds"] == 5 / 200  # GPU keys of HEFT's point
    assert trace.rounds[2]["at_bounds"] > 5 / 200


def test_without_a_budget_a_stays_two(example_e: DagInstance) -> None:
    """Tests that a criterion that is no budget ends a run of any variant all the same."""
    for variant in VARIANTS:
        trace = Trace()
        rng = np.random.default_rng(0)
        woa(example_e, Objective.MAKESPAN, rng, MaxStagnation(40), trace, variant=variant)
        assert trace.states[-1].evaluations - trace.states[-1].improved_at == 40


def test_result_is_the_best_evaluated(example_e: DagInstance) -> None:
    """Tests that the best never worsens, begins at HEFT, and is what is returned: the optimum of E."""
    schedule, objectives = run(example_e, 1, 200)
    assert objectives[0] == 18
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == objective_value(example_e, schedule, Objective.MAKESPAN) == 15


@pytest.mark.parametrize("evaluations", [1, 3, 8, 9, 21, 40])
def test_budget_need_not_be_whole_rounds(example_e: DagInstance, evaluations: int) -> None:
    """Tests that budgets below one population, of whole rounds and between them are used to the unit."""
    schedule, objectives = run(example_e, 5, evaluations, population=8)
    assert len(objectives) == evaluations
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == objectives[-1]


@given(
    instance=dag_instances(max_tasks=7),
    seed=st.integers(0, 99),
    variant=st.sampled_from(sorted(VARIANTS)),
    distance=st.sampled_from(["original", "shifted"]),
    decoding=st.sampled_from(DECODINGS),
)
@settings(max_examples=100, deadline=None)
def test_never_worse_than_heft(instance: DagInstance, seed: int, variant: str, distance: str, decoding: str) -> None:
    """Tests that with HEFT's schedule as whale 0 the result is at most as long, and there where HEFT's is."""
    expected = heft(instance)
    schedule, _ = run(instance, seed, 30, population=6, variant=variant, distance=distance, decoding=decoding)
    if expected is not None:
        assert schedule is not None
        makespans = [objective_value(instance, one, Objective.MAKESPAN) for one in (schedule, expected)]
        assert makespans[0] <= makespans[1]


@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 99), decoding=st.sampled_from(["eft", "look-ahead"]))
@settings(max_examples=40, deadline=None)
def test_around_the_rank_never_worse_than_heft(instance: DagInstance, seed: int, decoding: str) -> None:
    """Tests that the variant of ours has HEFT's schedule as whale 0, and that objectives only fall."""
    expected = heft(instance)
    schedule, objectives = run(instance, seed, 30, population=6, variant="rank", decoding=decoding)
    if expected is not None:
        assert objectives[0] == objective_value(instance, expected, Objective.MAKESPAN)
        assert objectives[-1] == objective_value(instance, schedule, Objective.MAKESPAN) <= objectives[0]


def test_around_the_rank_finds_the_optimum_by_looking_ahead() -> None:
    """Tests a fork whose first task must go to the slower GPU: earliest finish never sends it there."""
    instance = DagInstance.from_lists([[9, 10], [99, 1], [99, 1]], [(0, 1, 50), (0, 2, 50)])
    assert run(instance, 0, 60, variant="rank", decoding="eft")[1][-1] == 9 + 50 + 2
    assert run(instance, 0, 60, variant="rank", decoding="look-ahead")[1][-1] == 12


def test_weighted_completion_is_minimised() -> None:
    """Tests that the other objective is the fitness: the heavy job goes first although HEFT puts it last."""
    jobs = {"job_of_task": [0, 1, 1], "release": [0, 0], "weight": [1, 9]}
    instance = DagInstance.from_lists([[9], [1], [1]], [(1, 2, 0)], **jobs)
    schedule, objectives = run(instance, 0, 60, objective=Objective.WEIGHTED_COMPLETION)
    assert schedule.start.tolist() == [2, 0, 1]
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


TIGHT = DagInstance.from_lists([[9, 10], [1, 5], [1, 1]], task_memory=[2, 2, 3], gpu_memory=[4, 3])
"""HEFT's list first ends in a dead end of memory here, and its repair has the optimum, 10."""


def test_overflow_counts_before_the_objective() -> None:
    """Tests that whales find a placement within the limits where the first of them exceed a limit."""
    schedule, objectives = run(TIGHT, 1, 200, heft_seed=False)
    assert objectives[0] is None
    assert objectives[-1] == objective_value(TIGHT, schedule, Objective.MAKESPAN) == 10


@pytest.mark.parametrize("decoding", DECODINGS)
def test_starts_from_the_repaired_heft(decoding: str) -> None:
    """Tests that whale 0 is HEFT's repaired schedule where plain HEFT exceeds a memory limit."""
    schedule, objectives = run(TIGHT, 0, 1, population=2, decoding=decoding)
    assert objectives == [10]
    assert schedule.start.tolist() == heft(TIGHT).start.tolist()


@pytest.mark.parametrize("variant", VARIANTS)
def test_seed_decides(variant: str, heft_example: DagInstance) -> None:
    """Tests that one seed gives one schedule and other seeds others."""
    starts = [run(heft_example, seed, 60, variant=variant)[0].start.tolist() for seed in (1, 1, 2, 3, 4)]
    assert starts[0] == starts[1]
    assert len({tuple(entry) for entry in starts}) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: expected at least 2, got 1."),
        ({"distance": "far"}, "distance: expected original or shifted, got 'far'."),
        ({"acceptance": "never"}, "acceptance: expected always or greedy, got 'never'."),
        ({"spiral": float("inf")}, "spiral: expected a number in -700..700, got inf."),
        ({"variant": "rank"}, "decoding: expected eft or look-ahead, got 'ranked'."),
        ({"variant": "matlab"}, "variant: expected one of printed, reference, mealpy, rank, got 'matlab'."),
        ({"decoding": "best"}, "decoding: expected one of ranked, eft, direct, look-ahead, load, got 'best'."),
    ],
)
def test_parameters_are_checked(example_e: DagInstance, options: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused before anything is evaluated."""
    trace = Trace()
    with pytest.raises(ValueError) as caught:
        woa(example_e, Objective.MAKESPAN, np.random.default_rng(0), MaxEvaluations(5), trace, **options)
    assert str(caught.value) == message
    assert trace.states == []
