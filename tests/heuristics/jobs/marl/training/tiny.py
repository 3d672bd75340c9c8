"""A training that takes seconds, for tests."""

from __future__ import annotations

from typing import Any

from heuristics.jobs.marl.training.settings import TrainingSettings


def tiny(**changes: Any) -> TrainingSettings:
    """Return settings with few jobs and no graphs."""
    given = {
        "jobs": 16,
        "num_agents": 2,
        "variant": "flat",
        "speeds": "true",
        "updates": 2,
        "episodes": 2,
        "same_instance": 2,
        "imitation_episodes": 2,
        "imitation_epochs": 2,
        "validation_instances": 2,
        "validate_every": 1,
        "chunk": 64,
    }
    return TrainingSettings(**{**given, **changes})
