"""Tests of the sets over which linear functions are minimised by looking."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

from formulations.integer_lp import Domain, IntegerLp, RowBuilder, bound_and_excess, dual_bound
from formulations.multipliers import highs_multipliers


@pytest.fixture(scope="module")
def domain() -> Domain:
    """Return two groups, one of chains of 3 and 1 columns, one of a chain of 2, and two boxes."""
    return Domain(
        chain_starts=np.array([0, 3, 4, 6]),
        group_starts=np.array([0, 2, 3]),
        lower=np.array([-2, 5]),
        upper=np.array([4, 7]),
    )


def vertices(domain: Domain) -> list[list[int]]:
    """Return the vertices of the fixture, written out."""
    first = [[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    second = [[1, 1], [0, 1]]
    return [[*one, *two, *boxes] for one, two, *boxes in product(first, second, [-2, 4], [5, 7])]


@given(costs=st.lists(st.integers(-9, 9), min_size=8, max_size=8))
def test_least_is_that_of_all_vertices(domain: Domain, costs: list[int]) -> None:
    """Tests the least value against all vertices, in integers of both kinds and in floats."""
    expected = min(int(np.dot(costs, vertex)) for vertex in vertices(domain))
    assert domain.least(np.array(costs, dtype=np.int64)) == expected
    assert domain.least(np.array(costs, dtype=np.float64)) == expected
    huge = domain.least(np.array([cost * 10**30 for cost in costs], dtype=object))
    assert huge == expected * 10**30


@given(costs=st.lists(st.integers(-9, 9), min_size=8, max_size=8))
def test_minimiser_is_a_vertex_of_least_cost(domain: Domain, costs: list[int]) -> None:
    """Tests that the point is a vertex and costs the least."""
    point = domain.minimiser(np.array(costs, dtype=np.float64))
    assert point.tolist() in vertices(domain)
    assert point @ costs == domain.least(np.array(costs, dtype=np.float64))


def test_shapes(domain: Domain) -> None:
    """Tests counts, the last column of every chain, and the largest value of every column."""
    assert (domain.num_steps, domain.num_columns) == (6, 8)
    assert domain.last_columns.tolist() == [2, 3, 5]
    assert domain.largest().tolist() == [1] * 6 + [4, 7]


def _boxes(lower: np.ndarray, upper: np.ndarray) -> Domain:
    """Return a set of boxes without chains."""
    none = np.zeros(1, dtype=np.int64)
    return Domain(chain_starts=none, group_starts=none, lower=lower, upper=upper)


def test_boxes_alone() -> None:
    """Tests a set without chains."""
    boxes = _boxes(np.array([0, -3]), np.array([2, 1]))
    assert boxes.least(np.array([-1, 1], dtype=np.int64)) == -5
    assert boxes.minimiser(np.array([-1.0, 1.0])).tolist() == [2.0, -3.0]


def test_single_columns_sum_to_one() -> None:
    """Tests that with chains of one column the cheapest column of every group counts."""
    simplex = Domain(
        chain_starts=np.arange(4),
        group_starts=np.array([0, 2, 3]),
        lower=np.zeros(0, dtype=np.int64),
        upper=np.zeros(0, dtype=np.int64),
    )
    assert simplex.least(np.array([5, 3, -4], dtype=np.int64)) == -1
    assert simplex.minimiser(np.array([5.0, 3.0, -4.0])).tolist() == [0.0, 1.0, 1.0]


numbers = st.integers(-6, 6)


def lp_of(
    cost: list[int], rows: list[list[int]], limit: list[int], is_equality: list[bool], upper: list[int]
) -> IntegerLp:
    """Return a program over columns between 0 and their upper bounds."""
    return IntegerLp(
        cost=np.array(cost, dtype=np.int64),
        matrix=csc_matrix(np.array(rows, dtype=np.int64).reshape(len(limit), len(cost))),
        limit=np.array(limit, dtype=np.int64),
        is_equality=np.array(is_equality, dtype=np.bool_),
        domain=_boxes(np.zeros(len(cost), dtype=np.int64), np.array(upper, dtype=np.int64)),
    )


@st.composite
def lps(draw: st.DrawFn) -> IntegerLp:
    """Draw small programs."""
    num_columns, num_rows = draw(st.integers(1, 4)), draw(st.integers(0, 4))

    def listed(values: st.SearchStrategy[int], size: int) -> list[int]:
        return draw(st.lists(values, min_size=size, max_size=size))

    return lp_of(
        listed(numbers, num_columns),
        [listed(numbers, num_columns) for _ in range(num_rows)],
        listed(numbers, num_rows),
        draw(st.lists(st.booleans(), min_size=num_rows, max_size=num_rows)),
        listed(st.integers(0, 5), num_columns),
    )


def optimal_value(lp: IntegerLp) -> float | None:
    """Return the optimum of a program by SciPy's solver, None where there is no solution."""
    rows, equal = lp.matrix.toarray(), lp.is_equality
    result = linprog(
        lp.cost,
        A_ub=rows[~equal] if (~equal).any() else None,
        b_ub=lp.limit[~equal] if (~equal).any() else None,
        A_eq=rows[equal] if equal.any() else None,
        b_eq=lp.limit[equal] if equal.any() else None,
        bounds=list(zip(lp.domain.lower, lp.domain.upper, strict=True)),
    )
    return float(result.fun) if result.status == 0 else None


