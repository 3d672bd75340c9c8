"""The rule that networks imitate before they learn by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.observer import Observer
from heuristics.jobs.placements.heavy_edge import HeavyEdge

if TYPE_CHECKING:
    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.network_decider import Watch
    from heuristics.jobs.marl.observation import ObservationSize
    from heuristics.jobs.marl.rounds import Rounds


class Teacher:
    """Queue by predicted duration, first group if any, else wait; section 3.6.3 of the reference.

    Agents are asked by (arrival, number), not by predicted duration. So at the beginning of a round every queue is
    walked by (predicted duration, arrival, number) with Heavy-Edge, the first group, on what is then free; when asked,
    jobs that found a place there take their first group, others wait (ours). Where waiting is not allowed, the first
    group is taken. Nobody forwards.

    Parameters
    ----------
    watch
        Hears of every decision; None for nobody.
    kappa, size
        Of the observations for `watch`, see `Observer`.
    """

    def __init__(self, watch: Watch | None = None, kappa: float = 1.0, size: ObservationSize | None = None) -> None:
        """Keep what is given."""
        self._watch, self._kappa, self._size = watch, kappa, size
        self._observer: Observer | None = None
        self._rule: HeavyEdge | None = None
        self._chosen: set[int] = set()

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Walk the queues."""
        if self._watch is not None:
            if self._observer is None:
                self._observer = Observer(rounds, self._kappa, self._size)
            self._observer.begin_round(time)
        if self._rule is None:
            self._rule = HeavyEdge(rounds.instance)
        self._chosen = set()
        for agent in range(rounds.num_agents):
            self._walk(rounds, agent, self._rule)

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return the first group of a job that found a place, else the last slot, which is to wait."""
        may_wait, has_group = bool(decision.mask[-1]), bool(decision.groups)
        slot = 0 if has_group and (decision.job in self._chosen or not may_wait) else len(decision.mask) - 1
        if self._watch is not None and self._observer is not None:
            self._watch(decision, self._observer.observe(decision), slot)
        return slot

    def _walk(self, rounds: Rounds, agent: int, rule: HeavyEdge) -> None:
        """Find the jobs of a queue that start; where two may share a GPU, those of this round do not (ours)."""
        own = rounds.partitions.servers_of(agent)
        taken = np.zeros(rounds.instance.num_servers, dtype=np.int64)
        for _, _, job in sorted((rounds.predicted_ticks[job], time, job) for time, job in rounds.queues[agent]):
            free = np.zeros_like(taken)
            free[own] = np.maximum(rounds.cluster.free_for(job)[own] - taken[own], 0)
            if free.sum() < rounds.gang_size[job]:
                continue
            placement = rule.place(job, free)
            if placement is not None:
                placement.release(taken)  # adds its replicas
                self._chosen.add(job)
