"""Linear programs over the placement alone, whose bounds are proved by multipliers in exact integer arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import highspy
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance

_SCALE = 2**30
"""Multipliers are rounded down to multiples of 1 / _SCALE, so that a bound is exact integer arithmetic."""

_FINE_SCALE = 2**60
"""The same where memory has a price: ticks per byte are small numbers."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LoadRow:
    """A valid inequality: base + sum over some pairs of ticks x[pair] <= C.

    Parameters
    ----------
    base
        Ticks.
    pairs
        Indices of pairs of the LP, int64.
    ticks
        At least 0, one per pair, int64.
    """

    base: int
    pairs: NDArray[np.int64]
    ticks: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Multipliers:
    """Dual multipliers: any non-negative ones prove a bound.

    Parameters
    ----------
    row
        Of the load rows, shape (rows,).
    memory
        Of the memory rows, shape (m,), ticks per byte; ignored where a GPU has no limit.
    """

    row: NDArray[np.float64]
    memory: NDArray[np.float64]


class AssignmentLp:
    """Minimise C over x >= 0: every task on one GPU in all, load rows, memory rows.

    Parameters
    ----------
    instance
        What is scheduled.
    tasks
        The tasks that count, shape (q,).
    allowed
        Which GPUs they may sit on, shape (q, m), at least one each.

    Attributes
    ----------
    task_of_pair, gpu_of_pair
        Task, as position in `tasks`, and GPU of every pair, shape (pairs,); ordered by task.
    durations
        Duration of every pair in ticks, shape (pairs,).
    rows
        Load rows; more may be added at the end at any time.
    """

    def __init__(self, instance: DagInstance, tasks: NDArray[np.int64], allowed: NDArray[np.bool_]) -> None:
        self.task_of_pair, self.gpu_of_pair = np.nonzero(allowed)
        self.durations = instance.durations[tasks[self.task_of_pair], self.gpu_of_pair]
        self.rows: list[LoadRow] = []
        self._num_tasks = len(tasks)
        self._memory = instance.task_memory[tasks[self.task_of_pair]]
        self._capacity = instance.gpu_memory
        self._limited = np.flatnonzero(instance.gpu_memory >= 0)
        self._scale = max(float(self.durations.max(initial=1)), 1.0)  # numbers near 1 keep the tolerances meaningful
        self._highs: highspy.Highs | None = None
        self._num_loaded = 0

    def add_area_rows(self) -> None:
        """Add that the work on every GPU takes at most C."""
        for gpu in range(len(self._capacity)):
            pairs = np.flatnonzero(self.gpu_of_pair == gpu)
            if len(pairs):
                self.rows.append(LoadRow(base=0, pairs=pairs, ticks=self.durations[pairs]))

    def add_task_rows(self, ticks: NDArray[np.int64]) -> None:
        """Add that every task, with what `ticks` says per pair, takes at most C."""
        first = np.searchsorted(self.task_of_pair, np.arange(self._num_tasks + 1))
        for task in range(self._num_tasks):
            pairs = np.arange(first[task], first[task + 1])
            self.rows.append(LoadRow(base=0, pairs=pairs, ticks=ticks[pairs]))

    def prove(self, multipliers: Multipliers) -> int:
        """Return the bound that some multipliers prove, rounded up; exact integer arithmetic, no solver.

        With multipliers u per row and y per memory row,

            C sum(u) >= sum_r u_r base_r + sum_i min over k of (sum_r u_r ticks_r[i,k] + y_k a_i) - sum_k y_k M_k,

        for every placement within the rows; so neither tolerances nor a wrong answer of an LP solver can make it false.
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
        """Solve the LP with HiGHS; after rows were added it goes on from the last solution.

        Returns
        -------
        tuple
            Multipliers, x per pair, and the value of C; zeros where HiGHS found nothing. None of it is trusted:
            `prove` says what the multipliers are worth.
        """
        num_pairs, num_fixed = len(self.task_of_pair), self._num_tasks + len(self._limited)
        if self._highs is None:
            self._highs = self._load()
        self._load_rows(self.rows[self._num_loaded :])
        self._highs.run()
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
        """Give HiGHS the columns, the assignment rows and the memory rows."""
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
        """Give HiGHS more load rows: sum of ticks x - C <= -base, all divided by the longest duration."""
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
