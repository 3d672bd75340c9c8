"""What gossip sends over the wires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.actor_critic.gossip import check_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FLOAT_BYTES = 4
"""Of a number in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GossipTraffic:
    """Messages of one iteration: an edge carries one in each direction per round, once for critics, once for signals.

    Parameters
    ----------
    critic_messages, critic_bytes
        Of critics: all trained weights each.
    signal_messages, signal_bytes
        Of actor signals: one number per step of the actor each.
    """

    critic_messages: int
    critic_bytes: int
    signal_messages: int
    signal_bytes: int

    @property
    def messages(self) -> int:
        """All messages of an iteration."""
        return self.critic_messages + self.signal_messages

    @property
    def bytes(self) -> int:
        """All bytes of an iteration, headers left out."""
        return self.critic_bytes + self.signal_bytes


def gossip_traffic(weights: ArrayLike, rounds: int, *, critic_size: int, signal_size: int) -> GossipTraffic:
    """Count what one iteration sends.

    Parameters
    ----------
    weights
        Doubly stochastic matrix; positive entries off the diagonal are sent.
    rounds
        Of gossip, for critics and signals alike.
    critic_size, signal_size
        Numbers in a message: D m^2 trained weights; M signals.
    """
    matrix = check_weights(weights)
    messages = int(np.count_nonzero(matrix - np.diag(np.diag(matrix)))) * rounds
    return GossipTraffic(
        critic_messages=messages,
        critic_bytes=messages * critic_size * FLOAT_BYTES,
        signal_messages=messages,
        signal_bytes=messages * signal_size * FLOAT_BYTES,
    )
