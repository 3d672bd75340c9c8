"""Tests of better multipliers by subgradient steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix

from formulations import multipliers as module
from formulations.integer_lp import Domain, IntegerLp, dual_bound
from formulations.multipliers import dual_ascent, highs_multipliers


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


def chain(limit: int, size: int = 1) -> IntegerLp:
    """Return two groups of a chain of 3 columns each, steps of cost 0, 1, 2 and 0, 2, 4; few may step at first."""
    return IntegerLp(
        cost=np.array([-1, -1, 2, -2, -2, 4]),
        matrix=csc_matrix(np.array([[size, 0, 0, size, 0, 0]])),
        limit=np.array([limit]),
        is_equality=np.array([False]),
        domain=Domain(
            chain_starts=np.array([0, 3, 6]),
            group_starts=np.array([0, 1, 2]),
            lower=np.zeros(0, dtype=np.int64),
            upper=np.zeros(0, dtype=np.int64),
        ),
    )


@pytest.mark.parametrize(("limit", "expected", "price"), [(2, 0, 0.0), (1, 1, 1.5), (0, 3, 4.0)])
def test_chains_by_hand(limit: int, expected: int, price: float) -> None:
    """Tests that with room for one, the cheaper group waits; prices between 1 and 2, or from 2 on, prove it."""
    multipliers = highs_multipliers(chain(limit))
    assert multipliers is not None
    assert dual_bound(chain(limit), multipliers) == expected
    assert dual_bound(chain(limit), np.array([price])) == expected


def test_rows_of_large_numbers() -> None:
    """Tests that rows in units of 10**12, as bytes are, change nothing but their price."""
    size = 10**12
    multipliers = highs_multipliers(chain(size, size))
    assert multipliers is not None
    assert 1.0 - 1e-6 <= multipliers[0] * size <= 2.0 + 1e-6
    assert dual_bound(chain(size, size), multipliers) == 1


def test_no_solution_proves_as_much_as_it_likes() -> None:
    """Tests that a program without any point raises nothing, and what comes back are finite numbers."""
    multipliers = highs_multipliers(chain(-1))
    assert multipliers is None or np.isfinite(multipliers).all()


def test_time_limit_proves_less_never_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that HiGHS stopped at once leaves no multipliers, or some that prove at most the optimum."""
    monkeypatch.setattr(module, "LP_SECONDS", 0.0)
    multipliers = highs_multipliers(chain(1))
    assert multipliers is None or dual_bound(chain(1), multipliers) <= 1


def test_no_rows() -> None:
    """Tests a program with a domain only."""
    none = np.zeros(1, dtype=np.int64)
    lp = IntegerLp(
        cost=np.array([3, -2]),
        matrix=csc_matrix((0, 2), dtype=np.int64),
        limit=np.zeros(0, dtype=np.int64),
        is_equality=np.zeros(0, dtype=np.bool_),
        domain=Domain(chain_starts=none, group_starts=none, lower=np.array([1, 0]), upper=np.array([4, 5])),
    )
    multipliers = highs_multipliers(lp)
    assert multipliers is not None
    assert dual_bound(lp, multipliers) == 3 - 10