@pytest.fixture
def knapsack() -> IntegerLp:
    """Maximise 3 x + 5 y with 2 x + 4 y <= 7, x and y at most 2: x = 2, y = 3/4, so the optimum is -9.75."""
    return lp_of([-3, -5], [[2, 4]], [7], [False], [2, 2])


def test_proofs_by_hand(knapsack: IntegerLp) -> None:
    """Tests -7 u + min(0, 2 (2 u - 3)) + min(0, 2 (4 u - 5)), rounded up, for several prices u."""
    expected = {0.0: -16, 1.0: -11, 1.25: -9, 1.5: -10, 2.0: -14, -1.0: -16, 1e9: -7 * 10**9}
    assert {price: dual_bound(knapsack, np.array([price])) for price in expected} == expected


@pytest.mark.parametrize("price", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_counts_as_nothing(knapsack: IntegerLp, price: float) -> None:
    """Tests that multipliers that are not finite prove what 0 proves."""
    assert dual_bound(knapsack, np.array([price])) == -16


def test_equations_take_both_signs() -> None:
    """Tests that x + y = 3 with costs 2 and 1 and y <= 1 proves 5 with the multiplier -2, and nothing as inequality."""
    equation = lp_of([2, 1], [[1, 1]], [3], [True], [9, 1])
    assert dual_bound(equation, np.array([-2.0])) == 5
    assert dual_bound(lp_of([2, 1], [[1, 1]], [3], [False], [9, 1]), np.array([-2.0])) == 0


def test_groups_lose_nothing_to_tolerances() -> None:
    """Tests that an error in the price of columns that sum to 1 costs that error once, whatever their number."""
    many = 10_000
    lp = IntegerLp(
        cost=np.full(many, 7, dtype=np.int64),
        matrix=csc_matrix(np.ones((1, many), dtype=np.int64)),
        limit=np.array([1]),
        is_equality=np.array([True]),
        domain=Domain(
            chain_starts=np.arange(many + 1),
            group_starts=np.array([0, many]),
            lower=np.zeros(0, dtype=np.int64),
            upper=np.zeros(0, dtype=np.int64),
        ),
    )
    assert dual_bound(lp, np.array([-7.001])) == 7
    boxes = lp_of([7] * many, [[1] * many], [1], [True], [1] * many)
    assert dual_bound(boxes, np.array([-7.001])) == -2  # 7.001 - 10,000 x 0.001


@given(lp=lps(), data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_multipliers_prove_more_than_the_optimum(lp: IntegerLp, data: st.DataObject) -> None:
    """Tests that multipliers of any size and sign stay at or below the optimum, rounded up."""
    floats = st.floats(-20, 20) | st.floats(allow_nan=True, allow_infinity=True)
    size = len(lp.limit)
    value = optimal_value(lp)
    bound = dual_bound(lp, np.array(data.draw(st.lists(floats, min_size=size, max_size=size)), dtype=np.float64))
    assert value is None or bound <= math.ceil(value - 1e-7)


def test_multipliers_of_what_presolve_takes_out() -> None:
    """Tests a row that HiGHS takes out before it solves, and gives no multiplier: without one, -2 is proved."""
    lp = lp_of([2, 2, -1], [[-4, 5, 4]], [0], [False], [4, 5, 2])
    multipliers = highs_multipliers(lp)
    assert multipliers is not None
    assert optimal_value(lp) == pytest.approx(0.0)
    assert dual_bound(lp, multipliers) == 0


@given(lp=lps())
@settings(max_examples=150, deadline=None)
def test_multipliers_of_highs_prove_the_optimum(lp: IntegerLp) -> None:
    """Tests that what HiGHS finds proves the optimum but for its tolerance, and never more."""
    value, multipliers = optimal_value(lp), highs_multipliers(lp)
    if value is not None:
        assert multipliers is not None
        assert math.ceil(value - 1e-3) <= dual_bound(lp, multipliers) <= math.ceil(value - 1e-7)


@given(
    rows=st.lists(st.lists(numbers, min_size=6, max_size=6), max_size=3),
    cost=st.lists(numbers, min_size=6, max_size=6),
    data=st.data(),
)
@settings(max_examples=200, deadline=None)
def test_excess_is_what_a_step_adds_at_least(rows: list[list[int]], cost: list[int], data: st.DataObject) -> None:
    """Tests two groups of two and three columns and a box: the bound where a group must step at a column."""
    domain = Domain(
        chain_starts=np.arange(6), group_starts=np.array([0, 2, 5]), lower=np.array([-3]), upper=np.array([4])
    )
    limit, prices = (
        data.draw(st.lists(values, min_size=len(rows), max_size=len(rows))) for values in (numbers, st.floats(-20, 20))
    )
    lp = IntegerLp(
        cost=np.array(cost, dtype=np.int64),
        matrix=csc_matrix(np.array(rows, dtype=np.int64).reshape(len(rows), 6)),
        limit=np.array(limit, dtype=np.int64),
        is_equality=np.zeros(len(rows), dtype=np.bool_),
        domain=domain,
    )
    bound, excess = bound_and_excess(lp, np.array(prices))
    assert bound == dual_bound(lp, np.array(prices))
    assert excess[:2].min() == excess[2:].min() == 0
    for column in range(5):
        others = [c for c in (range(2) if column < 2 else range(2, 5)) if c != column]
        dear = lp.cost.copy()
        dear[others] += 10_000
        forced = IntegerLp(cost=dear, matrix=lp.matrix, limit=lp.limit, is_equality=lp.is_equality, domain=domain)
        assert bound + excess[column] <= dual_bound(forced, np.array(prices)) <= bound + excess[column] + 1


def test_numbers_beyond_64_bits() -> None:
    """Tests that sizes whose sums pass 64 bits give the exact bound, -975 x 10**15 instead of -9.75."""
    large = 10**17
    lp = lp_of([-3 * large, -5 * large], [[2, 4]], [7], [False], [2, 2])
    assert dual_bound(lp, np.array([1.25 * large])) == -975 * 10**15
    rows = lp_of([-3, -5], [[2 * large, 4 * large]], [7 * large], [False], [2, 2])
    assert dual_bound(rows, np.array([1.25 / large])) == -9
    assert dual_bound(rows, np.array([0.0])) == -16


def test_row_sizes() -> None:
    """Tests the largest absolute entry of each row, 0 for an empty one."""
    lp = lp_of([0, 0], [[3, -4], [0, 0], [1, 0]], [0, 0, 0], [False] * 3, [1, 1])
    assert lp.row_sizes().tolist() == [4, 0, 1]


def test_rows_by_hand() -> None:
    """Tests numbers of rows, scalars that broadcast, entries that add up or vanish, limits and equations."""
    rows = RowBuilder()
    first = rows.add([7, 8])
    second = rows.add(9, is_equality=True)
    assert (first.tolist(), second.tolist(), rows.num_rows) == ([0, 1], [2], 3)
    rows.put(first, [0, 1], 5)
    rows.put(second, [0, 1, 2], [1, 2, 3])
    rows.put(2, 0, 10)
    rows.put(1, 1, -5)
    matrix = rows.matrix(4)
    assert matrix.toarray().tolist() == [[5, 0, 0, 0], [0, 0, 0, 0], [11, 2, 3, 0]]
    assert matrix.nnz == 4
    assert matrix.dtype == np.int64
    assert rows.limits().tolist() == [7, 8, 9]
    assert rows.is_equality().tolist() == [False, False, True]


def test_no_rows() -> None:
    """Tests that nothing gathered is a matrix without rows."""
    rows = RowBuilder()
    assert rows.matrix(3).shape == (0, 3)
    assert rows.limits().tolist() == []
