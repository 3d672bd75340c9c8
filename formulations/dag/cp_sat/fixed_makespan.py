"""The CP-SAT model of all schedules within a fixed makespan, without an objective: made to be refuted."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import connected_components

from formulations.dag.cp_sat.constraints import (
    GaveUpError,
    Variables,
    add_memory,
    add_non_overlap,
    add_variables,
    add_windows,
)
from formulations.dag.cp_sat.model import break_symmetry
from formulations.dag.interchangeable import interchangeable
from formulations.dag.left_shift import left_shift

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


class FixedMakespanModel:
    """Placement, memory, transfers, windows and loads of every schedule within a makespan; no solution: no schedule.

    Delays are steps: a literal "the delay along this edge is at least v" for every delay v. GPUs whose delays are below
    v form components; tasks in different components are at least v apart, and memory limits what a component holds.
    These rows tell the search early which transfers memory forces (docs/bounds.md, section 3.12).

    Parameters
    ----------
    within
        Windows of every schedule within the makespan, none of them empty.
    is_exclusive
        Whether tasks on a GPU may not overlap. Without it there are fewer decisions, and what is refuted stays so.
    should_give_up
        Called now and then while the model is built.

    Raises
    ------
    GaveUpError
        If `should_give_up` returned True before the model was complete.
    """

    def __init__(
        self, instance: DagInstance, within: Windows, *, is_exclusive: bool, should_give_up: Callable[[], bool]
    ) -> None:
        from ortools.sat.python import cp_model

        self.proto_model = model = cp_model.CpModel()
        self._instance = instance
        self._variables = variables = add_variables(model, instance, within)
        add_memory(model, instance, variables)
        add_windows(model, instance, variables, within)
        _add_placed_windows(model, instance, variables, within)
        components = _Components(model, instance, variables)
        for edge in range(instance.num_edges):
            if should_give_up():
                raise GaveUpError
            _add_delay_steps(model, instance, variables, components, edge)
        components.add_memory()
        break_symmetry(model, instance, variables, interchangeable(instance))
        if is_exclusive:
            add_non_overlap(model, instance, variables, within, is_proof=True)

    def schedule(self, value: Callable[[cp_model.IntVar], int]) -> DagSchedule:
        """Return a solution, given as a function from variable to value, with overlapping tasks put in order."""
        return left_shift(self._instance, *self._variables.gpus_and_starts(value))


def _add_placed_windows(model: cp_model.CpModel, instance: DagInstance, variables: Variables, within: Windows) -> None:
    """Bound every start by a sum over the GPUs of its task, and the work on a GPU by the span of its windows."""
    heads, latest = within.around.heads, within.latest_finish - instance.durations
    for task, left in enumerate(variables.gpus):
        model.add(variables.start[task] >= variables.chosen(task, {k: int(heads[task, k]) for k in left}))
        model.add(variables.start[task] <= variables.chosen(task, {k: int(latest[task, k]) for k in left}))
    for k in range(instance.num_gpus):
        tasks = np.flatnonzero(within.around.allowed[:, k]).tolist()
        if len(tasks) > 1:
            work = sum(int(instance.durations[task, k]) * variables.on[task, k] for task in tasks)
            model.add(work <= int(within.latest_finish[tasks, k].max() - heads[tasks, k].min()))


class _Components:
    """Literals "the task sits on one of these GPUs", made where they are first needed."""

    def __init__(self, model: cp_model.CpModel, instance: DagInstance, variables: Variables) -> None:
        self._model, self._instance, self._variables = model, instance, variables
        self._literals: dict[tuple[int, ...], dict[int, cp_model.LinearExpr | int]] = {}

    def holds(self, task: int, part: NDArray[np.int64]) -> cp_model.LinearExpr | int:
        """Return "the task sits on one of these GPUs"."""
        gpus = tuple(part.tolist())
        known = self._literals.setdefault(gpus, {})
        if task not in known:
            here = [self._variables.on[task, k] for k in gpus if (task, k) in self._variables.on]
            if len(here) > 1:
                known[task] = literal = self._model.new_bool_var(f"on[{task},{gpus}]")
                self._model.add(sum(here) == literal)
            else:
                known[task] = here[0] if here else 0
        return known[task]

    def add_memory(self) -> None:
        """Keep the tasks on the GPUs of a component within their memory together (redundant)."""
        memory = self._instance.gpu_memory
        for part in [np.array(gpus) for gpus in self._literals if len(gpus) > 1]:
            if (memory[part] >= 0).all():
                sizes = enumerate(self._instance.task_memory.tolist())
                used = sum(size * self.holds(task, part) for task, size in sizes if size > 0)
                self._model.add(used <= int(memory[part].sum()))


def _add_delay_steps(
    model: cp_model.CpModel, instance: DagInstance, variables: Variables, components: _Components, edge: int
) -> None:
    """Start the head of an edge after the delay that its literals "at least v" say, and let these follow from places.

    With delays 0 = v_0 < v_1 < ... and their literals y_t: start >= finish + sum of (v_t - v_(t-1)) y_t, and start >=
    finish + v_t if y_t.
    """
    tail, head = instance.edges[edge].tolist()
    before, after = variables.gpus[tail], variables.gpus[head]
    start, finish = variables.start[head], variables.finish[tail]
    delays = instance.transfer_delays(edge)
    steps = np.union1d(delays[np.ix_(before, after)], [0]).tolist()
    reached = [model.new_bool_var(f"delay[{edge}]>={delay}") for delay in steps[1:]]
    model.add(start >= finish + sum((b - a) * y for (a, b), y in zip(pairwise(steps), reached, strict=True)))
    for weaker, stronger in pairwise(reached):
        model.add_implication(stronger, weaker)
    for delay, y in zip(steps[1:], reached, strict=True):
        model.add(start >= finish + delay).only_enforce_if(y)
        near = delays < delay
        count, part_of_gpu = connected_components(near, directed=True, connection="weak")
        for part in range(count) if count > 1 else []:
            here, there = (components.holds(end, np.flatnonzero(part_of_gpu == part)) for end in (tail, head))
            model.add(here <= there + y)
            model.add(there <= here + y)
        if (near != (part_of_gpu == part_of_gpu[:, None])).any():
            for k in before:
                model.add_bool_or(~variables.on[tail, k], y, *(variables.on[head, l] for l in after if near[k, l]))
            for l in after:
                model.add_bool_or(~variables.on[head, l], y, *(variables.on[tail, k] for k in before if near[k, l]))
