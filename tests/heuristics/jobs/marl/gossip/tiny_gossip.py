"""A training with gossip that takes seconds, for tests."""

from __future__ import annotations

from typing import Any

from heuristics.jobs.marl.gossip.settings import GossipSettings


def tiny_gossip(**changes: Any) -> GossipSettings:
    """Return settings with few jobs, no graphs and small critics."""
    given = {
        "jobs": 16,
        "num_agents": 4,
        "variant": "flat",
        "speeds": "true",
        "updates": 2,
        "imitation_episodes": 0,
        "imitation_epochs": 2,
        "validation_instances": 2,
        "validate_every": 1,
        "chunk": 64,
        "actor_chunk": 4,
        "learning_rate": 0.01,
        "critic_steps": 6,
        "actor_steps": 8,
        "width": 8,
        "depth": 2,
    }
    return GossipSettings(**{**given, **changes})
