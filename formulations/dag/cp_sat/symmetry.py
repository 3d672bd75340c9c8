"""Symmetry breaking: of schedules that differ by swaps of like GPUs, servers or tasks only one is kept."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from formulations.dag.interchangeable import first_use_order

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from formulations.dag.cp_sat.variables import Variables
    from formulations.dag.interchangeable import Interchangeable
    from instances.dag_instance import DagInstance


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
    r takes one of the first t" keep the rows short. Right because any schedule can be renamed into this form
    (`normal_form`); like tasks are ordered by their starts only, which renaming GPUs leaves alone. Our own derivation.

    Returns
    -------
    list[UsedSoFar]
        The literals that were added; a complete hint needs them.
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
