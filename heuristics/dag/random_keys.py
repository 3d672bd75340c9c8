"""Random keys: points of a unit cube that the list scheduler turns into schedules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import DagArrays, dag_arrays
from heuristics.dag.list_scheduler import DIRECT, EARLIEST, RANKED, evaluate_keys, list_schedule, schedule_of
from heuristics.dag.load_keys import LoadKeys
from heuristics.dag.nics import Nics, new_nics
from heuristics.dag.placement_order import placement_order
from heuristics.dag.ranks import upward_ranks
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule

DECODINGS = ("ranked", "eft", "direct", "load")
"""The decodings by name."""

_RULES = {"ranked": RANKED, "eft": EARLIEST, "direct": DIRECT}


@dataclass(frozen=True, slots=True, eq=False)
class RandomKeys:
    """The decoder of one instance; our own design.

    The first n keys are priorities: among the ready tasks the highest key goes first, ties by index, so that every
    point gives a schedule that keeps the precedences. The other n keys choose GPUs (absent with decoding "eft").

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    decoding
        "ranked": position min(c - 1, floor(c u^2)) among the c GPUs that fit, sorted by earliest finish; "eft": always
        the first of them; "direct": position min(c - 1, floor(c u)) among the GPUs that fit the task by itself, but
        earliest finish where that one is full; "load": n keys that are wished loads, no priorities, see `LoadKeys`.
    contention
        What transfers share; as in `heft`. Under contention one decoder is not for two threads at once: its
        interfaces are booked anew for every point.

    Raises
    ------
    ValueError
        If the decoding is unknown, or "load" under contention.
    """

    instance: DagInstance
    objective: Objective
    decoding: str = "ranked"
    contention: Contention = Contention.NONE
    _nics: Nics | None = field(init=False, repr=False)
    _loads: LoadKeys | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the decoding."""
        if self.decoding not in DECODINGS:
            raise ValueError(f"decoding: expected one of {', '.join(DECODINGS)}, got {self.decoding!r}.")
        nics = new_nics(self.instance, self.contention)
        by_load = self.decoding == "load"
        if by_load and nics is not None:
            raise ValueError(f"decoding: expected one of {', '.join(_RULES)} under contention, got 'load'.")
        object.__setattr__(self, "_nics", nics)
        object.__setattr__(self, "_loads", LoadKeys(self.instance, self.objective) if by_load else None)

    @property
    def num_keys(self) -> int:
        """Number of keys of a point."""
        return self.instance.num_tasks * (1 if self.decoding in ("eft", "load") else 2)

    def evaluate(self, keys: NDArray[np.float64]) -> tuple[int, int]:
        """Return the fitness of a point: (overflow bytes, objective)."""
        overflow, objective = self.evaluate_many(keys[None, :])[0].tolist()
        return overflow, objective

    def evaluate_many(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the fitness of points, (overflow bytes, objective), shape (count, 2), in one call of the kernel.

        Parameters
        ----------
        points
            Keys in [0, 1], shape (count, `num_keys`).
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        if self._loads is not None:
            return self._loads.evaluate_many(points)
        weighted = self.objective is Objective.WEIGHTED_COMPLETION
        fitness: NDArray[np.int64] = evaluate_keys(
            self._arrays, points, _RULES[self.decoding], True, weighted, self._nics
        )
        return fitness

    def schedule(self, keys: NDArray[np.float64]) -> DagSchedule | None:
        """Return the schedule of a point, None where it exceeds a memory limit."""
        if self._loads is not None:
            return self._loads.schedule(keys)
        n = self.instance.num_tasks
        rule, nics = _RULES[self.decoding], self._nics
        placement = list_schedule(self._arrays, keys[:n], rule=rule, gpu_keys=keys[n:], nics=nics)
        return schedule_of(self.instance, placement, nics)

    def sample(self, rng: np.random.Generator, count: int, *, heft_seed: bool) -> NDArray[np.float64]:
        """Return uniform points, shape (count, `num_keys`); the first is HEFT's where the search is seeded with it."""
        points = rng.random((count - heft_seed, self.num_keys))
        return np.concatenate([self.heft_keys()[None, :], points]) if heft_seed else points

    def heft_keys(self) -> NDArray[np.float64]:
        """Return a point that decodes to exactly HEFT's schedule."""
        if self._loads is not None:
            return self._loads.heft_keys.copy()
        arrays, n = self._arrays, self.instance.num_tasks
        rank = upward_ranks(arrays)
        keys = np.zeros(self.num_keys)
        for position, task in enumerate(placement_order(arrays, rank)):
            keys[task] = 1.0 - (position + 0.5) / n
        if self.decoding == "direct":
            placement = list_schedule(arrays, nics=self._nics)
            for task in range(n):
                allowed = np.flatnonzero(arrays.allowed[task])
                keys[n + task] = (np.searchsorted(allowed, placement.gpu[task]) + 0.5) / len(allowed)
        return keys

    @property
    def _arrays(self) -> DagArrays:
        """The instance as the kernels want it."""
        return dag_arrays(self.instance)
