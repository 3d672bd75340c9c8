"""What agents send each other in a training with gossip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heuristics.jobs.actor_critic.gossip_traffic import FLOAT_BYTES, gossip_traffic
from heuristics.jobs.marl.gossip.global_state import num_state_features
from heuristics.jobs.marl.observation import SUMMARY_FEATURES

if TYPE_CHECKING:
    from heuristics.jobs.actor_critic.gossip_traffic import GossipTraffic
    from heuristics.jobs.marl.gossip.gossip_settings import GossipSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTraffic:
    """Messages of one update; section 6 of the reference.

    Parameters
    ----------
    gossip
        Of critics and signals, in all exchanges.
    summary_messages, summary_bytes
        Of summaries, from each agent to each other one at the beginning of every round.
    """

    gossip: GossipTraffic
    summary_messages: int
    summary_bytes: int


def training_traffic(settings: GossipSettings) -> TrainingTraffic:
    """Count what one update sends, headers left out."""
    agents, deep = settings.num_agents, settings.depth * settings.width**2
    messages = agents * (agents - 1) * (settings.critic_steps + settings.actor_steps)
    return TrainingTraffic(
        gossip=gossip_traffic(
            settings.weights,
            settings.num_gossip_rounds,
            critic_size=deep if settings.critic == "deep" else num_state_features(agents),
            signal_size=settings.actor_steps,
        ),
        summary_messages=messages,
        summary_bytes=messages * SUMMARY_FEATURES * FLOAT_BYTES,
    )
