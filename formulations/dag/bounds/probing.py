"""Probing: what follows from a makespan and one more assumption at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.refuted_makespans import refuted_makespans
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective

MOST_WORK = 200_000_000
"""Elementary steps of two to five nanoseconds: about half a second on one core, and the same bound on any machine."""

PASSES = 2
"""How often all tasks are probed for one makespan at most."""


def probing(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return one more than a makespan that is refuted by assuming it, and one more thing at a time.

    As `energetic`, and never below it; beyond it every GPU of every task is tried, and an early and a late start of
    every task: choices that are refuted go, and what holds for all choices that are left holds (`probe`). Stops after
    a fixed amount of work. Always valid; for weighted completion the bounds of every job's own tasks, summed by weight
    and rank (`rank_wise`).

    Shaving is due to Martin and Shmoys (1996), constructive disjunction to Van Hentenryck, Saraswat and Deville (1998);
    this use of them, on placements with loads, is our own. Measured on 33 generated instances of 30 to 81 tasks with
    proven optima: 0.988 of the optimum on average in a tenth of a second, where `destructive` has 0.944.
    """
    return refuted_makespans(instance, objective, contention, passes=PASSES, most_work=MOST_WORK)
