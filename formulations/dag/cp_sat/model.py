"""The CP-SAT model: built from an instance, mapped back to a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.window_load import window_load_lp
from formulations.dag.cp_sat.constraints import (
    add_loads,
    add_memory,
    add_non_overlap,
    add_transfers,
    add_window_loads,
    add_windows,
)
from formulations.dag.cp_sat.contention import add_contention, hint_contention, lacks_starts
from formulations.dag.cp_sat.objective import add_objective
from formulations.dag.cp_sat.symmetry import break_symmetry
from formulations.dag.cp_sat.variables import add_variables
from formulations.dag.interchangeable import Interchangeable, first_use, first_use_order, interchangeable, normal_form
from formulations.dag.left_shift import left_shift
from instances.contention import Contention
from instances.objective import Objective, completion_times, objective_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


MAX_PAIRS_FOR_WINDOW_LOADS = 1_000
"""Above this many pairs of task and GPU the window-load rows slow the search more than they help."""


class CpSatModel:
    """The DAG problem in CP-SAT: optional intervals, link-dependent delays by threshold literals, windows as domains.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    within
        Windows that are not empty; the model holds schedules within them only.
    should_give_up
        Asked now and then while the model is built.
    symmetry
        Whether to keep only one of schedules that differ by swaps of like GPUs, servers or tasks; only right where the
        windows follow from the instance and nothing else.
    contention
        What transfers share.
    completion_tails
        For weighted completion of a part of a schedule: ticks from the finish of task i on GPU k to the completion of
        job j, shape (n, m, jobs), negative where j does not wait for it. None: each job waits for its own tasks only,
        as the windows say.

    Raises
    ------
    GaveUpError
        If the model was given up before it was complete.

    Attributes
    ----------
    proto_model
        The model to be solved.
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        within: Windows,
        should_give_up: Callable[[], bool] = lambda: False,
        symmetry: bool = True,
        contention: Contention = Contention.NONE,
        completion_tails: NDArray[np.int64] | None = None,
    ) -> None:
        from ortools.sat.python import cp_model

        self.proto_model = cp_model.CpModel()
        self._instance, self._objective = instance, objective
        model = self.proto_model
        self._variables = add_variables(model, instance, within)
        self._last = add_objective(model, instance, objective, self._variables, within, completion_tails)
        add_transfers(model, instance, self._variables, should_give_up)
        self._nics = None
        if contention is Contention.NIC:
            self._nics = add_contention(model, instance, self._variables, within, should_give_up)
        add_non_overlap(model, instance, self._variables)
        add_memory(model, instance, self._variables)
        add_windows(model, instance, self._variables, within)
        add_loads(model, instance, self._variables, self._last)
        self._classes = interchangeable(instance) if symmetry else Interchangeable()
        self._used = break_symmetry(model, instance, self._variables, self._classes)
        pairs = len(self._variables.on)
        if objective is Objective.MAKESPAN and 0 < pairs <= MAX_PAIRS_FOR_WINDOW_LOADS:
            lp = window_load_lp(instance, within.around, within.at_least)[1]
            add_window_loads(model, lp, self._variables, self._last)

    @property
    def num_literals(self) -> int:
        """Number of Boolean decisions."""
        literals = len(self._variables.on) + sum(len(reached) for reached in self._variables.delay_reached.values())
        return literals + (0 if self._nics is None else self._nics.num_literals)

    def hint(self, schedule: DagSchedule) -> None:
        """Hint a complete solution; a schedule outside the windows is left out."""
        variables, model = self._variables, self.proto_model
        model.clear_hints()
        schedule = normal_form(self._instance, self._classes, schedule)
        gpu, start = schedule.gpu.tolist(), schedule.start.tolist()
        if any((task, k) not in variables.on for task, k in enumerate(gpu)):
            return
        if self._nics is not None and lacks_starts(self._instance, self._nics, schedule):
            return
        for (task, k), literal in variables.on.items():
            model.add_hint(literal, gpu[task] == k)
        for task, variable in enumerate(variables.start):
            model.add_hint(variable, start[task])
        for edge, reached in variables.delay_reached.items():
            tail, head = self._instance.edges[edge]
            delay = int(self._instance.transfer_delays(edge)[gpu[tail], gpu[head]])
            for threshold, literal in reached:
                model.add_hint(literal, delay >= threshold)
        if self._nics is not None:
            hint_contention(model, self._instance, self._nics, schedule)
        in_order = schedule.gpu[first_use_order(self._instance)]
        for used in self._used:
            model.add_hint(used.literal, first_use(in_order, used.gpus) < used.num_tasks)
        if self._objective is Objective.MAKESPAN:
            model.add_hint(variables.completion[0], objective_value(self._instance, schedule, self._objective))
            return
        completion = completion_times(self._instance, schedule)
        for variable, ticks in zip(variables.completion, completion.tolist(), strict=True):
            model.add_hint(variable, ticks)
        model.add_hint(self._last, int(completion.max(initial=0)))

    def schedule(self, value: Callable[[cp_model.IntVar], int]) -> DagSchedule:
        """Map a solution, given as a function from variable to value, back to a schedule."""
        gpu = np.zeros(self._instance.num_tasks, dtype=np.int64)
        for (task, k), literal in self._variables.on.items():
            if value(literal):
                gpu[task] = k
        start = np.array([value(variable) for variable in self._variables.start], dtype=np.int64)
        transfer_start = None if self._nics is None else self._nics.transfer_start(self._instance, value)
        return left_shift(self._instance, gpu, start, transfer_start)
