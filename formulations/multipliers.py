"""Good multipliers of a linear program: those of HiGHS, and better ones by steps along subgradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.time_left import solve_lp, without_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from highspy import Highs, HighsLp
    from numpy.typing import NDArray
    from scipy.sparse import csc_matrix

    from formulations.integer_lp import Domain, IntegerLp


LP_SECONDS = 10.0
"""Limit of each run, far above what the programs here need; a run that exceeds it makes a bound weaker, never wrong."""

_LARGEST_COST = 100.0
"""The largest cost that HiGHS sees: moderate numbers keep its tolerances meaningful."""


def highs_multipliers(lp: IntegerLp, seconds_left: Callable[[], float] = without_limit) -> NDArray[np.float64] | None:
    """Return the multipliers of `highs_answer`; None if there are none."""
    answer = highs_answer(lp, seconds_left)
    return None if answer is None else answer[0]


def highs_answer(
    lp: IntegerLp,
    seconds_left: Callable[[], float] = without_limit,
    *,
    at_most: float = LP_SECONDS,
    largest_cost: float = _LARGEST_COST,
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return multipliers and columns from HiGHS's interior point method, without crossover; None if it has none.

    They are finite, one per row and column, and not trusted: `dual_bound` computes what the multipliers are worth. At
    most `at_most` of the seconds that are left are used, see `solve_lp`.
    """
    import highspy

    scaled = scaled_problem(lp, largest_cost)
    highs = scaled.in_highs(solver="ipm", run_crossover="off")
    solve_lp(highs, seconds_left, at_most=at_most)
    if highs.getModelStatus() == highspy.HighsModelStatus.kUnknown:
        # What presolve takes out can be left without multipliers, even where the columns are right.
        highs.setOptionValue("presolve", "off")
        solve_lp(highs, seconds_left, at_most=at_most - highs.getRunTime())
    solution = highs.getSolution()
    duals, columns = np.array(solution.row_dual), np.array(solution.col_value)
    if len(duals) != scaled.problem.num_row_:
        return None
    return scaled.multipliers(duals), np.where(np.isfinite(columns), columns, 0.0)


class ScaledProblem(NamedTuple):
    """A linear program as HiGHS takes it: the rows of an `IntegerLp` times factors, then those of its domain.

    `row_scale` has the factors, one per row of the `IntegerLp`; `cost_scale` is that of the costs.
    """

    problem: HighsLp
    row_scale: NDArray[np.float64]
    cost_scale: float

    def in_highs(self, **options: str) -> Highs:
        """Return HiGHS with this program, silent and with one thread."""
        import highspy

        highs = highspy.Highs()
        for name, value in {"output_flag": False, "threads": 1, **options}.items():
            highs.setOptionValue(name, value)
        highs.passModel(self.problem)
        return highs

    def multipliers(self, duals: Any) -> NDArray[np.float64]:
        """Return multipliers of the rows of the `IntegerLp` from those of HiGHS's rows: finite, and not trusted."""
        found = -np.array(duals)[: len(self.row_scale)] * self.row_scale / self.cost_scale
        return np.where(np.isfinite(found), found, 0.0)


def scaled_problem(lp: IntegerLp, largest_cost: float) -> ScaledProblem:
    """Return a linear program for HiGHS whose largest cost is `largest_cost`."""
    import highspy
    from scipy.sparse import csc_matrix, vstack

    row_scale = 1.0 / np.maximum(lp.row_sizes(), 1.0)
    cost_scale = largest_cost / max(float(np.abs(lp.cost).max(initial=1)), 1.0)
    scaled = lp.matrix.astype(np.float64)
    scaled.data *= row_scale[scaled.indices]
    domain_rows, domain_lower, domain_upper = _domain_rows(lp.domain)
    matrix = csc_matrix(vstack([scaled, domain_rows]))
    limit, num_steps = lp.limit * row_scale, lp.domain.num_steps
    problem = highspy.HighsLp()
    problem.num_row_, problem.num_col_ = matrix.shape
    problem.col_cost_ = lp.cost * cost_scale
    problem.col_lower_ = np.concatenate([np.zeros(num_steps), lp.domain.lower])
    problem.col_upper_ = np.concatenate([np.ones(num_steps), lp.domain.upper])
    problem.row_lower_ = np.concatenate([np.where(lp.is_equality, limit, -highspy.kHighsInf), domain_lower])
    problem.row_upper_ = np.concatenate([limit, domain_upper])
    problem.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    problem.a_matrix_.start_, problem.a_matrix_.index_ = matrix.indptr, matrix.indices
    problem.a_matrix_.value_ = matrix.data
    return ScaledProblem(problem, row_scale, cost_scale)


def _domain_rows(domain: Domain) -> tuple[csc_matrix, NDArray[np.float64], NDArray[np.float64]]:
    """Return rows and their limits that make the chains steps: last columns of a group sum to 1, no chain falls."""
    from scipy.sparse import csc_matrix

    num_groups, last = len(domain.group_starts) - 1, domain.last_columns
    group = np.repeat(np.arange(num_groups), np.diff(domain.group_starts))
    before = np.setdiff1d(np.arange(domain.num_steps), last, assume_unique=True)  # columns with another one after them
    rising = num_groups + np.arange(len(before))
    rows = np.concatenate([group, rising, rising])
    columns = np.concatenate([last, before + 1, before])
    entries = np.concatenate([np.ones(len(last) + len(before)), -np.ones(len(before))])
    matrix = csc_matrix((entries, (rows, columns)), shape=(num_groups + len(before), domain.num_columns))
    lower = np.concatenate([np.ones(num_groups), np.zeros(len(before))])
    upper = np.concatenate([np.ones(num_groups), np.full(len(before), np.inf)])
    return matrix, lower, upper


_AMBITION = 0.01
"""Steps are as long as if the best multipliers were better than the best so far by this share; halved at standstill."""

_PATIENCE = 20
"""Rounds without progress that count as standstill."""

_MEMORY = 0.5
"""Weight of the previous direction in the direction of a step."""


def dual_ascent(
    lp: IntegerLp,
    multipliers: NDArray[np.float64],
    *,
    rounds: int,
    project: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda multipliers: multipliers,
    seconds_left: Callable[[], float] = without_limit,
) -> NDArray[np.float64]:
    """Return multipliers whose bound, that of `dual_bound` in floats, is at least as high as that of the given ones.

    Every round minimises over the domain under the current multipliers; the excess of the minimiser over the limit of
    each row is a subgradient. Steps follow Polyak's rule with a target a little above the best value so far, along
    averaged directions. (Textbook subgradient method with deflected directions; the constants are ours.) A round costs
    two products with the matrix, so this handles grids for which an LP solver would need minutes.

    Parameters
    ----------
    multipliers
        Starting point, one per row, finite; `project` is applied to it.
    project
        Maps multipliers to those that are wanted, besides their signs.
    seconds_left
        Seconds that are left; asked before every round.
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
        if seconds_left() <= 0:
            break
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
