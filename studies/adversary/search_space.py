"""What an adversary may change, within which ranges, and how it changes an instance."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.dag.instance import DagInstance


CHANGES = ("durations", "data", "edges", "links", "memory")
"""What can be changed: a duration, the data of an edge, the edges themselves, a link, the memory of a GPU."""

DEFAULT_CHANGES = ("durations", "data", "edges")
"""What is changed by default: the workload, not the cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSpace:
    """Ranges that every instance of a search stays in; without them the worst case of most heuristics is infinite.

    Number of tasks, number of GPUs, forbidden pairs, releases, weights and the memory of tasks never change. Whatever
    the links are, no transfer takes longer than `max_duration` plus `max_latency`.

    Parameters
    ----------
    max_duration, max_bytes, max_latency
        Durations are 1 to `max_duration` ticks, data of an edge 0 to `max_bytes`, latencies 0 to `max_latency` ticks.
    min_bandwidth, max_bandwidth
        Range of bandwidths in bytes per tick.
    changes
        Some of `CHANGES`.

    Raises
    ------
    ValueError
        If a range is empty or a change is unknown.
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
                hint = "" if change in CHANGES else did_you_mean(change, CHANGES)
                raise ValueError(f"changes: expected some of {', '.join(CHANGES)}, each once, got {change!r}{hint}.")

    @classmethod
    def around(
        cls,
        instances: Sequence[DagInstance],
        *,
        max_duration: int | None = None,
        changes: Sequence[str] = DEFAULT_CHANGES,
    ) -> InstanceSpace:
        """Return ranges that fit instances with equally many GPUs.

        Parameters
        ----------
        instances
            At least one; their links give the ranges of bandwidth and latency.
        max_duration
            In ticks; default the longest duration. The slowest link sends `max_bytes` in as many ticks.

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
        instance.refuse_buffers("the adversary")
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


NEARBY = 10
"""Half of the changes of a number move it by at most a tenth of its range, the others anywhere in the range."""


