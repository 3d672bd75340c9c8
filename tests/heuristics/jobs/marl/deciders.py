"""Deciders for tests: at random, the first group, and what always forwards or waits if it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heuristics.jobs.marl.rounds import Decision, Rounds


class RandomSlot:
    """Draws any slot that may be chosen, and looks at the rules while it is at it."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.times: list[int] = []
        self.num_seen = 0

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Remember the tick."""
        self.times.append(time)

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Check what every decision must look like, and draw."""
        self.num_seen += 1
        partitions, agent, mask = rounds.partitions, decision.agent, decision.mask
        own = partitions.servers_of(agent)
        assert mask.sum() >= 2
        assert rounds.owner(decision.job) == agent
        assert mask[:8].sum() == len(decision.groups) <= 8
        for group in decision.groups:
            assert all(own.start <= server < own.stop for server, _ in group.placed)
            assert 1 <= group.speed <= 1000
            assert group.loss >= 0
        if decision.groups and not rounds.running_on[agent]:
            assert not mask[-1]
        if rounds.num_forwards[decision.job] >= rounds.max_forwards:
            assert not mask[8:-1].any()
        return int(self.rng.choice(np.flatnonzero(mask)))


class LastSlot(RandomSlot):
    """Waits if it may, else forwards to the last agent, else takes the last group."""

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Take the last slot."""
        super().decide(rounds, decision)
        return int(np.flatnonzero(decision.mask)[-1])


class FirstSlot(RandomSlot):
    """Takes the first group if there is one, else forwards, else waits."""

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Take the first slot."""
        super().decide(rounds, decision)
        return int(np.flatnonzero(decision.mask)[0])


class Forwarder(RandomSlot):
    """Forwards whenever it may, else draws."""

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Forward to the first agent that may take the job."""
        drawn = super().decide(rounds, decision)
        others = np.flatnonzero(decision.mask[8:-1])
        return 8 + int(others[0]) if len(others) else drawn
