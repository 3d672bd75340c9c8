"""The CP-SAT model: built from an instance, with its objective and symmetry breaking, mapped back to a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from formulations.dag.bounds.loads import window_load_lp
from formulations.dag.cp_sat.constraints import (
    add_loads,
    add_memory,
    add_non_overlap,
    add_transfers,
    add_variables,
    add_window_loads,
    add_windows,
)
from formulations.dag.cp_sat.contention import add_contention, hint_contention, lacks_starts
from formulations.dag.interchangeable import Interchangeable, first_use, first_use_order, interchangeable, normal_form
from formulations.dag.left_shift import left_shift
from instances.dag.contention import Contention
from instances.dag.objective import Objective, completion_times, objective_value

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    from formulations.dag.cp_sat.constraints import Variables
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


MAX_PAIRS_FOR_WINDOW_LOADS = 1_000
"""Above this many pairs of task and GPU the window-load rows slow the search more than they help."""


class CpSatModel:
    """The DAG problem in CP-SAT: optional intervals, link-dependent delays by threshold literals, windows as domains.

    Parameters
    ----------
    within
        Windows that are not empty; the model contains only schedules within them.
    should_give_up
        Called now and then while the model is built.
    symmetry
        Whether to keep only one of schedules that differ by swaps of like GPUs, servers or tasks; valid only if the
        windows follow from the instance and nothing else.
    completion_tails
        For weighted completion of a part of a schedule: ticks from the finish of task i on GPU k to the completion of
        job j, shape (n, m, jobs), negative where j does not wait for it. None: each job waits for its own tasks only,
        as the windows say.
    is_proof
        Whether what the solver proves will be claimed; False where it only looks for a better schedule.

    Raises
    ------
    GaveUpError
        If `should_give_up` returned True before the model was complete.
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
        is_proof: bool = True,
    ) -> None:
        from ortools.sat.python import cp_model

        instance.refuse_buffers("this model")
        self.proto_model = cp_model.CpModel()
        self._instance, self._objective = instance, objective
        model = self.proto_model
        self._variables = add_variables(model, instance, within)
        self._last = add_objective(model, instance, objective, self._variables, within, completion_tails)
        add_transfers(model, instance, self._variables, should_give_up)
        self._nics = None
        if Contention(contention) is Contention.NIC:
            self._nics = add_contention(model, instance, self._variables, within, should_give_up)
        add_non_overlap(model, instance, self._variables, within, is_proof=is_proof)
        add_memory(model, instance, self._variables)
        add_windows(model, instance, self._variables, within)
        add_loads(model, instance, self._variables, self._last)
        self._classes = interchangeable(instance) if symmetry else Interchangeable()
        self._used = break_symmetry(model, instance, self._variables, self._classes)
        pairs = len(self._variables.on)
        if Objective(objective) is Objective.MAKESPAN and 0 < pairs <= MAX_PAIRS_FOR_WINDOW_LOADS:
            lp = window_load_lp(instance, within.around, within.at_least)[1]
            add_window_loads(model, lp, self._variables, self._last)

    @property
    def num_literals(self) -> int:
        """Number of Boolean decisions."""
        literals = len(self._variables.on) + sum(len(reached) for reached in self._variables.delay_reached.values())
        literals += len(self._variables.order)
        return literals + (0 if self._nics is None else self._nics.num_literals)

    def hint(self, schedule: DagSchedule) -> None:
        """Hint a complete solution; a schedule outside the windows is ignored."""
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
        for (one, other), literal in variables.order.items():
            model.add_hint(literal, start[one] < start[other])
        for edge, reached in variables.delay_reached.items():
            tail, head = self._instance.edges[edge]
            delay = self._instance.transfer_delay(edge, gpu[tail], gpu[head])
            for threshold, literal in reached:
                model.add_hint(literal, delay >= threshold)
        if self._nics is not None:
            hint_contention(model, self._instance, self._nics, schedule)
        in_order = schedule.gpu[first_use_order(self._instance)]
        for used in self._used:
            model.add_hint(used.literal, first_use(in_order, used.gpus) < used.num_tasks)
        if Objective(self._objective) is Objective.MAKESPAN:
            model.add_hint(variables.completion[0], objective_value(self._instance, schedule, self._objective))
            return
        completion = completion_times(self._instance, schedule)
        for variable, ticks in zip(variables.completion, completion.tolist(), strict=True):
            model.add_hint(variable, ticks)
        model.add_hint(self._last, int(completion.max(initial=0)))

    def schedule(self, value: Callable[[cp_model.IntVar], int]) -> DagSchedule:
        """Map a solution, given as a function from variable to value, back to a schedule."""
        transfer_start = None if self._nics is None else self._nics.transfer_start(self._instance, value)
        return left_shift(self._instance, *self._variables.gpus_and_starts(value), transfer_start)