def perturb(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> tuple[DagInstance, str]:
    """Change one thing of an instance, within its space.

    Parameters
    ----------
    instance
        An instance inside the space.

    Returns
    -------
    tuple[DagInstance, str]
        Another instance inside the space, and which of `space.changes` was made; all that are possible have the same
        probability.

    Raises
    ------
    ValueError
        If no change is possible.
    """
    for index in rng.permutation(len(space.changes)):
        change = space.changes[index]
        changed = _CHANGES[change](instance, space, rng)
        if changed is not None:
            return changed, change
    raise ValueError(f"changes: expected some that are possible, got {', '.join(space.changes)}.")


def _durations(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> DagInstance | None:
    """Change the duration of a task on a GPU that may run it."""
    pairs = np.argwhere(instance.durations >= 0)
    if len(pairs) == 0:
        return None
    task, gpu = pairs[rng.integers(len(pairs))]
    ticks = _other_value(int(instance.durations[task, gpu]), 1, space.max_duration, rng)
    if ticks is None:
        return None
    durations = instance.durations.copy()
    durations[task, gpu] = ticks
    return replace(instance, durations=durations)


def _data(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> DagInstance | None:
    """Change the data that flows along an edge."""
    if instance.num_edges == 0:
        return None
    edge = rng.integers(instance.num_edges)
    data = _other_value(int(instance.edge_bytes[edge]), 0, space.max_bytes, rng)
    if data is None:
        return None
    edge_bytes = instance.edge_bytes.copy()
    edge_bytes[edge] = data
    return replace(instance, edge_bytes=edge_bytes)


def _edges(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> DagInstance | None:
    """Add an edge that closes no cycle, or remove an edge."""
    ways = [_with_an_edge, _without_an_edge]
    first = int(rng.integers(2))
    changed = ways[first](instance, space, rng)
    return ways[1 - first](instance, space, rng) if changed is None else changed


def _with_an_edge(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> DagInstance | None:
    """Add an edge between two tasks without one, such that no path leads back."""
    possible = ~path_leads(instance).T
    np.fill_diagonal(possible, False)
    possible[instance.edges[:, 0], instance.edges[:, 1]] = False
    pairs = np.argwhere(possible)
    if len(pairs) == 0:
        return None
    pair = pairs[rng.integers(len(pairs))]
    data = rng.integers(space.max_bytes, endpoint=True)
    return replace(instance, edges=np.vstack([instance.edges, pair]), edge_bytes=np.append(instance.edge_bytes, data))


def _without_an_edge(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> DagInstance | None:
    """Remove an edge."""
    if instance.num_edges == 0:
        return None
    edge = int(rng.integers(instance.num_edges))
    return replace(
        instance, edges=np.delete(instance.edges, edge, axis=0), edge_bytes=np.delete(instance.edge_bytes, edge)
    )


def _links(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> DagInstance | None:
    """Change latency or bandwidth between two GPUs, in both directions alike."""
    if instance.num_gpus < 2:
        return None
    source, target = rng.choice(instance.num_gpus, size=2, replace=False)
    wants_latency = space.max_latency > 0 and (space.min_bandwidth == space.max_bandwidth or rng.random() < 0.5)
    if wants_latency:
        latency = instance.latency.copy()
        ticks = _other_value(int(latency[source, target]), 0, space.max_latency, rng)
        assert ticks is not None  # there is more than one
        latency[source, target] = latency[target, source] = ticks
        return replace(instance, latency=latency)
    if space.min_bandwidth == space.max_bandwidth:
        return None
    bandwidth = instance.bytes_per_tick.copy()
    drawn = np.exp(rng.uniform(np.log(space.min_bandwidth), np.log(space.max_bandwidth)))
    speed = float(np.clip(drawn, space.min_bandwidth, space.max_bandwidth))
    bandwidth[source, target] = bandwidth[target, source] = speed
    return replace(instance, bytes_per_tick=bandwidth)


def _memory(instance: DagInstance, space: InstanceSpace, rng: np.random.Generator) -> DagInstance | None:
    """Change or set the memory of a GPU, to at least the largest task and at most all tasks together."""
    needed, largest = int(instance.task_memory.sum()), int(instance.task_memory.max(initial=0))
    gpu = int(rng.integers(instance.num_gpus))
    others = np.delete(instance.gpu_memory, gpu)
    low = largest if (others < 0).any() else max(largest, needed - int(others.sum()))
    memory = _other_value(int(instance.gpu_memory[gpu]), low, needed, rng)
    if memory is None:
        return None
    gpu_memory = instance.gpu_memory.copy()
    gpu_memory[gpu] = memory
    return replace(instance, gpu_memory=gpu_memory)


_CHANGES: dict[str, Callable[[DagInstance, InstanceSpace, np.random.Generator], DagInstance | None]] = {
    "durations": _durations,
    "data": _data,
    "edges": _edges,
    "links": _links,
    "memory": _memory,
}


def _other_value(value: int, low: int, high: int, rng: np.random.Generator) -> int | None:
    """Return another integer of a range, near the value or anywhere; None if there is no other integer."""
    near = rng.random() < 0.5 and low <= value <= high
    if near:
        reach = max((high - low) // NEARBY, 1)
        low, high = max(low, value - reach), min(high, value + reach)
    if not low <= value <= high:
        return int(rng.integers(low, high, endpoint=True)) if low <= high else None
    if low == high:
        return None
    drawn = int(rng.integers(low, high))
    return drawn + (drawn >= value)


def path_leads(instance: DagInstance) -> np.ndarray:
    """Return whether a path leads from one task to another, shape (n, n), bool; from a task to itself it does not."""
    leads = np.zeros((instance.num_tasks, instance.num_tasks), dtype=bool)
    tails, heads = instance.edges[:, 0], instance.edges[:, 1]
    for task in instance.topological_order[::-1]:
        for successor in heads[tails == task]:
            leads[task] |= leads[successor]
            leads[task, successor] = True
    return leads
