"""What chooses among the slots of a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.marl.groups import Group
    from heuristics.jobs.marl.rounds import Rounds


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decision:
    """One decision that an agent has to take.

    Parameters
    ----------
    agent, job
        Who decides on whom.
    time
        Now, in ticks.
    groups
        Candidate placements, at most eight; slot e stands for the e-th.
    mask
        Whether each slot may be chosen, shape (slots,): eight groups, the other agents in order of number, wait. At
        least two may be.
    """

    agent: int
    job: int
    time: int
    groups: list[Group]
    mask: NDArray[np.bool_]


class Decider(Protocol):
    """Takes the decisions of all agents; it may look at the rounds but not at iterations of running jobs."""

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Hear that a round begins: arrivals and completions of the tick are done, nobody has decided."""
        ...

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return a slot that may be chosen."""
        ...
