"""Tests of the multipliers that HiGHS finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from formulations.dag.bounds import highs_multipliers as module
from formulations.dag.bounds.domain import Domain
from formulations.dag.bounds.dual_bound import IntegerLp, dual_bound
from formulations.dag.bounds.highs_multipliers import highs_multipliers


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
    lp = IntegerLp(
        cost=np.array([3, -2]),
        matrix=csc_matrix((0, 2), dtype=np.int64),
        limit=np.zeros(0, dtype=np.int64),
        is_equality=np.zeros(0, dtype=np.bool_),
        domain=Domain.of_boxes(np.array([1, 0]), np.array([4, 5])),
    )
    multipliers = highs_multipliers(lp)
    assert multipliers is not None
    assert dual_bound(lp, multipliers) == 3 - 10
