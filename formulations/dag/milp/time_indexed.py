"""The time-indexed MILP: one column for every task, GPU and tick in which the task may start there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo

from formulations.dag.milp.core_model import CoreModel, add_load_rows
from formulations.dag.milp.interface import check_model_size
from formulations.dag.time_grid import time_grid
from formulations.model_too_large import ModelTooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule

MAX_STARTS = 20_000
"""Triples of task, GPU and tick up to which a model is worth building: seconds to build, and hundreds of ticks."""


class TimeIndexedModel(CoreModel):
    """The DAG problem without big-M constants: which tasks have started by a tick, per task and GPU.

    S[i,k,t] = 1 if task i has started on GPU k by tick t, within its window there. So X[i,k,t] = S[i,k,t] - S[i,k,t-1]
    says that it starts at t, and S at the end of the window is the placement x[i,k]. The rows of `CoreModel` hold, with
    s[i] = sum over k, t of t X[i,k,t], and:

        S[i,k,t-1] <= S[i,k,t]
        sum over i of (S[i,k,t] - S[i,k,t - p[i,k]]) <= 1                           for every GPU k and tick t
        S[i,k,t] <= sum over l of S[h,l, t - p[h,l] - c[h,i](l,k)]                  for every edge (h,i), k and t

    The rows over S are those over X after a change of variables: the same relaxation with few entries per row. The
    basic model is textbook; the transfer row, which needs no product of placements, is ours (docs/formulations.md,
    section 7).

    Attributes
    ----------
    pyomo_model
        As in `CoreModel`, with ``started[i, k, t]`` (binary) in the place of ``on`` and ``start``.
    grid
        The windows in ticks.

    Raises
    ------
    ModelTooLargeError
        If there are more than `MAX_STARTS` triples of task, GPU and tick, or the horizon is so long that tolerances in
        sums of ticks would matter.
    """

    def __init__(self, instance: DagInstance, objective: Objective, within: Windows) -> None:
        check_model_size(instance, within, max_pair_rows=2**62)  # it has no rows per pair
        latest = within.latest_finish - instance.durations
        self.grid = time_grid(
            instance, earliest=within.around.heads, latest=latest, allowed=within.around.allowed, width=1
        )
        if self.grid.num_starts > MAX_STARTS:
            raise ModelTooLargeError(
                f"tasks: expected at most {MAX_STARTS} triples of task, GPU and tick, got {self.grid.num_starts}."
            )
        super().__init__(instance, objective, within)
        self._add_steps()
        self._add_capacity()
        self._add_transfers()
        add_load_rows(self)

    def begin(self, task: int) -> pyo.Expression:
        """Return the start of a task."""
        return sum(self._start_on(task, k) for k in self.gpus[task])

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if it lies outside the windows."""
        schedule = self.in_index_order(schedule)
        gpu, start, tasks = schedule.gpu, schedule.start, np.arange(self.instance.num_tasks)
        first, last = self.grid.first[tasks, gpu], self.grid.last[tasks, gpu]
        if (start < first).any() or (start > last).any():  # an empty window is among these
            return False
        model = self.pyomo_model
        for task, k, tick in model.started:
            model.started[task, k, tick].set_value(int(gpu[task] == k and start[task] <= tick))
        self.set_shared(schedule)
        return True

    def schedule(self) -> DagSchedule:
        """Map the values of the variables back to a schedule."""
        gpu = [max(left, key=lambda k: self.on[task, k].value) for task, left in enumerate(self.gpus)]
        start = [float(pyo.value(self._start_on(task, k))) for task, k in enumerate(gpu)]
        return self.tidied(np.array(gpu, dtype=np.int64), np.array(start, dtype=np.float64))

    def _ticks(self, task: int, k: int) -> range:
        """Return the ticks in which a task may start on a GPU."""
        return range(int(self.grid.first[task, k]), int(self.grid.last[task, k]) + 1)

    def _started(self, task: int, k: int, tick: int) -> pyo.Expression | int:
        """Return S[i,k,t], which is 0 before the window and x[i,k] after it."""
        if k not in self.gpus[task] or tick < self.grid.first[task, k]:
            return 0
        return self.pyomo_model.started[task, k, min(tick, int(self.grid.last[task, k]))]

    def _start_on(self, task: int, k: int) -> pyo.Expression:
        """Return the sum of t X[i,k,t]: the start on this GPU, 0 if the task sits on another one."""
        *before, last = self._ticks(task, k)
        return last * self.on[task, k] - sum(self.pyomo_model.started[task, k, tick] for tick in before)

    def _add_placement(self) -> Mapping[tuple[int, int], pyo.Var]:
        """Add S, and give every task one GPU and start: x[i,k] is the last S of the window."""
        model, tasks = self.pyomo_model, range(self.instance.num_tasks)
        triples = [(task, k, tick) for task in tasks for k in self.gpus[task] for tick in self._ticks(task, k)]
        model.started = pyo.Var(triples, domain=pyo.Binary)
        on = {(task, k): model.started[task, k, self._ticks(task, k)[-1]] for task in tasks for k in self.gpus[task]}
        model.one_gpu = pyo.Constraint(tasks, rule=lambda _, task: sum(on[task, k] for k in self.gpus[task]) == 1)
        return on

    def _add_starts(self) -> None:
        """Add nothing, because S determines the starts."""

    def _add_window_rows(self) -> None:
        """Add nothing, because S exists within the windows only."""

    def _add_steps(self) -> None:
        """Keep every task started once it has started."""
        later = [(task, k, tick) for (task, k) in self.on for tick in self._ticks(task, k)[1:]]
        self.pyomo_model.step = pyo.Constraint(
            later, rule=lambda m, task, k, tick: m.started[task, k, tick - 1] <= m.started[task, k, tick]
        )

    def _add_capacity(self) -> None:
        """Let one task at a time run on a GPU; rows for ticks in which something may start."""
        model, occupancy = self.pyomo_model, self.grid.occupancy
        model.capacity = pyo.ConstraintList()
        for k in range(self.instance.num_gpus):
            tasks = [task for task, left in enumerate(self.gpus) if k in left and occupancy[task, k]]
            for tick in sorted({tick for task in tasks for tick in self._ticks(task, k)}) if len(tasks) > 1 else ():
                running = sum(
                    self._started(task, k, tick) - self._started(task, k, tick - int(occupancy[task, k]))
                    for task in tasks
                )
                model.capacity.add(running <= 1)

    def _add_transfers(self) -> None:
        """Let data arrive before a task starts."""
        model, edges = self.pyomo_model, self.instance.edges.tolist()
        model.transfer = pyo.ConstraintList()
        for edge, (h, i) in enumerate(edges):
            for k in self.gpus[i]:
                lags = [(l, int(self.grid.lag[edge, l, k])) for l in self.gpus[h]]
                always = max(int(self.grid.last[h, l]) + lag for l, lag in lags)  # from here on h has started
                for tick in self._ticks(i, k):
                    if tick < always:
                        arrived = sum(self._started(h, l, tick - lag) for l, lag in lags)
                        model.transfer.add(model.started[i, k, tick] <= arrived)
