"""Random instances of one family: searches start from them, and their ratios are compared with the worst case."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.generators.dag.generate import generate
from studies.adversary.ratio import NoRatioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance
    from studies.adversary.ratio import RatioOracle
    from studies.adversary.search_space import InstanceSpace


MEAN_SHARE = 4
"""The longest allowed duration over the mean duration of generated instances, so that few durations are cut."""

BYTES_PER_TICK = 1_000
"""Bandwidth to which that of the slowest link is scaled, with all data, so that instances share one range."""

STARTS, COMPARED, CHANGED = range(3)
"""Independent streams of random numbers: starts, random instances for comparison, changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomFamily:
    """A family of small random instances.

    Parameters
    ----------
    gpus
        Cluster, as `parse_cluster` takes it.
    ccr
        Mean transfer delay over mean duration.
    max_duration
        Longest duration in ticks; `InstanceSpace` cuts longer ones. The mean is a quarter of it.
    """

    family: str = "layered"
    tasks: int = 8
    gpus: str = "mixed-3"
    ccr: float = 1.0
    max_duration: int = 20

    def instance(self, seed: int, stream: int, number: int) -> DagInstance:
        """Return one of the instances of a stream, without memory limits; scaling moves no delay by more than a tick.

        Raises as `generate`.
        """
        mean_ticks = max(self.max_duration / MEAN_SHARE, 1.0)
        made = generate(
            self.family,
            tasks=self.tasks,
            seed=int(np.random.SeedSequence([seed, stream, number]).generate_state(1)[0]),
            cluster=parse_cluster(self.gpus),
            cost=CostModel(mean_ticks=mean_ticks, ccr=self.ccr, memory_tightness=0.0),
        )
        factor = BYTES_PER_TICK / float(made.bytes_per_tick[~np.eye(made.num_gpus, dtype=bool)].min(initial=np.inf))
        if factor == 0.0:  # one GPU, no links
            return made
        return replace(
            made,
            edge_bytes=np.rint(made.edge_bytes * factor).astype(np.int64),
            bytes_per_tick=made.bytes_per_tick * factor,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomRatios:
    """Ratios on `count` random instances, in their order; instances without a ratio are left out."""

    ratios: tuple[float, ...]
    count: int

    def to_dict(self) -> dict[str, object]:
        """Return mean, median and largest ratio as JSON values, None where there is no ratio."""
        given = np.array(self.ratios)
        values = {"mean": given.mean(), "median": np.median(given), "largest": given.max()} if len(given) else {}
        statistics = {name: float(values[name]) if values else None for name in ("mean", "median", "largest")}
        return {"count": self.count, "with_ratio": len(given), **statistics}


def random_ratios(
    family: RandomFamily,
    space: InstanceSpace,
    oracle: RatioOracle,
    count: int,
    seed: int,
    on_instance: Callable[[int], None] = lambda number: None,
) -> RandomRatios:
    """Measure random instances of a family, brought inside a space.

    Parameters
    ----------
    seed
        That of the search, whose starts are nevertheless other instances.
    on_instance
        Receives the number of every instance before it is measured.

    Raises
    ------
    InterruptedRunError
        If Ctrl-C was heard.
    """
    ratios = []
    for number in range(count):
        on_instance(number)
        try:
            ratios.append(oracle.ratio(space.bring_inside(family.instance(seed, COMPARED, number))))
        except NoRatioError:
            continue
    return RandomRatios(ratios=tuple(ratios), count=count)
