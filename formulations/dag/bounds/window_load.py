"""B5, window loads: what runs on a GPU between the heads and the tails of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.assignment_lp import AssignmentLp, LoadRow
from formulations.dag.bounds.path_bound import path_bound
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance

MAX_ROUNDS = 30
"""Rounds of separation; every round solves one LP."""

ROWS_PER_ROUND = 6
"""Most violated rows that are added per GPU and round."""


def window_load(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return the bound of the window-load LP, proved by its multipliers; for weighted completion 0 (no such rows here).

    If some task of S = {i : H[i,k] >= a, T[i,k] >= b} runs on k, all of S on k run after a, and b ticks remain after
    the last: a + sum over S of p[i,k] x[i,k] + b <= C. With no task of S on k that would still claim C >= a + b, so
    beyond a proven bound LB the surplus is tied to a task e of S:
    LB + (a + b - LB) x[e,k] + sum over S of p[i,k] x[i,k] <= C.
    Heads and tails are join-aware, and know contention where it is given; the rows hold with and without it. Our own
    derivation; rows are separated in rounds.
    """
    if objective is not Objective.MAKESPAN or instance.num_tasks == 0:
        return 0
    around = heads_and_tails(instance, contention=contention)
    proven = path_bound(instance, objective, around)
    return max(proven, window_load_lp(instance, around, proven)[0]) if around.allowed.any(axis=1).all() else proven


def window_load_lp(
    instance: DagInstance, around: HeadsAndTails, proven: int, *, deadline: int | None = None
) -> tuple[int, AssignmentLp]:
    """Separate window-load rows until the LP violates none, and return the proved bound and the LP with its rows.

    Parameters
    ----------
    instance
        What is scheduled.
    around
        Heads and tails; at least one GPU is left for every task.
    proven
        A proven lower bound on the makespan.
    deadline
        Assume that the makespan is at most this: then no surplus needs to be tied to a task, and a bound above the
        deadline refutes the assumption (it is no bound on the makespan itself).
    """
    lp = AssignmentLp(instance, np.arange(instance.num_tasks), around.allowed)
    heads = around.heads[lp.task_of_pair, lp.gpu_of_pair]
    tails = around.tails[lp.task_of_pair, lp.gpu_of_pair]
    lp.add_area_rows()
    lp.add_task_rows(heads + lp.durations + tails)
    best = 0
    for _ in range(MAX_ROUNDS):
        multipliers, placement, value = lp.solve()
        best = max(best, lp.prove(multipliers))
        if deadline is not None and best > deadline:
            break
        found = [
            row
            for gpu in range(instance.num_gpus)
            for row in _violated(lp, gpu, heads, tails, placement, value, proven, deadline)
        ]
        if not found:
            break
        lp.rows += found
    return best, lp


def _violated(
    lp: AssignmentLp,
    gpu: int,
    heads: NDArray[np.int64],
    tails: NDArray[np.int64],
    placement: NDArray[np.float64],
    value: float,
    proven: int,
    deadline: int | None,
) -> Iterator[LoadRow]:
    """Yield the rows of a GPU that a placement violates most, at most one per head a."""
    pairs = np.flatnonzero((lp.gpu_of_pair == gpu) & (lp.durations > 0))
    if len(pairs) < 2:
        return
    head, at_head = np.unique(heads[pairs], return_inverse=True)
    tail, at_tail = np.unique(tails[pairs], return_inverse=True)
    count, work, most = (np.zeros((len(head), len(tail))) for _ in range(3))
    np.add.at(count, (at_head, at_tail), 1.0)
    np.add.at(work, (at_head, at_tail), lp.durations[pairs] * placement[pairs])
    np.maximum.at(most, (at_head, at_tail), placement[pairs])
    # Over all tasks with at least this head and at least this tail:
    count, work = (array[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1] for array in (count, work))
    most = np.maximum.accumulate(np.maximum.accumulate(most[::-1, ::-1], axis=0), axis=1)[::-1, ::-1]
    around = head[:, None] + tail
    base = around if deadline is not None else np.minimum(around, proven)
    excess = np.where(count >= 2, base + (around - base) * most + work - value, -np.inf)
    window = excess.argmax(axis=1)
    rows = np.argsort(-excess[np.arange(len(head)), window], kind="stable")[:ROWS_PER_ROUND]
    for index in rows.tolist():
        a, b = head[index], tail[window[index]]
        if excess[index, window[index]] <= max(1e-6 * value, 1e-3):
            return
        inside = pairs[(heads[pairs] >= a) & (tails[pairs] >= b)]
        ticks = lp.durations[inside].copy()
        surplus = int(around[index, window[index]] - base[index, window[index]])
        if surplus:
            ticks[placement[inside].argmax()] += surplus
        yield LoadRow(base=int(base[index, window[index]]), pairs=inside, ticks=ticks)
