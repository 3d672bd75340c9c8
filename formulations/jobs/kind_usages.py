"""How many GPUs of each kind a job may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.jobs.placement_patterns import TooManyPatternsError
from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from collections.abc import Sequence


def kind_usages(
    times: Sequence[Sequence[int]], replicas: Sequence[int], capacity: Sequence[int], *, max_usages: int
) -> list[list[int]]:
    """Return all numbers of GPUs by kind that hold all replicas, each on a kind that its stage may use.

    Parameters
    ----------
    times
        Time of each stage on each kind, -1 where it may not run.
    replicas
        Of each stage.
    capacity
        GPUs of each kind.
    max_usages
        Limit on their number.

    Raises
    ------
    TooManyPatternsError
        If there are more.
    """
    allowed = [[ticks > 0 for ticks in row] for row in times]
    found: list[list[int]] = []
    chosen = [0] * len(capacity)
    tried = 0

    def extend(kind: int, left: int) -> None:
        nonlocal tried
        if kind == len(capacity) - 1:
            if left > capacity[kind]:
                return
            chosen[kind] = left
            tried += 1
            if tried > max_usages:
                raise TooManyPatternsError(f"jobs: expected at most {max_usages} usages of kinds, got more.")
            if replicas_fit(replicas, allowed, chosen):
                found.append(list(chosen))
            return
        for count in range(min(left, capacity[kind]) + 1):
            chosen[kind] = count
            extend(kind + 1, left - count)

    extend(0, sum(replicas))
    return found
