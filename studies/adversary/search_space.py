"""What an adversary may change, and within which ranges."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag_instance import DagInstance

CHANGES = ("durations", "data", "edges", "links", "memory")
"""What can be changed: a duration, the data of an edge, the edges themselves, a link, the memory of a GPU."""

DEFAULT_CHANGES = ("durations", "data", "edges")
"""What is changed unless said otherwise: the workload, not the cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """Ranges that every instance of a search stays in; without them the worst case of most heuristics is infinite.

    Number of tasks, number of GPUs, forbidden pairs, releases, weights and the memory of tasks never change. Whatever
    the links are, no transfer takes longer than `max_duration` plus `max_latency`.

    Parameters
    ----------
    max_duration
        Durations are 1 to this many ticks.
    max_bytes
        Data of an edge is 0 to this many bytes.
    max_latency
        Latencies are 0 to this many ticks.
    min_bandwidth, max_bandwidth
        Range of bandwidths in bytes per tick.
    changes
        Some of `CHANGES`.

    Raises
    ------
    ValueError
        If a range is empty, or what is to be changed is not known.
    """

    max_duration: int
    max_bytes: int
    max_latency: int
    min_bandwidth: float
    max_bandwidth: float
    changes: tuple[str, ...] = DEFAULT_CHANGES

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, low in (("max_duration", 1), ("max_bytes", 0), ("max_latency", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name}: expected an integer of at least {low}, got {getattr(self, name)}.")
        if not 0 < self.min_bandwidth <= self.max_bandwidth:
            expected = "a range of positive bandwidths"
            raise ValueError(f"min_bandwidth: expected {expected}, got {self.min_bandwidth}..{self.max_bandwidth}.")
        for change in self.changes or ("nothing",):
            if change not in CHANGES or self.changes.count(change) > 1:
                raise ValueError(f"changes: expected some of {', '.join(CHANGES)}, each once, got {change!r}.")

    @classmethod
    def around(
        cls,
        instances: Sequence[DagInstance],
        *,
        max_duration: int | None = None,
        changes: Sequence[str] = DEFAULT_CHANGES,
    ) -> SearchSpace:
        """Return the ranges that fit to instances with equally many GPUs.

        Parameters
        ----------
        instances
            At least one; bandwidths and largest latency are the ranges of links.
        max_duration
            In ticks; default the longest duration. `max_bytes` follows: over the slowest link as many ticks.
        changes
            Some of `CHANGES`.

        Raises
        ------
        ValueError
            As the class.
        """
        longest = max(int(instance.durations.max(initial=1)) for instance in instances)
        longest = max(longest, 1) if max_duration is None else max_duration
        between = ~np.eye(instances[0].num_gpus, dtype=bool)
        bandwidths = np.concatenate([instance.bytes_per_tick[between] for instance in instances])
        bandwidths = bandwidths if len(bandwidths) else np.ones(1)
        slowest = float(bandwidths.min())
        return cls(
            max_duration=longest,
            max_bytes=int(longest * slowest),
            max_latency=max(int(instance.latency[between].max(initial=0)) for instance in instances),
            min_bandwidth=slowest,
            max_bandwidth=float(bandwidths.max()),
            changes=tuple(changes),
        )

    def bring_inside(self, instance: DagInstance) -> DagInstance:
        """Return the instance with every duration, datum and link moved to the nearest value inside its range."""
        durations = np.where(instance.durations < 0, instance.durations, instance.durations.clip(1, self.max_duration))
        return replace(
            instance,
            durations=durations,
            edge_bytes=instance.edge_bytes.clip(0, self.max_bytes),
            latency=instance.latency.clip(0, self.max_latency),
            bytes_per_tick=instance.bytes_per_tick.clip(self.min_bandwidth, self.max_bandwidth),
        )

    def contains(self, instance: DagInstance) -> bool:
        """Say whether an instance is inside all ranges."""
        return self.bring_inside(instance).sha256 == instance.sha256

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {**asdict(self), "changes": list(self.changes)}

    def __str__(self) -> str:
        """Say the ranges in one line."""
        ranges = f"durations 1 to {self.max_duration} ticks, data 0 to {self.max_bytes} bytes"
        links = "" if "links" not in self.changes else f", latencies 0 to {self.max_latency} ticks"
        return f"{ranges}{links}; changed: {', '.join(self.changes)}"
