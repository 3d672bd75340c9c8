"""What the CP-SAT model minimises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.objective import Objective

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    from formulations.dag.cp_sat.variables import Variables
    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance


def add_objective(
    model: cp_model.CpModel,
    instance: DagInstance,
    objective: Objective,
    variables: Variables,
    within: Windows,
    completion_tails: NDArray[np.int64] | None = None,
) -> cp_model.IntVar:
    """Add the completion times, minimise, and return an expression for the last finish of any task.

    `completion_tails` is as in `CpSatModel`.
    """
    if objective is Objective.MAKESPAN:
        return _minimise_makespan(model, instance, variables, within)
    return _minimise_weighted_completion(model, instance, variables, within, completion_tails)


def _minimise_makespan(
    model: cp_model.CpModel, instance: DagInstance, variables: Variables, within: Windows
) -> cp_model.IntVar:
    """C >= f[i] + sum over k of T[i,k] x[i,k]; minimise C."""
    makespan = model.new_int_var(within.at_least, within.at_most, "makespan")
    variables.completion.append(makespan)
    for task, left in enumerate(variables.gpus):
        tails = {k: int(within.around.tails[task, k]) for k in left}
        model.add(makespan >= variables.finish[task] + variables.chosen(task, tails))
    model.minimize(makespan)
    return makespan


def _minimise_weighted_completion(
    model: cp_model.CpModel,
    instance: DagInstance,
    variables: Variables,
    within: Windows,
    completion_tails: NDArray[np.int64] | None,
) -> cp_model.IntVar:
    """CJ[j] >= f[i] + sum over k of TJ[i,k] x[i,k] for the tasks i of j; minimise the sum of w[j] CJ[j]."""
    for job in range(instance.num_jobs):
        low, high = int(within.completion_at_least[job]), int(within.completion_at_most[job])
        variables.completion.append(model.new_int_var(low, high, f"completion[{job}]"))
    last = model.new_int_var(0, int(within.completion_at_most.max()), "last")
    for completion in variables.completion:
        model.add(last >= completion)
    for task, left in enumerate(variables.gpus):
        tails = {k: int(within.around.job_tails[task, k]) for k in left}
        completion = variables.completion[int(instance.job_of_task[task])]
        model.add(completion >= variables.finish[task] + variables.chosen(task, tails))
    if completion_tails is not None:
        _wait_across_jobs(model, instance, variables, within, completion_tails)
    cost = sum(
        weight * completion for weight, completion in zip(instance.weight.tolist(), variables.completion, strict=True)
    )
    model.add(cost >= within.at_least)
    model.add(cost <= within.at_most)
    model.minimize(cost)
    return last


def _wait_across_jobs(
    model: cp_model.CpModel,
    instance: DagInstance,
    variables: Variables,
    within: Windows,
    completion_tails: NDArray[np.int64],
) -> None:
    """CJ[j] >= f[i] + T[i,k,j] if i is on k, for tasks i of other jobs that j waits for."""
    for task, left in enumerate(variables.gpus):
        for job, completion in enumerate(variables.completion):
            tails = {k: int(completion_tails[task, k, job]) for k in left if completion_tails[task, k, job] >= 0}
            latest = max((int(within.latest_finish[task, k]) + tail for k, tail in tails.items()), default=0)
            if job == instance.job_of_task[task] or latest <= within.completion_at_least[job]:
                continue  # nothing that the own row or the domain does not say
            if len(tails) == len(left):
                model.add(completion >= variables.finish[task] + variables.chosen(task, tails))
            else:
                for k, tail in tails.items():
                    row = completion >= variables.finish[task] + tail
                    model.add(row).only_enforce_if(variables.on[task, k])
