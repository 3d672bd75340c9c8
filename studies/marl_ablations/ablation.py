"""What is taken away from, or changed in, the training of the multi-agent policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from studies.marl_ablations.named import named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heuristics.jobs.marl.training.training_settings import TrainingSettings

MORE_SERVERS = "4*4xA100-40GB,4*4xV100-32GB,4*4xT4,4*4xP100"
"""As many GPUs as the default cluster on twice as many servers: there racks of two can be shared out to 8 agents."""

DEFAULT = "default"
"""Name of the training without any change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """One change.

    Parameters
    ----------
    name
        Unique.
    changes
        Settings that differ from those of the default.
    rival
        Name of the ablation that it is held against: one on the same instances.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    rival: str = DEFAULT

    @property
    def stem(self) -> str:
        """Name of its files."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    def settings(self, base: TrainingSettings) -> TrainingSettings:
        """Return the settings of its trainings.

        Raises
        ------
        ValueError
            If the change cannot be made to these settings.
        """
        return replace(base, **self.changes)


def _agents(count: int) -> Ablation:
    """Return a training with so many agents on the servers that 8 can share."""
    return Ablation(name=f"A = {count}", changes={"num_agents": count, "cluster": MORE_SERVERS}, rival="A = 4")


ABLATIONS = (
    Ablation(name=DEFAULT),
    Ablation(name="inner graph only", changes={"variant": "inner"}),
    Ablation(name="flat", changes={"variant": "flat"}),
    Ablation(name="true speeds", changes={"speeds": "true"}),
    Ablation(name="no interference", changes={"speeds": "none"}),
    Ablation(name="no forwards", changes={"max_forwards": 0}),
    Ablation(name="no offers", changes={"offers": False}),
    Ablation(name="DL2 reward", changes={"reward": "dl2"}),
    Ablation(name="one pass", changes={"passes": 1}),
    Ablation(name="no common instances", changes={"same_instance": 1}),
    Ablation(name="imitation only", changes={"updates": 0}),
    _agents(1),
    _agents(2),
    _agents(4),
    _agents(8),
    Ablation(name="shared GPUs", changes={"family": "jobs-shared-gpus"}, rival="shared GPUs"),
)
"""Section 3.6 of the reference: graphs; predicted, true or no interference in training; forwards off; reward; imitation
only; agents on the same servers; and another topology to train on. Their settings are ours, and so are those without
what the training has beyond the reference: offers, several passes, several episodes of one instance."""


def ablations_named(text: str) -> tuple[Ablation, ...]:
    """Return ablations by name, separated by semicolons, in the order of `ABLATIONS`.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    return named(ABLATIONS, text, "only: expected some of")