def add_objective(
    model: cp_model.CpModel,
    instance: DagInstance,
    objective: Objective,
    variables: Variables,
    within: Windows,
    completion_tails: NDArray[np.int64] | None = None,
) -> cp_model.IntVar:
    """Add the completion times, minimise, and return an expression for the last finish of any task."""
    if Objective(objective) is Objective.MAKESPAN:
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
                continue  # the task's own row or the domain says as much
            if len(tails) == len(left):
                model.add(completion >= variables.finish[task] + variables.chosen(task, tails))
            else:
                for k, tail in tails.items():
                    row = completion >= variables.finish[task] + tail
                    model.add(row).only_enforce_if(variables.on[task, k])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UsedSoFar:
    """Literal "one of the first `num_tasks` tasks in the order of first use sits on one of `gpus`"."""

    literal: cp_model.IntVar
    gpus: tuple[int, ...]
    num_tasks: int


def break_symmetry(
    model: cp_model.CpModel, instance: DagInstance, variables: Variables, classes: Interchangeable
) -> list[UsedSoFar]:
    """Use the members of a class in order along one order of the tasks, and start like tasks in order.

    In the order v_1, v_2, ..: member r + 1 takes v_t only if member r takes one of v_1 .. v_(t-1); the literals "member
    r takes one of the first t" keep the rows short. Any schedule can be renamed into this form (`normal_form`); like
    tasks are ordered by their starts only, which renaming GPUs does not change (docs/formulations.md, section 4.3;
    ours). The literals that were added are returned because a complete hint needs them.
    """
    order, added = first_use_order(instance), list[UsedSoFar]()
    groups = [[(k,) for k in gpus] for gpus in classes.gpus] + [list(servers) for servers in classes.servers]
    for group in groups:
        for earlier, later in pairwise(group):
            added += _use_first(model, variables, order, earlier, later)
    for tasks in classes.tasks:
        for one, another in pairwise(tasks):
            model.add(variables.start[one] <= variables.start[another])
    return added


def _use_first(
    model: cp_model.CpModel, variables: Variables, order: list[int], earlier: tuple[int, ...], later: tuple[int, ...]
) -> list[UsedSoFar]:
    """Let a task sit on `later` only if a task before it in the order sits on `earlier`."""
    added = list[UsedSoFar]()
    for number, task in enumerate(order, start=1):
        for k in later:
            if (task, k) in variables.on:
                if added:
                    model.add_implication(variables.on[task, k], added[-1].literal)
                else:
                    model.add(variables.on[task, k] == 0)
        here = [variables.on[task, k] for k in earlier if (task, k) in variables.on]
        if here:
            before = [added[-1].literal] if added else []
            literal = model.new_bool_var(f"used[{earlier[0]},{number}]")
            model.add_bool_or([*here, *before, ~literal])
            for sooner in [*here, *before]:
                model.add_implication(sooner, literal)
            added.append(UsedSoFar(literal=literal, gpus=earlier, num_tasks=number))
    return added
