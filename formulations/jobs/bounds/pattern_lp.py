"""The linear programs over patterns and steps of time, as sparse integer arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.domain import Domain
from formulations.dag.bounds.dual_bound import IntegerLp, dual_bound
from formulations.dag.bounds.highs_multipliers import highs_multipliers
from formulations.dag.bounds.row_builder import RowBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from formulations.jobs.pattern_table import PatternTable


class PatternLp:
    """Columns S[i,p,b] (job i in pattern p has happened by the end of step b) and late[i] (after all steps).

    What "happened" means, a start or a completion, is the caller's; a job happens once: with X[i,p,b] = S[i,p,b] -
    S[i,p,b-1], ::

        sum over p of S[i,p,last] + late[i] = 1, S never falls     (the domain)
        cost = sum over i, p, b of cost[i,p,b] X[i,p,b] + late_cost[i] late[i]

    Parameters
    ----------
    table
        Patterns of all jobs.
    first
        First step in which each pattern of each job can happen; it may lie after the last one.
    num_steps
        Number of steps.

    Attributes
    ----------
    rows
        To be filled by the caller.
    """

    def __init__(self, table: PatternTable, first: Sequence[Sequence[int]], num_steps: int) -> None:
        self.rows, self.num_steps = RowBuilder(), num_steps
        self._first = [list(own) for own in first]
        self._offset: list[list[int]] = []
        self._late: list[int] = []
        chain_starts, group_starts, column = [], [0], 0
        for own in self._first:
            offsets = []
            for begin in own:
                offsets.append(column if begin < num_steps else -1)
                if begin < num_steps:
                    chain_starts.append(column)
                    column += num_steps - begin
            self._offset.append(offsets)
            chain_starts.append(column)
            self._late.append(column)
            column += 1
            group_starts.append(len(chain_starts))
        self._chain_starts = np.array([*chain_starts, column], dtype=np.int64)
        self._group_starts = np.array(group_starts, dtype=np.int64)
        self._cost = np.zeros(column, dtype=np.int64)

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return len(self._cost)

    def set_costs(self, job: int, late_cost: int, cost: Callable[[int, NDArray[np.int64]], NDArray[np.int64]]) -> None:
        """Set the costs of a job: that of a pattern at some steps, and the one after all steps."""
        self._cost[self._late[job]] = late_cost
        for pattern, offset in enumerate(self._offset[job]):
            if offset >= 0:
                steps = np.arange(self._first[job][pattern], self.num_steps)
                values = cost(pattern, steps)
                self._cost[offset + steps - steps[0]] = values - np.append(values[1:], 0)

    def put(self, rows: NDArray[np.int64], job: int, pattern: int, steps: NDArray[np.int64], entries: int) -> None:
        """Add entries S[i,p,b] to rows, one step per row: nothing where the step is before the first one."""
        offset, first = self._offset[job][pattern], self._first[job][pattern]
        if offset >= 0:
            exists = steps >= first
            self.rows.put(rows[exists], offset + np.minimum(steps[exists], self.num_steps - 1) - first, entries)

    def proven_bound(self) -> int:
        """Return what multipliers of HiGHS prove in exact integer arithmetic, at least 0; never HiGHS's own word."""
        lp = IntegerLp(
            cost=self._cost,
            matrix=self.rows.matrix(self.num_columns),
            limit=self.rows.limits(),
            is_equality=self.rows.is_equality(),
            domain=Domain(
                chain_starts=self._chain_starts,
                group_starts=self._group_starts,
                lower=np.zeros(0, dtype=np.int64),
                upper=np.zeros(0, dtype=np.int64),
            ),
        )
        value = dual_bound(lp, np.zeros(len(lp.limit)))  # every job at once: no multipliers needed
        multipliers = highs_multipliers(lp) if len(lp.limit) else None
        if multipliers is not None:
            value = max(value, dual_bound(lp, multipliers))
        return max(0, value)
