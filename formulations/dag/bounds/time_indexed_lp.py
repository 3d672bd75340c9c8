"""The time-indexed linear program on buckets, as sparse integer arrays, and its form for weighted completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.time_grid import time_grid
from formulations.integer_lp import Domain, RowBuilder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.bounds.assignment_lp import AssignmentLp
    from formulations.dag.heads_and_tails import HeadsAndTails
    from formulations.dag.time_grid import TimeGrid
    from formulations.integer_lp import IntegerLp
    from instances.dag.instance import DagInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RowBlock:
    """Rows of one kind, one per bucket: numbers of rows and buckets, both increasing, shape (rows,)."""

    rows: NDArray[np.int64]
    buckets: NDArray[np.int64]


class TimeIndexedLp:
    """Columns S[i,k,t] (task i has started on GPU k by the end of bucket t) and late[i] (it starts after all buckets).

    With X[i,k,t] = S[i,k,t] - S[i,k,t-1], and windows, occupancy and lag of a `TimeGrid`:

        sum over k of S[i,k,last] + late[i] = 1, S never falls               (the domain)
        sum over i of (S[i,k,t] - S[i,k,t - occupancy]) <= 1                 for every GPU k and bucket t
        sum over i of a[i] S[i,k,last] <= M[k]                               for every GPU with a limit
        S[i,k,t] <= sum over l of S[h,l,t - lag[h,i](l,k)]                   for every edge (h,i), GPU k and bucket t

    The last row is the strong transfer row: if i has started on k by t, each predecessor has started early enough,
    wherever it sits. Cumulative columns keep all rows sparse; the relaxation is that over X. Every schedule that places
    the tasks within the windows, or later, is a point (docs/bounds.md, section 3.11; the basic model is textbook,
    transfer rows and buckets are ours).

    Attributes
    ----------
    rows, num_columns
        Rows and number of columns so far.
    offset
        Column of S[i,k,first], shape (n, m), -1 where i cannot sit on k.
    late
        Column of late[i], shape (n,).
    capacity, memory
        Capacity rows and memory row by GPU.
    transfer
        Transfer rows by edge and GPU of its head.
    """

    def __init__(self, instance: DagInstance, grid: TimeGrid) -> None:
        self.instance, self.grid = instance, grid
        self.rows = RowBuilder()
        self.capacity: dict[int, RowBlock] = {}
        self.memory: dict[int, int] = {}
        self.transfer: dict[tuple[int, int], RowBlock] = {}
        self._make_columns()
        self._box_lower: list[NDArray[np.int64]] = []
        self._box_upper: list[NDArray[np.int64]] = []
        self.num_columns = int(self._chain_starts[-1])
        for k in range(instance.num_gpus):
            self._add_capacity(k)
            self._add_memory(k)
        for edge in range(instance.num_edges):
            for k in range(instance.num_gpus):
                self._add_transfer(edge, k)

    def finish(self, cost: NDArray[np.int64]) -> IntegerLp:
        """Return the linear program with these costs per column."""
        nothing = np.zeros(0, dtype=np.int64)
        domain = Domain(
            chain_starts=self._chain_starts,
            group_starts=self._group_starts,
            lower=np.concatenate([nothing, *self._box_lower]),
            upper=np.concatenate([nothing, *self._box_upper]),
        )
        return self.rows.program(cost, domain)

    def add_boxes(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add columns between bounds and return their numbers."""
        columns = np.arange(self.num_columns, self.num_columns + len(lower))
        self._box_lower.append(lower)
        self._box_upper.append(upper)
        self.num_columns += len(lower)
        return columns

    def add_loads(self, loads: AssignmentLp, makespan: int) -> None:
        """Add the load rows of a linear program over the placement, for schedules of at most this makespan."""
        for row in loads.rows:
            tasks, gpus = loads.task_of_pair[row.pairs], loads.gpu_of_pair[row.pairs]
            there = self.offset[tasks, gpus] >= 0
            tasks, gpus, ticks = tasks[there], gpus[there], row.ticks[there]
            last = self.offset[tasks, gpus] + self.grid.last[tasks, gpus] - self.grid.first[tasks, gpus]
            self.rows.put(self.rows.add(makespan - row.base), last, ticks)

    def buckets(self, task: int, k: int) -> NDArray[np.int64]:
        """Return the buckets in which the task may start on a GPU."""
        return np.arange(self.grid.first[task, k], self.grid.last[task, k] + 1)

    def _make_columns(self) -> None:
        """Lay out the columns by task, by GPU and by bucket, then late."""
        possible = self.grid.possible
        lengths = np.where(possible, self.grid.last - self.grid.first + 1, 0)
        with_late = np.append(lengths, np.ones((len(lengths), 1), dtype=np.int64), axis=1)
        starts = np.concatenate([[0], with_late.reshape(-1).cumsum()])
        begin = starts[:-1].reshape(with_late.shape)
        self.offset = np.where(possible, begin[:, :-1], -1)
        self.late = begin[:, -1]
        self._chain_starts = np.append(begin[with_late > 0], starts[-1])
        self._group_starts = np.concatenate([[0], (with_late > 0).sum(axis=1).cumsum()])

    def _started(
        self, tasks: NDArray[np.int64], gpus: NDArray[np.int64], buckets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the columns of S[i,k,t], for arrays that broadcast, and where S exists: before the window it is 0."""
        first, last, offset = (array[tasks, gpus] for array in (self.grid.first, self.grid.last, self.offset))
        columns = offset + np.minimum(buckets, last) - first
        return columns, (buckets >= first) & (offset >= 0)

    def _add_capacity(self, k: int) -> None:
        """Let one task at a time occupy a GPU, in the buckets in which something may start."""
        tasks = np.flatnonzero((self.offset[:, k] >= 0) & (self.grid.occupancy[:, k] > 0))
        if not len(tasks):
            return
        buckets = np.arange(self.grid.first[tasks, k].min(), self.grid.last[tasks, k].max() + 1)
        rows = self.rows.add(np.ones(len(buckets)))
        gpus = np.full((len(tasks), 1), k)
        for back, sign in ((0, 1), (self.grid.occupancy[tasks, k][:, None], -1)):
            columns, exists = self._started(tasks[:, None], gpus, buckets - back)
            self.rows.put(np.broadcast_to(rows, columns.shape)[exists], columns[exists], sign)
        self.capacity[k] = RowBlock(rows=rows, buckets=buckets)

    def _add_memory(self, k: int) -> None:
        """Keep the tasks on a GPU within its memory."""
        tasks = np.flatnonzero((self.offset[:, k] >= 0) & (self.instance.task_memory > 0))
        if self.instance.gpu_memory[k] < 0 or not len(tasks):
            return
        row = self.rows.add(self.instance.gpu_memory[k])
        last = self.offset[tasks, k] + self.grid.last[tasks, k] - self.grid.first[tasks, k]
        self.rows.put(row, last, self.instance.task_memory[tasks])
        self.memory[k] = int(row[0])

    def _add_transfer(self, edge: int, k: int) -> None:
        """Add the transfer rows of one edge and the GPU of its head, without those that later ones imply."""
        h, i = self.instance.edges[edge].tolist()
        if self.offset[i, k] < 0:
            return
        sources = np.flatnonzero(self.offset[h] >= 0)
        lag = self.grid.lag[edge, sources, k][:, None]
        buckets = self.buckets(i, k)
        # From here on h has started or is late, whatever its GPU: the row of the last bucket implies the earlier ones.
        everywhere = int((self.grid.last[h, sources] + lag[:, 0]).max(initial=-1))
        if everywhere <= buckets[-1]:
            buckets = np.append(buckets[buckets < everywhere], buckets[-1])
        rows = self.rows.add(np.zeros(len(buckets)))
        self.rows.put(rows, self.offset[i, k] + buckets - self.grid.first[i, k], 1)
        columns, exists = self._started(np.full((len(sources), 1), h), sources[:, None], buckets - lag)
        self.rows.put(np.broadcast_to(rows, columns.shape)[exists], columns[exists], -1)
        self.transfer[edge, k] = RowBlock(rows=rows, buckets=buckets)


def width_for(
    instance: DagInstance,
    earliest: NDArray[np.int64],
    latest: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    *,
    max_entries: int,
) -> int | None:
    """Return the least width of buckets for which the rows have about `max_entries` entries; None if there is none.

    Entries are counted per task, GPU and bucket: two for the rows of the GPU, and m + 1 per edge into the task. The
    arrays are those of `time_grid`.
    """
    possible = allowed & (earliest <= latest)
    entries = np.bincount(instance.edges[:, 1], minlength=instance.num_tasks) * (instance.num_gpus + 1) + 2
    first, last = np.where(possible, earliest, 0), np.where(possible, latest, -1)

    def fits(width: int) -> bool:
        starts = np.where(possible, last // width - first // width + 1, 0).sum(axis=1)
        return float(starts.astype(np.float64) @ entries) <= max_entries

    low, high = 0, int(last.max(initial=0)) + 1
    if not fits(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


class CompletionLp(TimeIndexedLp):
    """Minimise the sum over jobs j of w[j] CJ[j], over starts up to an end of the grid, or later.

    Let e[i,k,t] be the least time of the finish of i on k plus its tail within the job if i starts in bucket t, and
    e'[i] the least one if it starts after the grid. For every task i of a job j of several tasks

        CJ[j] >= sum over k, t of e[i,k,t] X[i,k,t] + e'[i] late[i],

    and for a job of one task that sum itself replaces CJ[j]. A task that does not fit into the grid is late and
    occupies nothing, so any end is valid. Starts and tails enter e in ticks, not in buckets. (Late columns and costs in
    ticks: ours.)

    Parameters
    ----------
    around
        Heads and tails without an assumption on the objective; at least one GPU is left for every task.
    at_least
        Proven lower bound on the completion time of every job, shape (jobs,).
    end
        The grid ends with the bucket that contains this tick.
    width
        Ticks per bucket.

    Attributes
    ----------
    lp
        The linear program; a bound on it plus `constant` is one on the objective.
    constant
        Weighted completion of jobs without tasks.
    job_rows
        Rows of each job of several tasks, and its weight.
    """

    def __init__(
        self, instance: DagInstance, around: HeadsAndTails, at_least: NDArray[np.int64], *, end: int, width: int
    ) -> None:
        beyond = (end // width + 1) * width
        latest = np.full(instance.durations.shape, beyond - 1)
        grid = time_grid(instance, earliest=around.heads, latest=latest, allowed=around.allowed, width=width)
        super().__init__(instance, grid)
        self._heads = around.heads
        self._through = np.where(around.allowed, instance.durations + around.job_tails, 0)
        after = np.maximum(around.heads, beyond) + self._through
        self._late_end = np.where(around.allowed, after, np.iinfo(np.int64).max).min(axis=1)
        self._cost: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self.constant = 0
        self.job_rows: list[tuple[NDArray[np.int64], int]] = []
        for job, weight in enumerate(instance.weight.tolist()):
            tasks = np.flatnonzero(instance.job_of_task == job).tolist()
            if not tasks:
                self.constant += weight * int(instance.release[job])
            elif weight and len(tasks) == 1:
                columns, ticks, _ = self._end(tasks[0])
                self._cost.append((columns, weight * ticks))
            elif weight:
                self._add_job(tasks, weight, int(at_least[job]))
        cost = np.zeros(self.num_columns, dtype=np.int64)
        for columns, values in self._cost:
            cost[columns] = values
        self.lp = self.finish(cost)

    def affordable(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the prices, scaled where those of one job's completion time sum to more than its weight."""
        prices = prices.copy()
        for rows, weight in self.job_rows:
            prices[rows] *= min(1.0, weight / max(float(prices[rows].sum()), 1e-300))
        return prices

    def _add_job(self, tasks: list[int], weight: int, at_least: int) -> None:
        """Add the completion time of a job, which no task of it exceeds."""
        ends = [self._end(task) for task in tasks]
        at_most = max(at_least, *(longest for _, _, longest in ends))
        completion = self.add_boxes(np.array([at_least]), np.array([at_most]))
        self._cost.append((completion, np.array([weight])))
        rows = self.rows.add(np.zeros(len(tasks)))
        self.rows.put(rows, completion, -1)
        for row, (columns, ticks, _) in zip(rows, ends, strict=True):
            self.rows.put(row, columns, ticks)
        self.job_rows.append((rows, weight))

    def _end(self, task: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Return columns and entries of the sum of e X + e' late of a task, and the largest e or e'."""
        columns, entries = [self.late[[task]]], [self._late_end[[task]]]
        longest = int(self._late_end[task])
        for k in np.flatnonzero(self.offset[task] >= 0).tolist():
            starts = np.maximum(self.buckets(task, k) * self.grid.width, self._heads[task, k])
            ticks = starts + self._through[task, k]
            columns.append(self.offset[task, k] + np.arange(len(ticks)))
            entries.append(ticks - np.append(ticks[1:], 0))
            longest = max(longest, int(ticks[-1]))
        return np.concatenate(columns), np.concatenate(entries), longest
