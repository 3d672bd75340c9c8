"""Better multipliers for a linear program, by steps along subgradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.bounds.dual_bound import IntegerLp

_AMBITION = 0.01
"""Steps are as long as if the best multipliers were better than the best so far by this share; halved at standstill."""

_PATIENCE = 20
"""Rounds without progress that count as standstill."""

_MEMORY = 0.5
"""Weight of the direction before in the direction of a step."""


def dual_ascent(
    lp: IntegerLp,
    multipliers: NDArray[np.float64],
    *,
    rounds: int,
    project: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda multipliers: multipliers,
) -> NDArray[np.float64]:
    """Return multipliers whose bound, that of `dual_bound` in floats, is at least as high as that of the given ones.

    Every round minimises over the domain under the current multipliers; what the minimiser overruns or leaves of each
    row is a subgradient. Steps follow Polyak's rule with a target a little above the best value so far, along averaged
    directions. (Known: textbook subgradient method with deflected directions; the constants are ours.) A round costs
    two products with the matrix, so this takes grids where an LP solver would need minutes.

    Parameters
    ----------
    lp
        The linear program.
    multipliers
        Where to begin, one per row, finite; `project` is applied to them.
    rounds
        How many at most.
    project
        Takes multipliers back to where they shall stay, besides their signs.
    """
    from scipy.sparse import csr_matrix, diags

    size = np.maximum(lp.row_sizes(), 1.0)  # rows in bytes and rows in tasks take steps of the same kind
    rows = csr_matrix(diags(1.0 / size) @ lp.matrix.astype(np.float64))
    columns = csr_matrix(rows.T)
    limit, cost = lp.limit / size, lp.cost.astype(np.float64)

    def possible(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
        return project(np.where(lp.is_equality, scaled, np.maximum(scaled, 0.0)) / size) * size

    here = possible(multipliers * size)
    best, best_value = here, -np.inf
    direction, ambition, standstill = np.zeros(len(here)), _AMBITION, 0
    for _ in range(rounds):
        costs = cost + columns @ here
        point = lp.domain.minimiser(costs)
        value = float((costs * point).sum() - (here * limit).sum())  # products of large vectors without BLAS threads
        if value > best_value:
            if value > best_value + 1e-9 * abs(value):
                standstill = 0
            best, best_value = here, value
        standstill += 1
        if standstill > _PATIENCE:
            ambition, standstill = ambition / 2.0, 0
            here, direction = best, np.zeros(len(here))
            continue
        direction = _MEMORY * direction + (1.0 - _MEMORY) * (rows @ point - limit)
        step = np.where((here <= 0.0) & (direction < 0.0) & ~lp.is_equality, 0.0, direction)
        length = float((step * step).sum())
        if length < 1e-18:
            break
        here = possible(here + (best_value + ambition * max(abs(best_value), 1.0) - value) / length * step)
    return best / size
