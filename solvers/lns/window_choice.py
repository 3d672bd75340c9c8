"""Which stretch of the schedule CP-SAT repairs next, and where its tasks may go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from solvers.lns.window_repair import Repair

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance

FIRST, SMALLEST, LARGEST = 30, 12, 150
"""Tasks in a window: in the first one, and in any later one."""


@dataclass(slots=True, kw_only=True)
class _Kind:
    """A kind of window: to how many other GPUs each task may go, None for all; its size as it is learned."""

    most_gpus: int | None
    size: float
    starts: list[int] = field(default_factory=list)
    """First positions that are still to come in this round."""


class WindowChoice:
    """Slides windows over a schedule in random order, of sizes that CP-SAT can just decide.

    Two kinds in turn: short ones in which tasks may go to all GPUs, and longer ones in which each may go to the three
    most promising ones only. On many GPUs the second kind wins more for its time (measured by us: 14 against 9 ticks
    of 6,127 in 6 s).

    Parameters
    ----------
    instance
        What is scheduled.
    rng
        Source of positions.
    """

    def __init__(self, instance: DagInstance, rng: np.random.Generator) -> None:
        self._num_tasks, self._rng = instance.num_tasks, rng
        self._kinds = [_Kind(most_gpus=None, size=FIRST)]
        if instance.num_gpus > 4:
            self._kinds.append(_Kind(most_gpus=3, size=1.5 * FIRST))
        self._turn = 0

    @property
    def covers_everything(self) -> bool:
        """Whether the next window is the whole schedule on all GPUs."""
        kind = self._kinds[self._turn]
        return kind.most_gpus is None and round(kind.size) >= self._num_tasks

    def next(self) -> tuple[int, int, int | None]:
        """Return first position, the one after the last, and to how many other GPUs tasks may go, None for all."""
        kind = self._kinds[self._turn]
        size = min(round(kind.size), self._num_tasks)
        if not kind.starts:
            step = max(size // 2, 1)
            starts = np.arange(int(self._rng.integers(step)) - step, self._num_tasks, step)
            kind.starts = self._rng.permutation(np.unique(starts.clip(0, self._num_tasks - size))).tolist()
        first = min(kind.starts.pop(), self._num_tasks - size)
        return first, first + size, kind.most_gpus

    def learn(self, ended: Repair) -> None:
        """Let the window that was tried last shrink or grow, and take the other kind next."""
        kind = self._kinds[self._turn]
        kind.size = min(max(kind.size * (0.85 if ended is Repair.GAVE_UP else 1.08), SMALLEST), LARGEST)
        self._turn = (self._turn + 1) % len(self._kinds)
