"""The scheduling model of the authors' public RTGS class: related GPUs, no transfers, no memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import frozen_floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PublishedModel:
    """Tasks with work, GPUs with speed, predecessors; task i takes work[i] / speed[k] on GPU k.

    Tasks are taken in index order, one at a time per GPU, without insertion into idle gaps. Times have the unit of work
    over speed and are no ticks.

    Parameters
    ----------
    work
        Of each task, shape (n,), not negative.
    speed
        Of each GPU, shape (m,), positive.
    predecessors
        Of each task; all have smaller indices (the public class takes that for granted).

    Raises
    ------
    ValueError
        If there is no GPU, a number is out of range, or a predecessor has not a smaller index.

    References
    ----------
    Du et al. (2025), J. Supercomputing 81(8):911, as in the authors' public class.
    """

    work: NDArray[np.float64]
    speed: NDArray[np.float64]
    predecessors: Sequence[Sequence[int]]
    durations: NDArray[np.float64] = field(init=False, repr=False)
    """work[i] / speed[k], shape (n, m)."""

    def __post_init__(self) -> None:
        """Take private copies and check them."""
        object.__setattr__(self, "work", frozen_floats(self.work, place="work", shape=(None,)))
        object.__setattr__(self, "speed", frozen_floats(self.speed, place="speed", shape=(None,)))
        before = tuple(tuple(int(task) for task in tasks) for tasks in self.predecessors)
        object.__setattr__(self, "predecessors", before)
        for task in np.flatnonzero(self.work < 0)[:1]:
            raise ValueError(f"work[{task}]: expected at least 0, got {self.work[task]}.")
        for k in np.flatnonzero(self.speed <= 0)[:1]:
            raise ValueError(f"speed[{k}]: expected a positive number, got {self.speed[k]}.")
        if not len(self.speed):
            raise ValueError("speed: expected at least one GPU, got none.")
        if len(before) != len(self.work):
            raise ValueError(f"predecessors: expected {len(self.work)} lists, one per task, got {len(before)}.")
        for task, tasks in enumerate(before):
            for other in tasks:
                if not 0 <= other < task:
                    raise ValueError(f"predecessors[{task}]: expected tasks before {task}, got {other}.")
        durations = np.divide.outer(self.work, self.speed)
        durations.flags.writeable = False
        object.__setattr__(self, "durations", durations)

    def times(self, gpu: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return start and finish of every task under a placement.

        s[i] = max(max over predecessors h of f[h], avail[x[i]]); f[i] = s[i] + work[i] / speed[x[i]]; avail[x[i]] =
        f[i].

        Parameters
        ----------
        gpu
            GPU x[i] of each task, shape (n,).
        """
        start, finish, available = np.zeros(len(gpu)), np.zeros(len(gpu)), np.zeros(len(self.speed))
        for task, k in enumerate(gpu.tolist()):
            ready = max((finish[other] for other in self.predecessors[task]), default=0.0)
            start[task] = max(ready, available[k])
            finish[task] = available[k] = start[task] + self.durations[task, k]
        return start, finish

    def makespan(self, gpu: NDArray[np.int64]) -> float:
        """Return the largest finish under a placement, the final finish time (FFT) of the authors."""
        return float(self.times(gpu)[1].max(initial=0.0))

    def greedy_placement(self, wish: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the placement that Algorithm C makes of wished loads, shape (n,).

        In index order, task i goes to the GPU k with the least abs(wish[i] - (cur[k] + work[i] / speed[k])), ties to
        the lowest index, where cur[k] is the load of k so far.

        Parameters
        ----------
        wish
            Wished load h of every task, shape (n,).
        """
        gpu, load = np.empty(len(wish), dtype=np.int64), np.zeros(len(self.speed))
        for task, durations in enumerate(self.durations):
            gpu[task] = np.abs(wish[task] - (load + durations)).argmin()
            load[gpu[task]] += durations[gpu[task]]
        return gpu
