"""Multipliers of a linear program, as HiGHS finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_matrix

    from formulations.dag.bounds.domain import Domain
    from formulations.dag.bounds.dual_bound import IntegerLp

LP_SECONDS = 10.0
"""Limit of each run, far above what the programs here need; past it a bound becomes weaker, never wrong."""

_LARGEST_COST = 100.0
"""The largest cost that HiGHS sees: numbers of everyday size keep its tolerances meaningful."""


def highs_multipliers(lp: IntegerLp) -> NDArray[np.float64] | None:
    """Solve a linear program by HiGHS's interior point method, without crossover to a vertex.

    Parameters
    ----------
    lp
        The linear program.

    Returns
    -------
    NDArray or None
        Finite multipliers, one per row, as `dual_bound` takes them; None where HiGHS has none. They are not trusted:
        `dual_bound` says what they are worth.
    """
    import highspy
    from scipy.sparse import csc_matrix, vstack

    row_scale = 1.0 / np.maximum(lp.row_sizes(), 1.0)
    cost_scale = _LARGEST_COST / max(float(np.abs(lp.cost).max(initial=1)), 1.0)
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
    highs = highspy.Highs()
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("time_limit", LP_SECONDS),
    ):
        highs.setOptionValue(name, value)
    highs.passModel(problem)
    highs.run()
    duals = np.array(highs.getSolution().row_dual)
    if len(duals) != matrix.shape[0]:
        return None
    multipliers: NDArray[np.float64] = -duals[: len(limit)] * row_scale / cost_scale
    return np.where(np.isfinite(multipliers), multipliers, 0.0)


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
