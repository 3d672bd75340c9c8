"""Instances of other topologies than those of a training, from the same seeds as its held-out set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from heuristics.jobs.marl.training.training_instance import held_out_set
from studies.marl_ablations.ablation import MORE_SERVERS
from studies.marl_ablations.named import named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heuristics.jobs.marl.training.training_settings import TrainingSettings
    from instances.jobs.jobs_instance import JobsInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Servers that networks play on.

    Parameters
    ----------
    name
        Unique.
    changes
        Settings of the instances that differ from those of the default training.
    has_racks
        Whether racks stay as they are; False takes them from the same instances.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    has_racks: bool = True

    def instances(self, base: TrainingSettings, count: int) -> list[JobsInstance]:
        """Return so many instances, which no training saw."""
        made = held_out_set(replace(base, **self.changes), count)
        return made if self.has_racks else [replace(instance, racks=None) for instance in made]


TOPOLOGIES = (
    Topology(name="as trained"),
    Topology(name="no racks", has_racks=False),
    Topology(name="16 servers", changes={"cluster": MORE_SERVERS}),
    Topology(name="two jobs per GPU", changes={"family": "jobs-shared-gpus"}),
)
"""``as trained`` is that of the default training, whatever an ablation was trained on."""


def topologies_named(text: str) -> tuple[Topology, ...]:
    """Return topologies by name, separated by semicolons, in the order of `TOPOLOGIES`; ``all`` for all.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    return TOPOLOGIES if text.strip() == "all" else named(TOPOLOGIES, text, "topologies: expected all or some of")
