"""Start times on a grid of buckets: constraints that every schedule satisfies there, rounded the safe way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TimeGrid:
    """The coarse problem that is left of an instance if a start s is known as its bucket floor(s / width) only.

    For integers q >= 0, s' >= s + q implies floor(s' / b) >= floor(s / b) + floor(q / b). So the buckets of any
    schedule satisfy

        bucket(i) >= bucket(h) + lag[h,i](k,l) for an edge (h,i) with h on k and i on l, lag = floor((p[h,k] + c) / b),
        bucket(i) >= bucket(h) + floor(p[h,k] / b) for two tasks on k that both take time, h before i,

    and start within the windows, rounded down. The coarse problem only loses constraints: its optimum times b is never
    above the optimum of the instance, nor is b times the value of a relaxation of it. A task shorter than a bucket
    occupies nothing. With width 1 nothing is lost. Taking the floor of p + c together is never weaker than taking
    separate floors (docs/bounds.md, section 3.11; ours).

    Parameters
    ----------
    width
        Ticks per bucket b, at least 1.
    first, last
        First and last bucket in which task i may start on GPU k, shape (n, m); last < first where it cannot sit there.
    occupancy
        Buckets that it occupies from its start, shape (n, m); 0 where it cannot sit there.
    lag
        Buckets from the start of the tail to the start of the head of an edge, shape (edges, m, m).
    """

    width: int
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    occupancy: NDArray[np.int64]
    lag: NDArray[np.int64]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Whether task i may sit on GPU k, shape (n, m)."""
        return self.first <= self.last

    @property
    def num_starts(self) -> int:
        """Number of triples (task, GPU, bucket)."""
        return int(np.maximum(self.last - self.first + 1, 0).sum())


def time_grid(
    instance: DagInstance,
    *,
    earliest: NDArray[np.int64],
    latest: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    width: int,
) -> TimeGrid:
    """Round an instance within windows to a grid.

    Parameters
    ----------
    earliest, latest
        First and last start of task i on GPU k in ticks, both included, shape (n, m); ignored where it is not allowed.
    allowed
        Which pairs of task and GPU count, shape (n, m).
    """
    possible = allowed & (earliest <= latest)
    durations = np.maximum(instance.durations, 0)
    num_gpus = instance.num_gpus
    lag = np.empty((instance.num_edges, num_gpus, num_gpus), dtype=np.int64)
    for edge, tail in enumerate(instance.edges[:, 0].tolist()):
        lag[edge] = (durations[tail][:, None] + instance.transfer_delays(edge)) // width
    return TimeGrid(
        width=width,
        first=np.where(possible, earliest, 0) // width,
        last=np.where(possible, latest // width, -1),
        occupancy=np.where(possible, durations // width, 0),
        lag=lag,
    )
