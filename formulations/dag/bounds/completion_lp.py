"""The time-indexed linear program for weighted completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.time_indexed_lp import TimeIndexedLp
from formulations.dag.time_grid import time_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag_instance import DagInstance


class CompletionLp(TimeIndexedLp):
    """Minimise the sum over jobs j of w[j] CJ[j], over starts up to an end of the grid, or later.

    With e[i,k,t] the least time of the finish of i on k plus its tail within the job, if i starts in bucket t, and
    e'[i] the least one if it starts after the grid, for every task i of a job j of several tasks

        CJ[j] >= sum over k, t of e[i,k,t] X[i,k,t] + e'[i] late[i],

    and in the place of CJ[j] that sum itself for a job of one task. What does not fit into the grid is late and
    occupies nothing, so any end is right. Starts and tails enter e in ticks, not in buckets. (Late columns and costs in
    ticks: ours.)

    Parameters
    ----------
    instance
        What is scheduled.
    around
        Its heads and tails, without an assumption on the objective; at least one GPU is left for every task.
    at_least
        Proven lower bound on the completion time of every job, shape (jobs,).
    end
        The grid ends with the bucket that holds this tick.
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
        """Return prices of rows where those of no job's completion time sum to more than its weight."""
        prices = prices.copy()
        for rows, weight in self.job_rows:
            prices[rows] *= min(1.0, weight / max(float(prices[rows].sum()), 1e-300))
        return prices

    def _add_job(self, tasks: list[int], weight: int, at_least: int) -> None:
        """Add the completion time of a job, after the end of each of its tasks."""
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
