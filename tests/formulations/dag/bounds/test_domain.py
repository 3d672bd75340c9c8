"""Tests of the sets over which linear functions are minimised by looking."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formulations.dag.bounds.domain import Domain


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


def test_boxes_alone() -> None:
    """Tests a set without chains."""
    boxes = Domain.of_boxes(np.array([0, -3]), np.array([2, 1]))
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
