"""Writes the multipliers of `placed_paths` as lines that a checker can follow, in integers with few digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.placed_paths import solved_placed_paths
from formulations.dag.heads_and_tails import heads_and_tails
from formulations.time_left import without_limit
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.bounds.placed_paths import PathMultipliers
    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag.instance import DagInstance

DIGITS = (4, 6, 8, 10, 12, 15, 18)
"""Digits behind the point to which multipliers are rounded; prices of bytes are small, and need up to 18."""

TOLERANCE = 1e-7
"""Multipliers of single tasks up to this size come from the tolerance of the solver: many lines that prove nothing."""


def placed_paths_proof(
    instance: DagInstance, *, at_most: int | None = None, seconds_left: Callable[[], float] = without_limit
) -> tuple[int, list[str]] | None:
    """Return a bound on the makespan by `placed_paths` and its lines; None where no program was solved.

    Multipliers are rounded to as few digits as prove the most. The bound is computed in integers as the checker does,
    so that it holds whatever the multipliers are. It may differ from that of `placed_paths` by what rounding costs, and
    by the delays between GPUs of one class, which that program takes as 0 (docs/bounds.md, section 6.1; ours).

    Parameters
    ----------
    at_most
        A bound above this one is written as this one.
    """
    multipliers = solved_placed_paths(instance, Objective.MAKESPAN, seconds_left=seconds_left).multipliers
    if multipliers is None:
        return None
    around = heads_and_tails(instance)
    proofs = (_Proof(instance, around, multipliers, 10**digits, at_most) for digits in DIGITS)
    best = max(proofs, key=lambda proof: proof.bound)
    return best.bound, best.lines()


class _Proof:
    """Multipliers in whole numbers, so many to one tick of the makespan, and the bound that they prove."""

    def __init__(
        self,
        instance: DagInstance,
        around: HeadsAndTails,
        multipliers: PathMultipliers,
        scale: int,
        at_most: int | None,
    ) -> None:
        n, m = around.allowed.shape
        self._instance = instance
        self._release = int(instance.release[instance.job_of_task].min())
        arriving = np.zeros(n)
        np.add.at(arriving, instance.edges[:, 1], multipliers.edge)
        np.subtract.at(arriving, instance.edges[:, 0], multipliers.edge)
        alone = multipliers.end - np.maximum(arriving, 0.0)  # paths that start and end here, up to tolerances
        self._task, self._work, self._memory = (
            _integers(values, scale)
            for values in (np.where(alone > TOLERANCE, alone, 0.0), multipliers.work, multipliers.memory)
        )
        self._edges: list[tuple[int, int, list[int], int]] = []
        cost, flow = np.zeros((n, m), dtype=object), [0] * n
        durations = np.where(around.allowed, instance.durations, 0).astype(object)
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            u = int(float(multipliers.edge[edge]) * scale)
            if u <= 0:
                continue
            share = np.array([int(float(entry) * scale) for entry in multipliers.leaving[edge]], dtype=object)
            share = np.where(around.allowed[tail], share - min(share[around.allowed[tail]]), 0)
            left = instance.transfer_delays(edge).astype(object) * u - share[:, None]
            cost[head] += left[around.allowed[tail]].min(axis=0)
            cost[tail] += durations[tail] * u + share
            flow[tail], flow[head] = flow[tail] - u, flow[head] + u
            self._edges.append((tail, head, share.tolist(), u))
        starts = np.array([both + max(0, -u) for both, u in zip(self._task, flow, strict=True)], dtype=object)
        ends = np.array([both + max(0, u) for both, u in zip(self._task, flow, strict=True)], dtype=object)
        cost += starts[:, None] * np.where(around.allowed, around.heads, 0).astype(object)
        cost += ends[:, None] * (durations + np.where(around.allowed, around.tails, 0).astype(object))
        cost += np.array(self._work, dtype=object) * durations
        cost += np.array(self._memory, dtype=object) * instance.task_memory.astype(object)[:, None]
        value = sum(min(costs[allowed]) for costs, allowed in zip(cost, around.allowed, strict=True))
        value += sum(self._work) * self._release
        value -= sum(y * int(limit) for y, limit in zip(self._memory, instance.gpu_memory, strict=True) if y)
        total = sum(ends) + sum(self._work)
        self.bound = max(0, -(-value // total)) if total else 0
        self.bound = self.bound if at_most is None else min(self.bound, at_most)

    def lines(self) -> list[str]:
        """Return the lines that refute the bound less one, in the checker's words; a bound of 0 needs none."""
        if self.bound == 0:
            return []
        limit = self.bound - 1
        windows = [f"window {k} {self._release} {limit} {u}" for k, u in enumerate(self._work) if u]
        lines = [f"deadline {limit}", *(windows if self._release < limit else [])]
        lines += [f"memory {k} {y}" for k, y in enumerate(self._memory) if y]
        lines += [f"task {i} {u}" for i, u in enumerate(self._task) if u]
        lines += [f"edge {h} {i} {' '.join(map(str, share))} {u}" for h, i, share, u in self._edges]
        return [*lines, "contradiction"]


def _integers(values: NDArray[np.float64], scale: int) -> list[int]:
    """Return values of at least 0 times a scale, rounded down."""
    return [int(float(value) * scale) for value in values]
