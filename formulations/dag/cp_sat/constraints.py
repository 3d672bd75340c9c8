"""The decisions of the CP-SAT model and its constraints, one function each."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.incomparable_pairs import has_few_incomparable, incomparable_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    from formulations.dag.bounds.assignment_lp import AssignmentLp
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance


MAX_ORDERS = 100
"""Up to this many pairs of tasks that no path orders, a literal for each takes CP-SAT no longer than NoOverlap."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Variables:
    """Variables by task, GPU, edge and job; numbers in names are those of the instance.

    Parameters
    ----------
    on
        Literal "task i sits on GPU k" for the pairs that are left.
    gpus
        GPUs that are left for every task.
    finish
        Finish of every task, an expression.
    delay_reached
        For edges with transfers: pairs (delay v, literal "the delay is at least v") in increasing order of v.
    order
        For pairs of tasks that no path orders: literal "the first one is first, if they share a GPU"; empty where
        NoOverlap keeps tasks apart.
    completion
        Makespan (one entry) or completion time of every job.
    """

    on: dict[tuple[int, int], cp_model.IntVar]
    gpus: list[list[int]]
    start: list[cp_model.IntVar]
    finish: list[cp_model.LinearExpr] = field(default_factory=list)
    delay_reached: dict[int, list[tuple[int, cp_model.IntVar]]] = field(default_factory=dict)
    order: dict[tuple[int, int], cp_model.IntVar] = field(default_factory=dict)
    completion: list[cp_model.IntVar] = field(default_factory=list)

    def chosen(self, task: int, values: Mapping[int, int]) -> cp_model.LinearExpr:
        """Return an expression for the value that belongs to the task's GPU."""
        from ortools.sat.python import cp_model

        literals = [self.on[task, k] for k in values]
        return cp_model.LinearExpr.weighted_sum(literals, list(values.values()))

    def gpus_and_starts(self, value: Callable[[cp_model.IntVar], int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the GPU and the start of every task in a solution, given as a function from variable to value."""
        gpu = np.array([next(k for k in left if value(self.on[task, k])) for task, left in enumerate(self.gpus)])
        return gpu.astype(np.int64), np.array([value(start) for start in self.start], dtype=np.int64)


def add_variables(model: cp_model.CpModel, instance: DagInstance, within: Windows) -> Variables:
    """Add one literal per pair that is left, exactly one true per task, and the starts within their windows."""
    on: dict[tuple[int, int], cp_model.IntVar] = {}
    gpus: list[list[int]] = []
    start: list[cp_model.IntVar] = []
    for task in range(instance.num_tasks):
        left = np.flatnonzero(within.around.allowed[task]).tolist()
        gpus.append(left)
        for k in left:
            on[task, k] = model.new_bool_var(f"on[{task},{k}]")
        model.add_exactly_one(on[task, k] for k in left)
        earliest = min(int(within.around.heads[task, k]) for k in left)
        latest = max(int(within.latest_finish[task, k] - instance.durations[task, k]) for k in left)
        start.append(model.new_int_var(earliest, latest, f"start[{task}]"))
    variables = Variables(on=on, gpus=gpus, start=start)
    for task, left in enumerate(gpus):
        durations = {k: int(instance.durations[task, k]) for k in left}
        variables.finish.append(start[task] + variables.chosen(task, durations))
    return variables


def add_non_overlap(
    model: cp_model.CpModel, instance: DagInstance, variables: Variables, within: Windows, *, is_proof: bool
) -> None:
    """Let no two tasks overlap on a GPU; a task of duration 0 occupies nothing.

    Where what the solver proves will be claimed (`is_proof`) and few pairs of tasks can compete, each pair has an
    order, because CP-SAT has proved wrong optima with NoOverlap (docs/methods/exact_methods.md, section 2.7).
    """
    if is_proof and has_few_incomparable(instance, MAX_ORDERS):
        _order_tasks(model, instance, variables, within)
        return
    intervals: list[list[cp_model.IntervalVar]] = [[] for _ in range(instance.num_gpus)]
    for (task, k), literal in variables.on.items():
        duration = int(instance.durations[task, k])
        if duration > 0:
            interval = model.new_optional_fixed_size_interval_var(
                variables.start[task], duration, literal, f"run[{task},{k}]"
            )
            intervals[k].append(interval)
    for on_one_gpu in intervals:
        if len(on_one_gpu) > 1:
            model.add_no_overlap(on_one_gpu)


def _order_tasks(model: cp_model.CpModel, instance: DagInstance, variables: Variables, within: Windows) -> None:
    """Let one of two tasks on a GPU finish before the other one starts, by one literal for each incomparable pair."""
    start = variables.start
    for one, other, gpus in incomparable_pairs(instance, within.around.allowed):
        is_first = model.new_bool_var(f"order[{one},{other}]")
        variables.order[one, other] = is_first
        for k in gpus:
            together = [variables.on[one, k], variables.on[other, k]]
            model.add(start[one] + int(instance.durations[one, k]) <= start[other]).only_enforce_if(*together, is_first)
            model.add(start[other] + int(instance.durations[other, k]) <= start[one]).only_enforce_if(
                *together, ~is_first
            )


def add_memory(model: cp_model.CpModel, instance: DagInstance, variables: Variables) -> None:
    """Keep the tasks on a GPU within its memory."""
    for k in np.flatnonzero(instance.gpu_memory >= 0).tolist():
        tasks = [task for task in range(instance.num_tasks) if (task, k) in variables.on]
        sizes = [int(instance.task_memory[task]) for task in tasks]
        if sum(sizes) > instance.gpu_memory[k]:
            used = sum(size * variables.on[task, k] for task, size in zip(tasks, sizes, strict=True))
            model.add(used <= int(instance.gpu_memory[k]))


class GaveUpError(RuntimeError):
    """The time for building a model is over."""


def add_transfers(
    model: cp_model.CpModel, instance: DagInstance, variables: Variables, should_give_up: Callable[[], bool]
) -> None:
    """Start a task after its predecessors and their transfers.

    With the distinct delays 0 = v_0 < v_1 < ... of an edge and literals z_t "the delay is at least v_t": start >=
    finish of the predecessor + sum of (v_t - v_(t-1)) z_t, and clauses that fix z from the two GPUs
    (docs/formulations.md, section 4.1).
    """
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        if should_give_up():
            raise GaveUpError
        delays = instance.transfer_delays(edge)
        pairs = {(k, l): int(delays[k, l]) for k in variables.gpus[tail] for l in variables.gpus[head]}
        steps = sorted({0, *pairs.values()})
        reached = [(delay, model.new_bool_var(f"delay[{edge}]>={delay}")) for delay in steps[1:]]
        if reached:
            variables.delay_reached[edge] = reached
        for (_, weaker), (_, stronger) in pairwise(reached):
            model.add_implication(stronger, weaker)
        rises = sum((delay - before) * z for before, (delay, z) in zip(steps, reached, strict=False))
        model.add(variables.start[head] >= variables.finish[tail] + rises)
        if len(reached) == 1 and all((delay == 0) == (k == l) for (k, l), delay in pairs.items()):
            _fix_uniform_delay(model, variables, tail, head, reached[0][1])
        else:
            _fix_delays(model, variables, tail, head, pairs, steps, [z for _, z in reached])


def _fix_uniform_delay(model: cp_model.CpModel, variables: Variables, tail: int, head: int, z: cp_model.IntVar) -> None:
    """Let z say "different GPUs"."""
    on = variables.on
    for k in sorted({*variables.gpus[tail], *variables.gpus[head]}):
        if (tail, k) not in on:
            model.add_implication(on[head, k], z)
        elif (head, k) not in on:
            model.add_implication(on[tail, k], z)
        else:
            model.add_bool_or(z, ~on[tail, k], on[head, k])
            model.add_bool_or(z, on[tail, k], ~on[head, k])
            model.add_bool_or(~z, ~on[tail, k], ~on[head, k])


def _fix_delays(
    model: cp_model.CpModel,
    variables: Variables,
    tail: int,
    head: int,
    pairs: dict[tuple[int, int], int],
    steps: list[int],
    reached: list[cp_model.IntVar],
) -> None:
    """Let the literals of an edge follow from the two GPUs."""
    level_of_delay = {delay: level for level, delay in enumerate(steps)}
    for (k, l), delay in pairs.items():
        there = [~variables.on[tail, k], ~variables.on[head, l]]
        level = level_of_delay[delay]
        if level > 0:
            model.add_bool_or(*there, reached[level - 1])
        if level < len(reached):
            model.add_bool_or(*there, ~reached[level])


def add_windows(model: cp_model.CpModel, instance: DagInstance, variables: Variables, within: Windows) -> None:
    """Keep the window of a pair where it is narrower than that of the start (redundant)."""
    for (task, k), literal in variables.on.items():
        earliest = int(within.around.heads[task, k])
        latest = int(within.latest_finish[task, k] - instance.durations[task, k])
        if len(variables.gpus[task]) > 1:
            model.add(variables.start[task] >= earliest).only_enforce_if(literal)
            model.add(variables.start[task] <= latest).only_enforce_if(literal)


def add_window_loads(
    model: cp_model.CpModel, lp: AssignmentLp, variables: Variables, makespan: cp_model.IntVar
) -> None:
    """Add the rows of the window-load program, which tell the search early how much a GPU can take (redundant)."""
    from ortools.sat.python import cp_model

    literals = [
        variables.on[task, gpu] for task, gpu in zip(lp.task_of_pair.tolist(), lp.gpu_of_pair.tolist(), strict=True)
    ]
    for row in lp.rows:
        work = cp_model.LinearExpr.weighted_sum([literals[pair] for pair in row.pairs.tolist()], row.ticks.tolist())
        model.add(work + row.base <= makespan)


def add_loads(model: cp_model.CpModel, instance: DagInstance, variables: Variables, last: cp_model.LinearExprT) -> None:
    """Fit the work on each GPU, and all shortest durations on m GPUs, before the last finish (redundant)."""
    for k in range(instance.num_gpus):
        work = [
            (task, int(instance.durations[task, k])) for task in range(instance.num_tasks) if (task, k) in variables.on
        ]
        if sum(duration > 0 for _, duration in work) > 1:
            model.add(sum(duration * variables.on[task, k] for task, duration in work) <= last)
    intervals = []
    for task, left in enumerate(variables.gpus):
        shortest = min(int(instance.durations[task, k]) for k in left)
        if shortest > 0:
            intervals.append(model.new_fixed_size_interval_var(variables.start[task], shortest, f"shortest[{task}]"))
    if len(intervals) > instance.num_gpus:
        model.add_cumulative(intervals, [1] * len(intervals), instance.num_gpus)
