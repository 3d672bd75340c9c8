"""Tests of better multipliers by subgradient steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix

from formulations.dag.bounds.domain import Domain
from formulations.dag.bounds.dual_ascent import dual_ascent
from formulations.dag.bounds.dual_bound import IntegerLp, dual_bound


def assignment(costs: np.ndarray, capacity: int) -> IntegerLp:
    """Return the program that gives every row of costs one column, and every column at most so many rows."""
    num_rows, num_columns = costs.shape
    size = num_rows * num_columns
    return IntegerLp(
        cost=costs.reshape(-1).astype(np.int64),
        matrix=csc_matrix(np.tile(np.eye(num_columns, dtype=np.int64), num_rows)),
        limit=np.full(num_columns, capacity),
        is_equality=np.zeros(num_columns, dtype=np.bool_),
        domain=Domain(
            chain_starts=np.arange(size + 1),
            group_starts=np.arange(0, size + 1, num_columns),
            lower=np.zeros(0, dtype=np.int64),
            upper=np.zeros(0, dtype=np.int64),
        ),
    )


def test_finds_the_prices_of_an_assignment() -> None:
    """Tests that prices from nothing prove the optimum 5 + 1 of two tasks that both prefer the same place."""
    lp = assignment(np.array([[1, 5], [1, 9]]), capacity=1)
    assert dual_bound(lp, np.zeros(2)) == 2
    assert dual_bound(lp, dual_ascent(lp, np.zeros(2), rounds=200)) == 6


@given(costs=st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=6, max_size=6))
@settings(max_examples=40, deadline=None)
def test_comes_near_the_optimum(costs: list[list[int]]) -> None:
    """Tests random assignments of two tasks per place against the optimum of the transport problem."""
    from scipy.optimize import linear_sum_assignment

    table = np.array(costs)
    places = np.repeat(table, 2, axis=1)
    optimum = int(places[linear_sum_assignment(places)].sum())
    lp = assignment(table, capacity=2)
    bound = dual_bound(lp, dual_ascent(lp, np.zeros(3), rounds=400))
    assert 0.97 * optimum - 1 <= bound <= optimum


def test_never_worse_than_the_start() -> None:
    """Tests that the best multipliers are kept, from good ones on and without any round."""
    lp = assignment(np.array([[1, 5], [1, 9]]), capacity=1)
    good = np.array([6.0, 0.0])
    assert dual_bound(lp, good) == 6
    for rounds in (0, 1, 5):
        assert dual_bound(lp, dual_ascent(lp, good, rounds=rounds)) == 6


def test_equations_may_have_negative_multipliers() -> None:
    """Tests that a place that must be filled gets a negative price."""
    lp = assignment(np.array([[1, 5], [1, 9]]), capacity=1)
    lp = IntegerLp(
        cost=lp.cost, matrix=lp.matrix, limit=lp.limit, is_equality=np.ones(2, dtype=np.bool_), domain=lp.domain
    )
    multipliers = dual_ascent(lp, np.array([0.0, -1.0]), rounds=200)
    assert dual_bound(lp, multipliers) == 6


def test_projection_is_kept() -> None:
    """Tests that multipliers stay where the projection puts them."""
    lp = assignment(np.array([[1, 5], [1, 9]]), capacity=1)
    multipliers = dual_ascent(lp, np.zeros(2), rounds=50, project=lambda prices: np.minimum(prices, 1.5))
    assert multipliers.max() <= 1.5
    assert dual_bound(lp, multipliers) == pytest.approx(4, abs=1)  # 2 + 2 x 1.5 - 1.5 = 3.5


def test_same_steps_again() -> None:
    """Tests that nothing is random."""
    lp = assignment(np.arange(12).reshape(4, 3) % 5, capacity=2)
    first, second = (dual_ascent(lp, np.zeros(3), rounds=30) for _ in range(2))
    assert first.tolist() == second.tolist()
