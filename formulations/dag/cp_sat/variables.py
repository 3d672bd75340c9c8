"""The decisions of the CP-SAT model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ortools.sat.python import cp_model

    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Variables:
    """Variables by task, GPU, edge and job; numbers in names are those of the instance.

    Parameters
    ----------
    on
        Literal "task i sits on GPU k" for the pairs that are left.
    gpus
        GPUs that are left for every task.
    start
        Start of every task.
    finish
        Finish of every task, an expression.
    delay_reached
        For edges with transfers: pairs (delay v, literal "the delay is at least v") in increasing order of v.
    completion
        Makespan (one entry) or completion time of every job.
    """

    on: dict[tuple[int, int], cp_model.IntVar]
    gpus: list[list[int]]
    start: list[cp_model.IntVar]
    finish: list[cp_model.LinearExpr] = field(default_factory=list)
    delay_reached: dict[int, list[tuple[int, cp_model.IntVar]]] = field(default_factory=dict)
    completion: list[cp_model.IntVar] = field(default_factory=list)

    def chosen(self, task: int, values: Mapping[int, int]) -> cp_model.LinearExpr:
        """Return an expression for the value that belongs to the task's GPU."""
        from ortools.sat.python import cp_model

        literals = [self.on[task, k] for k in values]
        return cp_model.LinearExpr.weighted_sum(literals, list(values.values()))


def add_variables(model: cp_model.CpModel, instance: DagInstance, within: Windows) -> Variables:
    """Add one literal per pair that is left, exactly one per task, and the starts within their windows."""
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
