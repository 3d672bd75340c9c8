"""Tests of the small simplex method against another solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from ortools.linear_solver import pywraplp

from formulations.dag.probing.assignment_simplex import ENOUGH, OPTIMAL, least_largest_load, new_tableau
from formulations.dag.probing.refuter import NO_LIMIT

if TYPE_CHECKING:
    from numpy.typing import NDArray


def solve(
    allowed: NDArray[np.bool_], num_rows: NDArray[np.int64], share: NDArray[np.float64], enough: float = -1.0
) -> tuple[float, int, NDArray[np.float64], NDArray[np.float64]]:
    """Return load, status, placement and prices, every task beginning on its first GPU."""
    placement, price = np.zeros(allowed.shape), np.zeros(share[:, 0].shape)
    load, status = least_largest_load(
        allowed,
        num_rows,
        share,
        allowed.argmax(axis=1),
        placement,
        price,
        new_tableau(int(num_rows.sum()) + 3),
        enough,
        10_000,
        np.array([0, NO_LIMIT]),
    )
    return load, status, placement, price


def other_solver(allowed: NDArray[np.bool_], num_rows: NDArray[np.int64], share: NDArray[np.float64]) -> float:
    """Return the optimum by GLOP."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    load = solver.NumVar(0, solver.infinity(), "load")
    x = {pair: solver.NumVar(0, solver.infinity(), "") for pair in zip(*map(np.ndarray.tolist, np.nonzero(allowed)))}
    for task in range(len(allowed)):
        solver.Add(sum(x[pair] for pair in x if pair[0] == task) == 1)
    for k, count in enumerate(num_rows.tolist()):
        for r in range(count):
            solver.Add(sum(float(share[k, task, r]) * x[task, gpu] for task, gpu in x if gpu == k) <= load)
    solver.Minimize(load)
    assert solver.Solve() == pywraplp.Solver.OPTIMAL
    return float(solver.Objective().Value())


def random_program(seed: int) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]:
    """Return a random program; every third one has many ties."""
    rng = np.random.default_rng(seed)
    n, m, rows = rng.integers(1, 25), rng.integers(1, 6), rng.integers(1, 5)
    allowed = rng.random((n, m)) < 0.7
    allowed[np.arange(n), rng.integers(0, m, n)] = True
    share = rng.random((m, n, rows)) * (rng.random((m, n, rows)) < 0.6)
    return allowed, rng.integers(1, rows + 1, m), np.round(share * 3) if seed % 3 == 0 else share


@pytest.mark.parametrize("seed", range(60))
def test_optimum_of_random_programs(seed: int) -> None:
    """Tests that load, placement and prices are optimal: no placement is better, and the prices prove it."""
    allowed, num_rows, share = random_program(seed)
    load, status, placement, price = solve(allowed, num_rows, share)
    assert status == OPTIMAL
    assert load == pytest.approx(other_solver(allowed, num_rows, share), abs=1e-7)
    assert placement.sum(axis=1) == pytest.approx(1.0)
    assert (placement[~allowed] == 0).all()
    assert (placement >= 0).all()
    used = [placement[:, k] @ share[k, :, r] for k, count in enumerate(num_rows) for r in range(count)]
    assert max(used) == pytest.approx(load, abs=1e-7)
    cost = np.array([share[k, :, : num_rows[k]] @ price[k, : num_rows[k]] for k in range(len(num_rows))]).T
    assert price.sum() == pytest.approx(1.0)
    assert np.where(allowed, cost, np.inf).min(axis=1).sum() == pytest.approx(load, abs=1e-7)


def test_three_tasks_on_two_gpus() -> None:
    """Tests by hand: three tasks that fill 0.5 of GPU 0 or 1.0 of GPU 1 share them two to one at a load of 1."""
    share = np.array([[[0.5]] * 3, [[1.0]] * 3])
    load, status, placement, price = solve(np.ones((3, 2), dtype=bool), np.ones(2, dtype=np.int64), share)
    assert (round(load, 9), status) == (1.0, OPTIMAL)
    assert placement.sum(axis=0) == pytest.approx([2.0, 1.0])
    assert price[:, 0] == pytest.approx([2 / 3, 1 / 3])


def test_enough_is_enough() -> None:
    """Tests that it stops at a placement that is good enough."""
    allowed, num_rows, share = random_program(4)
    best = other_solver(allowed, num_rows, share)
    load, status, placement, _ = solve(allowed, num_rows, share, enough=best * 1.2)
    assert status == ENOUGH
    assert best - 1e-9 <= load <= best * 1.2
    assert placement.sum(axis=1) == pytest.approx(1.0)
