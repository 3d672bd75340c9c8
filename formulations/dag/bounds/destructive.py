"""B8, destructive improvement: the largest makespan that can be refuted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.path_bound import path_bound
from formulations.dag.bounds.window_load import window_load_lp
from formulations.dag.heads_and_tails import heads_and_tails
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag_instance import DagInstance


def destructive(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return one more than a makespan that heads and tails or the window-load LP refute; 0 for weighted completion.

    A makespan of at most C removes all pairs with head + duration + tail above C, which raises heads and tails of the
    others; C is refuted if a task is left without a GPU, or the window-load LP under the deadline C proves more than C.
    Bisection between the plain window-load bound and the first C that is not refuted. Klein and Scholl (1999) name the
    scheme; this use is our own. Valid with and without contention; where it is given heads and tails know it, and what
    they refute is refuted under its rule.
    """
    if objective is not Objective.MAKESPAN or instance.num_tasks == 0:
        return 0
    around = heads_and_tails(instance, contention=contention)
    if not around.allowed.any(axis=1).all():
        return path_bound(instance, objective, around)
    refuted = path_bound(instance, objective, around) - 1
    refuted = _largest_refuted(refuted, lambda makespan: _paths_refute(instance, makespan, contention))
    refuted = max(refuted, window_load_lp(instance, around, refuted + 1)[0] - 1)
    return _largest_refuted(refuted, lambda makespan: _loads_refute(instance, makespan, contention)) + 1


def _largest_refuted(refuted: int, refutes: Callable[[int], bool]) -> int:
    """Return a makespan that is refuted and whose successor is not, from a refuted one on: doubling, then bisection."""
    step = max(1, refuted // 64)
    while refutes(refuted + step):
        refuted += step
        step *= 2
    not_refuted = refuted + step
    while not_refuted - refuted > 1:
        middle = (refuted + not_refuted) // 2
        if refutes(middle):
            refuted = middle
        else:
            not_refuted = middle
    return refuted


def _paths_refute(instance: DagInstance, makespan: int, contention: Contention) -> bool:
    """Say whether heads and tails prove that no schedule has at most this makespan."""
    around = heads_and_tails(instance, makespan_at_most=makespan, contention=contention)
    return not around.allowed.any(axis=1).all()


def _loads_refute(instance: DagInstance, makespan: int, contention: Contention) -> bool:
    """Say whether the window loads prove it, if heads and tails do not."""
    around = heads_and_tails(instance, makespan_at_most=makespan, contention=contention)
    if not around.allowed.any(axis=1).all():
        return True
    return window_load_lp(instance, around, makespan, deadline=makespan)[0] > makespan
