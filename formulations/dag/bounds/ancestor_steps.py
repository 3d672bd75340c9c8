"""Heads and tails of single tasks from all tasks before and after them, no stronger than a checker computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails, join_aware_distances
from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.join import INFINITE, earliest_start
from formulations.time_left import without_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.ancestor_balls import Distances
    from formulations.dag.probing.network import Network
    from formulations.dag.probing.tighten import State
    from instances.dag.instance import DagInstance


MOST_MADE = 8
"""Distances that are remembered, for so many sets of GPUs."""

MOST_KEPT = 1_000_000
"""Above this many distances they are not computed again for the GPUs that are left."""


class AncestorSteps:
    """The tasks whose heads or tails all ancestors and descendants raise under a makespan, and how far.

    A step has the rule of join-aware heads (docs/bounds.md, section 2.3) with all ancestors instead of predecessors,
    and for the delay of an ancestor's edge the time between its end and the start of the task by join-aware tails among
    the task's ancestors. It is weaker than `far_heads_and_tails`, whose distances and whose machine with tails would
    make the checker long (ours; section 6.1).
    """

    def __init__(
        self, instance: DagInstance, net: Network, makespan: int, seconds_left: Callable[[], float] = without_limit
    ) -> None:
        near = heads_and_tails(instance, makespan_at_most=makespan)
        far = far_heads_and_tails(instance, makespan_at_most=makespan, seconds_left=seconds_left)
        raised = ((far.heads > near.heads) | (far.tails > near.tails)) & near.allowed
        self._instance, self._net, self._seconds_left = instance, net, seconds_left
        self._made: dict[bytes, tuple[Distances, Distances] | None] = {}
        self._distances = self._of(instance.allowed) if raised.any() else None
        self._raised = set() if self._distances is None else set(np.flatnonzero(raised.any(axis=1)).tolist())

    def begin(self, allowed: NDArray[np.bool_]) -> None:
        """Compute distances for the GPUs that are left, if that is quick; they hold as long as no other one is."""
        is_quick = (allowed == self._instance.allowed).all() or allowed.size**2 <= MOST_KEPT
        if self._raised and is_quick:
            self._distances = self._of(allowed) or self._of(self._instance.allowed)

    def _of(self, allowed: NDArray[np.bool_]) -> tuple[Distances, Distances] | None:
        key = allowed.tobytes()
        if key not in self._made:
            self._made[key] = join_aware_distances(self._instance, allowed, seconds_left=self._seconds_left)
            if len(self._made) > MOST_MADE:
                del self._made[list(self._made)[1]]  # not the first, of all GPUs
        return self._made[key]

    @property
    def tasks(self) -> list[int]:
        """All tasks for which a step may tell something, in an order in which every task is behind its ancestors."""
        return [task for task in self._net.before.order.tolist() if task in self._raised]

    def row(self, task: int, state: State, *, is_tail: bool) -> NDArray[np.int64]:
        """Return the head of a task on every GPU, or its tail, shape (m,); it is never below the one known."""
        assert self._distances is not None
        ticks, task_place, other_place = self._distances[is_tail]
        known, allowed, net = state.tails if is_tail else state.heads, state.allowed, self._net
        row: NDArray[np.int64] = known[task].copy()
        others = np.flatnonzero((ticks[task] >= 0).any(axis=(1, 2)))
        apart = ticks[task, others][:, task_place.T, other_place.T]  # other task, l, k; between starts
        sooner = net.durations[task] if is_tail else net.durations[others][:, :, None]
        apart = np.where(apart < 0, INFINITE, apart - sooner)
        ends = np.where(allowed[others], known[others] + net.durations[others], INFINITE)
        arrival = ends[:, :, None] + apart
        arrival[:, np.arange(len(row)), np.arange(len(row))] = INFINITE
        remote = np.minimum(arrival.min(axis=1, initial=INFINITE), INFINITE)
        for k in np.flatnonzero(allowed[task]).tolist():
            late = np.flatnonzero(remote[:, k] > row[k])
            here = others[late]
            local = np.where(allowed[here, k], known[here, k], INFINITE)
            free = int(net.capacity[k]) - int(net.memory[task])
            start = earliest_start(
                len(here), remote[late, k], local, net.durations[here, k], net.memory[here], min(free, INFINITE)
            )
            row[k] = min(max(int(row[k]), int(start)), INFINITE)
        return row
