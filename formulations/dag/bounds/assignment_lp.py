"""Linear programs over the placement alone, whose bounds are proved by multipliers in exact integer arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.time_left import solve_lp, without_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    import highspy
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance

_SCALE = 2**30
"""Multipliers are rounded down to multiples of 1 / _SCALE, so that a bound is exact integer arithmetic."""

_FINE_SCALE = 2**60
"""The scale where memory has a price, because prices in ticks per byte are small numbers."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LoadRow:
    """A valid inequality: base + sum over some pairs of ticks x[pair] <= C.

    Parameters
    ----------
    base
        Constant in ticks.
    pairs
        Indices of pairs of the linear program, int64.
    ticks
        Coefficient of each of these pairs, at least 0, int64.
    """

    base: int
    pairs: NDArray[np.int64]
    ticks: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Multipliers:
    """Dual multipliers; any non-negative ones prove a bound.

    Parameters
    ----------
    row
        Multipliers of the load rows, shape (rows,).
    memory
        Multipliers of the memory rows in ticks per byte, shape (m,); ignored where a GPU has no limit.
    """

    row: NDArray[np.float64]
    memory: NDArray[np.float64]


class AssignmentLp:
    """Minimise C over x >= 0: the shares of every task on the GPUs sum to 1, and load rows and memory rows hold.

    Parameters
    ----------
    tasks
        The tasks that are placed, shape (q,).
    allowed
        The GPUs on which each of them may sit, shape (q, m), at least one each.
    seconds_left
        Seconds that `solve` may still take, see `solve_lp`.

    Attributes
    ----------
    task_of_pair, gpu_of_pair
        Task, as a position in `tasks`, and GPU of every pair, shape (pairs,); ordered by task.
    durations
        Duration of every pair in ticks, shape (pairs,).
    rows
        Load rows; more may be appended at any time.
    """

    def __init__(
        self,
        instance: DagInstance,
        tasks: NDArray[np.int64],
        allowed: NDArray[np.bool_],
        seconds_left: Callable[[], float] = without_limit,
    ) -> None:
        self.task_of_pair, self.gpu_of_pair = np.nonzero(allowed)
        self.durations = instance.durations[tasks[self.task_of_pair], self.gpu_of_pair]
        self.rows: list[LoadRow] = []
        self._seconds_left = seconds_left
        self._num_tasks = len(tasks)
        self._memory = instance.task_memory[tasks[self.task_of_pair]]
        self._capacity = instance.gpu_memory
        self._limited = np.flatnonzero(instance.gpu_memory >= 0)
        self._scale = max(float(self.durations.max(initial=1)), 1.0)  # numbers near 1 keep the tolerances meaningful
        self._highs: highspy.Highs | None = None
        self._num_loaded = 0

    def add_area_rows(self) -> None:
        """Add the rows that bound the work on every GPU by C."""
        for gpu in range(len(self._capacity)):
            pairs = np.flatnonzero(self.gpu_of_pair == gpu)
            if len(pairs):
                self.rows.append(LoadRow(base=0, pairs=pairs, ticks=self.durations[pairs]))

    def add_task_rows(self, ticks: NDArray[np.int64]) -> None:
        """Add one row per task: the sum of `ticks`, given per pair, over its pairs is at most C."""
        first = np.searchsorted(self.task_of_pair, np.arange(self._num_tasks + 1))
        for task in range(self._num_tasks):
            pairs = np.arange(first[task], first[task + 1])
            self.rows.append(LoadRow(base=0, pairs=pairs, ticks=ticks[pairs]))

    def prove(self, multipliers: Multipliers) -> int:
        """Return the bound that the multipliers prove, rounded up, in exact integer arithmetic and without a solver.

        With multipliers u per row and y per memory row, every placement within the rows satisfies

            C sum(u) >= sum_r u_r base_r + sum_i min over k of (sum_r u_r ticks_r[i,k] + y_k a_i) - sum_k y_k M_k.

        Therefore neither tolerances nor a wrong answer of the solver can make the bound false (docs/bounds.md, section
        1.3).
        """
        weight = float(np.maximum(multipliers.row, 0.0).sum())
        limited = self._capacity >= 0
        prices = np.where(limited, np.maximum(multipliers.memory, 0.0), 0.0)
        if weight < 1e-200 or not self._num_tasks:
            return 0
        scale = (_FINE_SCALE if prices.any() else _SCALE) / weight
        row = [int(entry) for entry in np.maximum(multipliers.row, 0.0) * scale]
        memory = [int(entry) for entry in prices * scale]
        total = sum(row)
        if total == 0:
            return 0
        largest = sum(u * int(used.ticks.max(initial=0)) for u, used in zip(row, self.rows, strict=True))
        largest += max(memory) * max(int(self._memory.max(initial=0)), 1)
        kind = np.int64 if (largest + 1) * (self._num_tasks + 1) < 2**62 else object  # else Python's own integers
        cost = np.array(memory, dtype=kind)[self.gpu_of_pair] * self._memory.astype(kind)
        for u, used in zip(row, self.rows, strict=True):
            if u:
                cost[used.pairs] += u * used.ticks.astype(kind)
        first = np.searchsorted(self.task_of_pair, np.arange(self._num_tasks))
        value = int(np.minimum.reduceat(cost, first).sum())
        value += sum(u * used.base for u, used in zip(row, self.rows, strict=True))
        value -= sum(price * int(limit) for price, limit in zip(memory, self._capacity, strict=True) if price)
        return max(0, -(-value // total))

    def solve(self) -> tuple[Multipliers, NDArray[np.float64], float]:
        """Solve the linear program with HiGHS, starting from the last solution if rows were added since.

        The answer is multipliers, x per pair, and C; zeros where HiGHS found no solution. None of it is trusted:
        `prove` computes what the multipliers are worth.
        """
        num_pairs, num_fixed = len(self.task_of_pair), self._num_tasks + len(self._limited)
        if self._highs is None:
            self._highs = self._load()
        self._load_rows(self.rows[self._num_loaded :])
        solve_lp(self._highs, self._seconds_left)
        solution = self._highs.getSolution()
        duals, values = np.array(solution.row_dual), np.array(solution.col_value)
        if len(duals) != num_fixed + len(self.rows) or len(values) != num_pairs + 1:
            duals, values = np.zeros(num_fixed + len(self.rows)), np.zeros(num_pairs + 1)
        memory = np.zeros(len(self._capacity))
        prices = np.maximum(-duals[self._num_tasks : num_fixed], 0.0)
        memory[self._limited] = prices * self._scale / np.maximum(self._capacity[self._limited], 1)
        found = Multipliers(row=np.maximum(-duals[num_fixed:], 0.0), memory=memory)
        return found, values[:-1], float(values[-1]) * self._scale

    def _load(self) -> highspy.Highs:
        """Pass the columns, the assignment rows and the memory rows to HiGHS."""
        import highspy

        num_pairs = len(self.task_of_pair)
        row_of_gpu = np.full(len(self._capacity), -1)
        row_of_gpu[self._limited] = self._num_tasks + np.arange(len(self._limited))
        on_limited = np.flatnonzero((row_of_gpu[self.gpu_of_pair] >= 0) & (self._memory > 0))
        gpu = self.gpu_of_pair[on_limited]
        row_index = np.concatenate([self.task_of_pair, row_of_gpu[gpu]])
        column_index = np.concatenate([np.arange(num_pairs), on_limited])
        entries = np.concatenate([np.ones(num_pairs), self._memory[on_limited] / np.maximum(self._capacity[gpu], 1)])
        by_column = np.lexsort((row_index, column_index))
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = num_pairs + 1, self._num_tasks + len(self._limited)
        lp.col_cost_ = np.concatenate([np.zeros(num_pairs), [1.0]])
        lp.col_lower_, lp.col_upper_ = np.zeros(num_pairs + 1), np.full(num_pairs + 1, highspy.kHighsInf)
        lp.row_lower_ = np.concatenate([np.ones(self._num_tasks), np.full(len(self._limited), -highspy.kHighsInf)])
        lp.row_upper_ = np.ones(lp.num_row_)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.searchsorted(column_index[by_column], np.arange(num_pairs + 2))
        lp.a_matrix_.index_, lp.a_matrix_.value_ = row_index[by_column], entries[by_column]
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.passModel(lp)
        return highs

    def _load_rows(self, rows: list[LoadRow]) -> None:
        """Pass further load rows to HiGHS: sum of ticks x - C <= -base, divided by the longest duration."""
        if not rows:
            return
        assert self._highs is not None  # made by the caller
        sizes = np.array([len(row.pairs) + 1 for row in rows])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        columns = np.concatenate([[*row.pairs, len(self.task_of_pair)] for row in rows])
        entries = np.concatenate([[*(row.ticks / self._scale), -1.0] for row in rows])
        upper = np.array([-row.base / self._scale for row in rows])
        lower = np.full(len(rows), -np.inf)
        self._highs.addRows(
            len(rows), lower, upper, len(columns), starts.astype(np.int32), columns.astype(np.int32), entries
        )
        self._num_loaded += len(rows)
