"""B7, energetic: the largest makespan whose windows of time hold more work than fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.refuted_makespans import refuted_makespans
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective


def energetic(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return one more than a makespan that is refuted by windows of time and the work that must be done inside them.

    For a makespan C every task i on GPU k runs within [H[i,k], C - T[i,k]] (join-aware heads and tails, kept up to date
    with what follows from C, see `tighten`), and does at least ov[i,k](a,b) of its work inside any [a,b]. If

        sum_k x[i,k] = 1,   sum_i ov[i,k](a,b) x[i,k] <= b - a for all k and a < b,   x >= 0

    has no solution, which multipliers show in exact integer arithmetic (`loads_refute`), no schedule has a makespan of
    at most C. The rows are separated in rounds, the linear programs are solved by a small simplex method of our own, so
    no solver is needed and none is trusted. Bisection on C, as in `destructive`, which it rarely falls below.

    The windows are energetic reasoning (Erschler, Lopez and Thuriot 1991; Baptiste, Le Pape and Nuijten 1999); with
    fractions of tasks on unrelated GPUs, and conditional heads and tails, it is our own. Always valid; memory adds
    rows. For weighted completion the bounds of every job's own tasks, summed by weight and rank (`rank_wise`).
    """
    return refuted_makespans(instance, objective, contention, passes=0, most_work=0)
