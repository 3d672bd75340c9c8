"""A Pyomo MILP as arrays, which a solver or another process can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyomo.environ as pyo
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CompiledMilp:
    """Minimise cost x + offset, row_lower <= A x <= row_upper, lower <= x <= upper, some columns integer.

    Parameters
    ----------
    cost, lower, upper, is_integer, start
        Per column; `start` is a complete solution to begin with, or None.
    offset
        Constant of the objective.
    row_lower, row_upper
        Per row.
    column_starts, row_indices, entries
        A by columns, as in SciPy's CSC format.
    """

    cost: NDArray[np.float64]
    offset: float
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    is_integer: NDArray[np.bool_]
    start: NDArray[np.float64] | None
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    column_starts: NDArray[np.int32]
    row_indices: NDArray[np.int32]
    entries: NDArray[np.float64]


def compile_milp(model: pyo.ConcreteModel, *, has_start: bool) -> tuple[CompiledMilp, list[pyo.Var]]:
    """Turn a linear Pyomo model with one objective into arrays.

    Parameters
    ----------
    model
        All constraints linear; variables continuous or binary.
    has_start
        Whether the variables hold a complete solution to begin with.

    Returns
    -------
    tuple
        The arrays, and the Pyomo variable of every column.
    """
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    kind = np.array([bound for _, bound in form.rows])  # -1: >=, 0: =, 1: <=
    matrix = form.A.tocsc()
    columns = form.columns
    milp = CompiledMilp(
        cost=np.asarray(form.c.todense(), dtype=np.float64).reshape(-1),
        offset=float(form.c_offset[0]),
        lower=np.array([-np.inf if column.lb is None else column.lb for column in columns], dtype=np.float64),
        upper=np.array([np.inf if column.ub is None else column.ub for column in columns], dtype=np.float64),
        is_integer=np.array([column.is_integer() for column in columns], dtype=np.bool_),
        start=np.array([column.value for column in columns], dtype=np.float64) if has_start else None,
        row_lower=np.where(kind <= 0, form.rhs, -np.inf),
        row_upper=np.where(kind >= 0, form.rhs, np.inf),
        column_starts=matrix.indptr.astype(np.int32),
        row_indices=matrix.indices.astype(np.int32),
        entries=matrix.data.astype(np.float64),
    )
    return milp, columns
