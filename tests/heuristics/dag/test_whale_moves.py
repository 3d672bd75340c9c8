"""Tests of the moves of whales: by hand, and each variant against loops over whales and coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.whale_moves import VARIANTS, Draws, draw, elapsed_part, move_pod
from tests.plain_whales import plain_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    return move_pod(np.array([position, random_whale]), LEADER, fixed, a, **options)[0]


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
    pod = np.array([[0.2, 0.9], [0.5, 0.5]])
    fixed = draws(r1=[0.5, 1.0], r2=[0.5, 0.5], p=[0.7, 0.1], l=[0.5, 0.0], other=[[1, 1], [0, 1]])
    after = move_pod(pod, LEADER, fixed, 1.2, rules=VARIANTS[variant])
    assert after[0] == pytest.approx(first, abs=5e-5)
    assert after[1] == pytest.approx(second, abs=1e-4)
    assert pod.tolist() == [[0.2, 0.9], [0.5, 0.5]]


def test_vectors_hold_per_coordinate() -> None:
    """Tests that with a column per coordinate one encircles (0.54) and the other spirals (-0.1595)."""
    fixed = draws(r1=[[R1, 0.1]] * 2, r2=[[R2, 0.9]] * 2, p=[[0.3, 0.8]] * 2, l=[0.5, 0.5], other=[[1, 1], [0, 0]])
    assert move_pod(np.array([X, X]), LEADER, fixed, A)[0] == pytest.approx([0.54, -0.1595], abs=5e-5)


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
    pod, leader = rng.random((num_whales, dimension)), rng.random(dimension)
    drawn = draw(rng, rules, num_whales, dimension, 1.0 - a / 2.0)
    after = move_pod(pod, leader, drawn, a, rules=rules, distance=distance, spiral=spiral)
    expected = plain_moves(pod.tolist(), leader.tolist(), drawn, a, variant=variant, distance=distance, spiral=spiral)
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
