"""The largest makespan that can be refuted without a solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.probing.network import network
from formulations.dag.probing.probe import NO_LIMIT, new_room, probe_all, settle
from formulations.dag.probing.tighten import State, new_state

if TYPE_CHECKING:
    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag_instance import DagInstance


class Refuter:
    """Refutes makespans of one instance: by paths, exclusive GPUs and loads, and by probing.

    Parameters
    ----------
    instance
        At least one task.
    around
        Heads and tails to begin with, of all schedules.

    Attributes
    ----------
    work
        Elementary steps so far, about a nanosecond each; the same on every machine.
    """

    def __init__(self, instance: DagInstance, around: HeadsAndTails) -> None:
        self._network = network(instance)
        self._around = around
        self._work = np.zeros(1, dtype=np.int64)

    @property
    def work(self) -> int:
        """Return the elementary steps so far."""
        return int(self._work[0])

    def refute(
        self,
        makespan: int,
        *,
        known: State | None = None,
        passes: int = 0,
        most_work: int = NO_LIMIT,
    ) -> State | None:
        """Return what is true of every schedule within a makespan, None where there is none.

        Parameters
        ----------
        makespan
            Ticks.
        known
            What is true of every schedule within this or a larger makespan.
        passes
            How often to probe all tasks at most; 0 for no probing.
        most_work
            Stop probing when `work` has reached this.
        """
        start = self._around if known is None else known
        state = new_state(start.heads, start.tails, start.allowed)
        room = new_room(self._network)
        if not state.allowed.any(axis=1).all():
            return None
        for _ in range(passes):
            if settle(self._network, state, makespan, room, self._work):
                return None
            refuted, changed = probe_all(self._network, state, makespan, room, self._work, most_work)
            if refuted:
                return None
            if not changed:
                return state
        return None if settle(self._network, state, makespan, room, self._work) else state

    def climb(self, refuted: int, *, passes: int = 0, most_work: int = NO_LIMIT, horizon: int) -> int:
        """Return a makespan that is refuted: doubling steps, then bisection; at most the horizon.

        Parameters
        ----------
        refuted
            A makespan that is refuted already.
        passes, most_work
            As of `refute`; no further makespan is tried when the work is done.
        horizon
            A makespan that some schedule has, if there is any at all.
        """
        step, known = max(1, refuted // 128), None
        while known is None and refuted < horizon and self.work <= most_work:
            attempt = min(refuted + step, horizon)
            known = self.refute(attempt, passes=passes, most_work=most_work)
            if known is None:
                refuted = attempt
                step *= 2
        if known is None:
            return refuted
        holds = attempt
        while holds - refuted > 1 and self.work <= most_work:
            middle = (refuted + holds) // 2
            state = self.refute(middle, known=known, passes=passes, most_work=most_work)
            if state is None:
                refuted = middle
            else:
                holds, known = middle, state
        return refuted
