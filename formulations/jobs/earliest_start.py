"""When a job can start beside jobs that are placed already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def earliest_start(
    release: int,
    duration: int,
    usage: NDArray[np.int64],
    capacity: NDArray[np.int64],
    placed: Sequence[tuple[int, int, NDArray[np.int64]]],
) -> int:
    """Return the earliest start in ticks from which a usage fits for a whole duration.

    Parameters
    ----------
    release, duration
        Ticks.
    usage, capacity
        GPUs of each group, shape (groups,); the usage fits where nothing else runs.
    placed
        Start, end and usage of what runs beside.
    """
    candidates = sorted({release, *(end for _, end, _ in placed if end > release)})
    for begin in candidates:
        beside = [other for other in placed if other[0] < begin + duration and other[1] > begin]
        ticks = {begin, *(start for start, _, _ in beside if start > begin)}  # where what is in use rises
        for tick in ticks:
            in_use = usage + sum((held for start, end, held in beside if start <= tick < end), np.zeros_like(usage))
            if (in_use > capacity).any():
                break
        else:
            return begin
    raise ValueError(f"usage: expected one that fits on empty servers, got {usage.tolist()}.")
