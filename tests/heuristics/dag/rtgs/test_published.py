"""Tests of the published algorithms, number for number, on the published model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.load_vector import final_loads, running_loads
from heuristics.dag.rtgs.population import RoundDraws, desired_loads, draw_round
from heuristics.dag.rtgs.published import PublishedModel, next_population, published_rtgs, run_rounds

WORK, SPEED, PREDECESSORS = (4, 2, 6, 4), (2, 1), ((), (0,), (0,), (1, 2))

Z, X = np.array([0, 1, 0, 0]), np.array([1, 1, 0, 0])


@pytest.fixture
def model_p() -> PublishedModel:
    """Return four tasks on two GPUs; the best makespan is 7."""
    return PublishedModel(np.array(WORK), np.array(SPEED), PREDECESSORS)


def test_times(model_p: PublishedModel) -> None:
    """Tests start, finish and makespan of z, the makespan of x, and that 7 is the best of all sixteen."""
    start, finish = model_p.times(Z)
    assert start.tolist() == [0, 2, 2, 5]
    assert finish.tolist() == [2, 4, 5, 7]
    assert (model_p.makespan(Z), model_p.makespan(X)) == (7, 9)
    assert min(model_p.makespan(np.array(gpu)) for gpu in product(range(2), repeat=4)) == 7


def test_gpu_takes_one_task_at_a_time_in_index_order() -> None:
    """Tests that a task waits for the one before it on its GPU although it is ready, and enters no gap before it."""
    model = PublishedModel(np.array([6.0, 2.0, 1.0, 1.0]), np.array([1.0, 2.0]), ((), (), (0,), ()))
    start, finish = model.times(np.array([0, 1, 1, 1]))
    assert start.tolist() == [0, 0, 6, 6.5]  # GPU 1 idles from 1 to 6, yet task 3 comes after task 2
    assert finish.tolist() == [6, 1, 6.5, 7]


def test_algorithm_c(model_p: PublishedModel) -> None:
    """Tests C of r and rho of z and of the wish of the worked move."""
    r, rho = final_loads(model_p.durations, Z), running_loads(model_p.durations, Z, np.arange(4))
    assert model_p.greedy_placement(r).tolist() == [1, 0, 0, 0]
    assert model_p.makespan(np.array([1, 0, 0, 0])) == 10
    assert model_p.greedy_placement(rho).tolist() == Z.tolist()
    assert model_p.greedy_placement(np.array([7.6, 4.4, 8.2, 5.8])).tolist() == [1, 1, 1, 0]
    assert model_p.makespan(np.array([1, 1, 1, 0])) == 14


def test_algorithm_c_takes_the_lowest_gpu_of_a_tie(model_p: PublishedModel) -> None:
    """Tests that a wish of 3 for the first task lies between 2 and 4, and GPU 0 gets it."""
    assert model_p.greedy_placement(np.array([3.0, 0, 0, 0]))[0] == 0


def draws_for_one(r1: float, p: float, sign: list[float], l: float) -> RoundDraws:
    """Return draws for a population of two."""
    return RoundDraws(np.array([r1]), np.array([p]), np.array([0]), np.array([sign]), np.full((1, len(sign)), l))


def test_worked_move(model_p: PublishedModel) -> None:
    """Tests the wish h = (7.6, 4.4, 8.2, 5.8) for A = .6 and signs + - + -, and the spiral at l = .5."""
    position, sign = final_loads(model_p.durations, np.array([Z, X])), [1.0, -1.0, 1.0, -1.0]
    step = desired_loads(position, 0, 1.2, draws_for_one(0.75, 0.3, sign, 0.5))
    assert step.tolist() == [pytest.approx([7.6, 4.4, 8.2, 5.8])]
    q = -1.64872
    spiral = desired_loads(position, 0, 1.2, draws_for_one(0.75, 0.7, sign, 0.5))
    assert spiral.tolist() == [pytest.approx([7 + q, 2 - q * (2 - 6), 7 + q * 2, 7 - q * 2], abs=5e-5)]


ROUNDS = (
    RoundDraws(
        r1=np.array([0.75, 0.125]),  # a' = 4/3, so A = 2/3 and -1
        p=np.array([0.25, 0.75]),
        other=np.array([0, 0]),
        sign=np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, 1.0]]),
        l=np.zeros((2, 4)),
    ),
    RoundDraws(
        r1=np.array([0.75, 1 / 64]),  # a' = 2/3, so A = 1/3 and -31/48
        p=np.array([0.75, 0.9]),
        other=np.array([0, 0]),
        sign=np.array([[1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0]]),
        l=np.array([[0.5, -0.5, 0.0, 1 / 3], [0.0, 0.0, 0.0, 0.0]]),
    ),
    RoundDraws(
        r1=np.array([0.3, 0.6]),  # a' = 0, so A = 0
        p=np.array([0.6, 0.2]),
        other=np.array([0, 0]),
        sign=np.array([[1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, 1.0, 1.0]]),
        l=np.array([[0.25, 0.5, -1.0, 1 / 6], [0.0, 0.0, 0.0, 0.0]]),
    ),
)

# By hand, with exp(l) cos(2 pi l) = -1.64872, -.60653, 1, -.69781 at l = .5, -.5, 0, 1/3 and 0, -1.64872, .36788,
# .59068 at l = .25, .5, -1, 1/6. In turn: a population, its makespans and leader; the desired loads of the movers.
TRACE = (
    # leader (1,1,0,0), r = (6,6,5,5). First mover, r = 16: 6 + 2/3 (6 - 16), 6 + 20/3, 5 - 22/3, 5 + 22/3. Second
    # mover, r = (5,5,6,5): A = -1 explores round the first one: 16 - 11, 16 - 11, 16 + 10, 16 - 11.
    ([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0]], [16, 9, 10], 1),
    [[-2 / 3, 38 / 3, -7 / 3, 37 / 3], [5, 5, 26, 5]],
    # leader (0,0,0,0), r = 8. First mover, r = (6,6,5,5), on the spiral; second, r = (12,12,12,2), by way 1 at l = 0.
    ([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]], [9, 8, 14], 1),
    [[8 - 3.29744, 8 + 1.21306, 8 - 3, 8 - 2.09342], [4, 4, 12, 2]],
    # leader stays. First mover on the spiral; A = 0: the second mover's desired loads are the leader's.
    ([[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]], [8, 9, 14], 0),
    [[8, 8 - 3.29744, 8 + 1.10364, 8 - 1.77204], [8, 8, 8, 8]],
    ([[0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]], [8, 14, 14], 0),
)


def test_three_rounds_by_hand(model_p: PublishedModel) -> None:
    """Tests desired loads, placements, makespans and leaders of three rounds of Algorithm B by hand."""
    whales, makespans, leader = (np.array(entry) for entry in TRACE[0])
    first = whales
    for number, draws in enumerate(ROUNDS, start=1):
        a = 2 * (1 - number / 3)
        assert makespans.argmin() == leader
        desired = desired_loads(final_loads(model_p.durations, whales), int(leader), a, draws)
        np.testing.assert_allclose(desired, TRACE[2 * number - 1], rtol=0, atol=5e-5)
        whales, makespans = next_population(model_p, whales, makespans, a, draws)
        expected, lengths, leader = TRACE[2 * number]
        assert whales.tolist() == expected
        assert makespans.tolist() == lengths
    run = run_rounds(model_p, first, ROUNDS, 3)
    assert (run.gpu.tolist(), run.makespan, run.trace.tolist(), run.evaluations) == ([0, 0, 0, 0], 8, [9, 8, 8, 8], 9)


@given(seed=st.integers(0, 2**32), population=st.integers(2, 6), iterations=st.integers(0, 4))
@settings(deadline=None, max_examples=40)
def test_draws_can_be_recorded(seed: int, population: int, iterations: int) -> None:
    """Tests that a run from a generator is the run with the same numbers given, and H + K (H - 1) evaluations."""
    rng = np.random.default_rng(seed)
    first = np.floor(2 * rng.random((population, 4))).astype(int)
    rounds = [draw_round(rng, population, 4) for _ in range(iterations)]
    model = PublishedModel(np.array(WORK), np.array(SPEED), PREDECESSORS)
    given_numbers = run_rounds(model, first, rounds, iterations)
    run = published_rtgs(WORK, SPEED, PREDECESSORS, np.random.default_rng(seed), population, iterations)
    assert run.gpu.tolist() == given_numbers.gpu.tolist()
    assert run.trace.tolist() == given_numbers.trace.tolist()
    assert run.evaluations == population + iterations * (population - 1)
    assert len(run.trace) == iterations + 1
    assert run.trace.tolist() == sorted(run.trace.tolist(), reverse=True)
    assert run.makespan == run.trace[-1] == model.makespan(run.gpu)


def test_equal_whales_stay_and_the_run_ends(model_p: PublishedModel) -> None:
    """Tests that whales that tie with the leader move on (the public class skips them and then fails).

    All stand at one point, so all desired loads are r of it: the leader stays, the children are C(r) = (1, 0, 0, 0).
    """
    whales = np.array([Z] * 4)
    draws = draw_round(np.random.default_rng(0), 4, 4)
    moved, makespans = next_population(model_p, whales, np.full(4, 7.0), 2.0, draws)
    assert moved.tolist() == [Z.tolist()] + [[1, 0, 0, 0]] * 3
    assert makespans.tolist() == [7, 10, 10, 10]


def test_herd_of_two_explores_round_the_leader() -> None:
    """Tests that with nobody else the random whale is the leader (the public class searches without end)."""
    position = np.array([[3.0, 4.0], [1.0, 9.0]])
    draws = draws_for_one(1.0, 0.9, [1.0, 1.0], 0.0)  # A = 2
    assert desired_loads(position, 0, 2.0, draws).tolist() == [[3 + 2 * 2, 4 + 2 * -5]]
    assert desired_loads(position, 1, 2.0, draws).tolist() == [[1 + 2 * -2, 9 + 2 * 5]]


def test_random_whale_is_neither_mover_nor_leader() -> None:
    """Tests every choice in a population of four led by whale 1: A = 1, so the desired load is 2 z - x."""
    position = np.array([[10.0], [20.0], [30.0], [40.0]])
    for other, targets in ((0, [30, 10, 10]), (1, [40, 40, 30])):
        draws = RoundDraws(np.ones(3), np.ones(3), np.full(3, other), np.ones((3, 1)), np.zeros((3, 1)))
        desired = desired_loads(position, 1, 1.0, draws)[:, 0]
        assert desired.tolist() == [2 * z - x for z, x in zip(targets, [10, 30, 40], strict=True)]


def test_spiral_constant_and_border_of_p() -> None:
    """Tests another constant b, and that p = 0.5 does not follow the spiral."""
    position = np.array([[3.0], [1.0]])
    on_spiral = desired_loads(position, 0, 1.0, draws_for_one(0.75, 0.51, [1.0], 1.0), spiral=2.0)
    assert on_spiral[0, 0] == pytest.approx(3 + np.exp(2) * 2)
    assert desired_loads(position, 0, 1.0, draws_for_one(0.75, 0.5, [1.0], 1.0)).tolist() == [[3 + 0.5 * 2]]


def test_draws_have_the_distributions_they_should() -> None:
    """Tests ranges, both signs and every place of a random whale in 20,000 draws."""
    draws = draw_round(np.random.default_rng(1), 5, 4000)
    assert set(np.unique(draws.sign)) == {-1.0, 1.0}
    assert abs(draws.sign.mean()) < 5 / np.sqrt(draws.sign.size)
    assert -1 <= draws.l.min() < -0.99 < 0.99 < draws.l.max() <= 1
    assert abs(draws.l.mean()) < 5 / np.sqrt(3 * draws.l.size)
    places = np.concatenate([draw_round(np.random.default_rng(seed), 5, 0).other for seed in range(300)])
    assert np.bincount(places).tolist() == pytest.approx([400] * 3, abs=5 * np.sqrt(1200 * 2 / 9))


def test_nothing_to_do() -> None:
    """Tests no tasks, one task and one GPU."""
    rng = np.random.default_rng(0)
    assert published_rtgs([], [1.0], [], rng, 3, 2).makespan == 0
    assert published_rtgs([6], [1, 3], [[]], rng, 10, 5).makespan == 2
    assert published_rtgs([6, 6], [3], [[], []], rng, 2, 5).trace.tolist() == [4] * 6
    assert published_rtgs([0, 0], [3, 1], [[], [0]], rng, 2, 5).makespan == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, -2], [1], [[], []]), "work[1]: expected at least 0, got -2.0."),
        (([1, np.nan], [1], [[], []]), "work[1]: expected a finite number, got nan."),
        (([1], [2, 0], [[]]), "speed[1]: expected a positive number, got 0.0."),
        (([1], [], [[]]), "speed: expected at least one GPU, got none."),
        (([1, 1], [1], [[]]), "predecessors: expected 2 lists, one per task, got 1."),
        (([1, 1], [1], [[1], []]), "predecessors[0]: expected tasks before 0, got 1."),
        (([1, 1], [1], [[], [-1]]), "predecessors[1]: expected tasks before 1, got -1."),
        (([1], [1], [[]], 1), "population: expected at least 2, got 1."),
        (([1], [1], [[]], 2, -1), "iterations: expected at least 0, got -1."),
    ],
)
def test_input_is_checked(arguments: tuple, message: str) -> None:
    """Tests that bad input is refused with its place; indices that are not topological among it."""
    with pytest.raises(ValueError) as caught:
        published_rtgs(*arguments[:3], np.random.default_rng(0), *arguments[3:])
    assert str(caught.value) == message
