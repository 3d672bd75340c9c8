"""The pairwise disjunctive MILP: who goes first, for every pair of tasks that may compete for a GPU."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo

from formulations.dag.bounds.window_load import window_load_lp
from formulations.dag.incomparable_pairs import incomparable_pairs
from formulations.dag.left_shift import left_shift
from instances.objective import Objective, completion_times, finish_times

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


class DisjunctiveModel:
    """Binaries for placement and order, continuous starts; constants per pair and GPU from heads and tails.

    The form is that of the published program of Moirai (github.com/moirai-placement/moirai), with one large constant
    throughout; its constants per pair, heads and tails, reduced linearisation of transfers and load rows are ours.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    within
        Windows that are not empty; the model holds schedules within them only.

    Attributes
    ----------
    pyomo_model
        Variables ``on[i, k]`` (binary), ``start[i]``, ``completion`` (the makespan, or per job), ``both[e, k, l]``
        (edge e goes from k to l), ``first[h, i]`` (binary: h before i), objective ``cost``.
    """

    def __init__(self, instance: DagInstance, objective: Objective, within: Windows) -> None:
        self._instance, self._objective, self._within = instance, objective, within
        self._gpus = [np.flatnonzero(row).tolist() for row in within.around.allowed]
        self._pairs = incomparable_pairs(instance, within.around.allowed)
        self.pyomo_model = pyo.ConcreteModel()
        self._add_placement()
        self._add_completion()
        self._add_transfers()
        self._add_orders()
        self._add_loads()

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, and nothing done, where that is outside the windows."""
        model, gpu, start = self.pyomo_model, schedule.gpu.tolist(), schedule.start.tolist()
        if any(k not in self._gpus[task] for task, k in enumerate(gpu)):
            return False
        for task, k in model.on:
            model.on[task, k].set_value(int(gpu[task] == k))
        for task in model.start:
            model.start[task].set_value(start[task])
        for edge, k, l in model.both:
            tail, head = self._instance.edges[edge].tolist()
            model.both[edge, k, l].set_value(float(gpu[tail] == k and gpu[head] == l))
        finish = finish_times(self._instance, schedule)
        for first, second in model.first:
            model.first[first, second].set_value(int(finish[first] <= start[second]))
        if self._objective is Objective.MAKESPAN:
            model.completion[0].set_value(int(finish.max(initial=0)))
        else:
            for job, ticks in enumerate(completion_times(self._instance, schedule).tolist()):
                model.completion[job].set_value(ticks)
        return True

    def schedule(self) -> DagSchedule:
        """Map the values of the variables back to a schedule."""
        model = self.pyomo_model
        gpu = [max(left, key=lambda k: model.on[task, k].value) for task, left in enumerate(self._gpus)]
        start = [model.start[task].value for task in range(self._instance.num_tasks)]
        return left_shift(self._instance, np.array(gpu, dtype=np.int64), np.array(start, dtype=np.float64))

    def _chosen(self, task: int, row: np.ndarray) -> pyo.Expression:
        """Return the entry of a row of constants that belongs to the task's GPU."""
        return sum(int(row[k]) * self.pyomo_model.on[task, k] for k in self._gpus[task])

    def _finish(self, task: int) -> pyo.Expression:
        """Return the finish of a task."""
        return self.pyomo_model.start[task] + self._chosen(task, self._instance.durations[task])

    def _add_placement(self) -> None:
        """Give every task one GPU within memory, and a start within the window of that GPU."""
        model, instance, around = self.pyomo_model, self._instance, self._within.around
        tasks = range(instance.num_tasks)
        model.on = pyo.Var([(task, k) for task in tasks for k in self._gpus[task]], domain=pyo.Binary)
        earliest = [min(int(around.heads[task, k]) for k in self._gpus[task]) for task in tasks]
        latest = self._within.latest_finish - instance.durations
        last = [max(int(latest[task, k]) for k in self._gpus[task]) for task in tasks]
        model.start = pyo.Var(tasks, bounds=lambda _, task: (earliest[task], last[task]))
        model.one_gpu = pyo.Constraint(tasks, rule=lambda m, task: sum(m.on[task, k] for k in self._gpus[task]) == 1)
        model.head = pyo.Constraint(tasks, rule=lambda m, task: m.start[task] >= self._chosen(task, around.heads[task]))
        model.latest = pyo.Constraint(tasks, rule=lambda m, task: m.start[task] <= self._chosen(task, latest[task]))
        limited = [
            k for k in range(instance.num_gpus) if instance.gpu_memory[k] >= 0 and any(k in left for left in self._gpus)
        ]

        def fits(m: pyo.ConcreteModel, k: int) -> object:
            used = sum(int(instance.task_memory[task]) * m.on[task, k] for task in tasks if k in self._gpus[task])
            return used <= int(instance.gpu_memory[k])

        model.memory = pyo.Constraint(limited, rule=fits)

    def _add_completion(self) -> None:
        """Put makespan or completion times after every finish and its tail, and minimise."""
        model, instance, within = self.pyomo_model, self._instance, self._within
        tasks = range(instance.num_tasks)
        if self._objective is Objective.MAKESPAN:
            model.completion = pyo.Var([0], bounds=(within.at_least, within.at_most))
            job_of_task, tails, cost = [0] * instance.num_tasks, within.around.tails, model.completion[0]
        else:
            limits = list(zip(within.completion_at_least.tolist(), within.completion_at_most.tolist(), strict=True))
            model.completion = pyo.Var(range(instance.num_jobs), bounds=lambda _, job: limits[job])
            job_of_task, tails = instance.job_of_task.tolist(), within.around.job_tails
            cost = sum(weight * model.completion[job] for job, weight in enumerate(instance.weight.tolist()))
            model.cost_at_least = pyo.Constraint(expr=cost + 0.0 * model.completion[0] >= within.at_least)
        model.tail = pyo.Constraint(
            tasks,
            rule=lambda m, task: (
                m.completion[job_of_task[task]] >= self._finish(task) + self._chosen(task, tails[task])
            ),
        )
        model.cost = pyo.Objective(expr=cost, sense=pyo.minimize)

    def _add_transfers(self) -> None:
        """Let data arrive before a task starts: z[k,l] = x[h,k] x[i,l] by its row and column sums."""
        model, instance = self.pyomo_model, self._instance
        delays = {edge: self._possible_delays(edge) for edge in range(instance.num_edges)}
        delayed = [edge for edge in delays if self._instance.transfer_delays(edge).any()]
        model.both = pyo.Var([(edge, k, l) for edge in delayed for k, l in delays[edge]], bounds=(0, 1))
        ends = instance.edges.tolist()

        def leaves(m: pyo.ConcreteModel, edge: int, k: int) -> object:
            h, i = ends[edge]
            return sum(m.both[edge, k, l] for l in self._gpus[i] if (k, l) in delays[edge]) == m.on[h, k]

        def arrives(m: pyo.ConcreteModel, edge: int, l: int) -> object:
            h, i = ends[edge]
            return sum(m.both[edge, k, l] for k in self._gpus[h] if (k, l) in delays[edge]) == m.on[i, l]

        def after(m: pyo.ConcreteModel, edge: int) -> object:
            h, i = ends[edge]
            transfer = sum(ticks * m.both[edge, k, l] for (k, l), ticks in delays[edge].items() if ticks)
            return m.start[i] >= self._finish(h) + transfer

        model.leaves = pyo.Constraint([(edge, k) for edge in delayed for k in self._gpus[ends[edge][0]]], rule=leaves)
        model.arrives = pyo.Constraint([(edge, l) for edge in delayed for l in self._gpus[ends[edge][1]]], rule=arrives)
        model.after = pyo.Constraint(list(delays), rule=after)

    def _possible_delays(self, edge: int) -> dict[tuple[int, int], int]:
        """Return the delays of an edge for the pairs of GPUs that the windows leave time for: no huge coefficients."""
        h, i = self._instance.edges[edge].tolist()
        delays, durations = self._instance.transfer_delays(edge), self._instance.durations
        leaves = self._within.around.heads[h] + durations[h]
        due = self._within.latest_finish[i] - durations[i]
        pairs = product(self._gpus[h], self._gpus[i])
        return {(k, l): int(delays[k, l]) for k, l in pairs if leaves[k] + delays[k, l] <= due[l]}

    def _add_orders(self) -> None:
        """Let one of two tasks on a GPU go first; rows per GPU, with the least constants that switch them off."""
        model, around, latest = self.pyomo_model, self._within.around, self._within.latest_finish
        model.first = pyo.Var([(h, i) for h, i, _ in self._pairs], domain=pyo.Binary)
        model.order = pyo.ConstraintList()
        for h, i, common in self._pairs:
            for before, later, switched in ((h, i, 1 - model.first[h, i]), (i, h, model.first[h, i])):
                anywhere = max(int(latest[before, k]) for k in self._gpus[before])
                anywhere = max(0, anywhere - min(int(around.heads[later, k]) for k in self._gpus[later]))
                for k in common:
                    here = max(0, int(latest[before, k] - around.heads[later, k]))
                    elsewhere = 2 - model.on[before, k] - model.on[later, k]
                    model.order.add(model.start[later] >= self._finish(before) - here * switched - anywhere * elsewhere)

    def _add_loads(self) -> None:
        """Add the rows of the window-load LP, which are redundant, for the makespan only."""
        if self._objective is not Objective.MAKESPAN or not self._instance.num_tasks:
            return
        model = self.pyomo_model
        lp = window_load_lp(self._instance, self._within.around, self._within.at_least)[1]
        pair = list(zip(lp.task_of_pair.tolist(), lp.gpu_of_pair.tolist(), strict=True))
        model.window_load = pyo.ConstraintList()
        for row in lp.rows:
            terms = zip(row.pairs.tolist(), row.ticks.tolist(), strict=True)
            model.window_load.add(
                sum(ticks * model.on[pair[index]] for index, ticks in terms) + row.base <= model.completion[0]
            )
